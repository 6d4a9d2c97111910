"""Soles and palms from collision shapes: the flat part of a body that it can stand on, as a Surface."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from wholebody.errors import BadRobot
from wholebody.robots.formats import meshes
from wholebody.robots.robot import Array, Placement, Shape, Surface
from wholebody.robots.tree import Tree

TILTED = math.radians(40.0)
"""How far a sole may be turned from level while the joints are at zero."""
THIN = 0.02
"""Of the sole's size: points that are so far above it still touch the ground."""
FLAT = 0.25
"""Of the rectangle about a foot seen from below: how much of it a flat sole covers."""
CLEARLY = 1.05
"""How much larger another part has to be to be preferred to one that is level, or along an axis."""
MOST_CORNERS = 12
FINGER_TIP = 1e-4
"""m²: a sole of less is a point."""


@dataclass(frozen=True)
class Sole:
    """A flat part: where it is in its link (z into it, x ahead), its corners, and what was found on the way."""

    link: str
    at: Placement
    outline: tuple[tuple[float, float], ...]
    area: float  # m²
    covers: float  # of the rectangle about the foot, seen from below
    tilt: float  # rad, while the joints are at zero
    shapes: str  # what they are
    collides: bool

    def surface(self, name: str) -> Surface:
        """As a surface of the robot."""
        return Surface(name, self.link, self.at, self.outline)

    @property
    def size(self) -> tuple[float, float]:
        """Length and width of the rectangle about it."""
        length, width = np.ptp(np.array(self.outline), axis=0)
        return float(length), float(width)


def cloud(tree: Tree, body: str, collides: bool | None = None) -> tuple[Array, Array]:
    """Points that span a body's shapes in the root's frame, and the radius of the ball about each.

    By default of the shapes that collide, or of all, if none does.
    """
    shapes = _shapes(tree, body)
    if collides is None:
        collides = any(shape.collides for shape, _ in shapes)
    found = [_balls(shape, frame) for shape, frame in shapes if shape.collides or not collides]
    points = [each[0] for each in found] or [np.empty((0, 3))]
    return np.vstack(points), np.concatenate([each[1] for each in found] or [np.empty(0)])


def find_sole(tree: Tree, body: str, ahead: Array, up: Array) -> Sole | None:
    """The flat part of a body that faces down while the joints are at zero; None if it has no shape, or a point."""
    points, radii = cloud(tree, body)
    if not len(points):
        return None
    best, *others = (_flat(points, radii, down, up) for down in _candidates(tree, body, points, radii, up))
    for other in others:
        if other.area > CLEARLY * best.area:
            best = other
    down, touching = best.down, best.points
    if best.area < FINGER_TIP:
        return None
    x = ahead + (ahead @ down) * -down
    x = x / np.linalg.norm(x)
    axes = np.column_stack([x, np.cross(-down, x), -down])
    corners = hull(touching @ axes[:, :2])
    middle = (corners.min(axis=0) + corners.max(axis=0)) / 2
    frame = np.eye(4)
    frame[:3, :3] = axes
    frame[:3, 3] = axes[:, :2] @ middle + down * float((points @ down + radii).max())
    shapes = _shapes(tree, body)
    solid = any(shape.collides for shape, _ in shapes)
    kinds = sorted({shape.kind for shape, _ in shapes if shape.collides or not solid})
    outline = tuple((_rounded(x), _rounded(y)) for x, y in _fewer(corners - middle))
    tilt = math.acos(min(1.0, float(-down @ up)))
    return Sole(body, _place(tree, body, frame), outline, best.area, best.covers, tilt, " and ".join(kinds), solid)


def find_palm(tree: Tree, body: str, inward: Array, along: Array) -> Sole | None:
    """The inside of a hand: the face of the box about it that looks inward; `along` the fingers."""
    points, radii = cloud(tree, body)
    if not len(points):
        return None
    axes = np.column_stack([along, np.cross(-inward, along), -inward])  # x along the fingers, z into the hand
    spans = points @ axes
    low, high = (spans - radii[:, None]).min(axis=0), (spans + radii[:, None]).max(axis=0)
    frame = np.eye(4)
    frame[:3, :3] = axes
    frame[:3, 3] = axes @ np.array([*(low + high)[:2] / 2, low[2]])
    x, y = (_rounded(each / 4) for each in (high - low)[:2])  # the middle half of it
    outline = ((x, y), (-x, y), (-x, -y), (x, -y))
    return Sole(body, _place(tree, body, frame), outline, 4 * x * y, 0.25, 0.0, "box about its shapes", True)


def _place(tree: Tree, body: str, frame: Array) -> Placement:
    """A frame of the root, as it stands in a body; to a micrometre, which is more than shapes are worth."""
    at = Placement.of(np.linalg.inv(tree.where[body]) @ frame)
    x, y, z, roll, pitch, yaw = map(_rounded, (*at.xyz, *at.rpy))
    return Placement((x, y, z), (roll, pitch, yaw))


def _rounded(value: float) -> float:
    return float(round(value, 6)) + 0.0


# --- points ----------------------------------------------------------------------------------------


def _shapes(tree: Tree, body: str) -> list[tuple[Shape, Array]]:
    """The shapes of a body, each with its frame in the root's; meshes that cannot be read are left out."""
    return [
        (shape, tree.where[name] @ shape.at.matrix)
        for name in tree.links_of(body)
        for shape in tree.robot.link(name).shapes
        if shape.kind != "mesh" or _mesh_points(shape) is not None
    ]


_READ: dict[tuple[str, tuple[float, ...]], Array | None] = {}


def _mesh_points(shape: Shape) -> Array | None:
    """The points of a mesh, scaled; None if it cannot be read."""
    key = str(shape.mesh), shape.size
    if key not in _READ:
        try:
            found = None if shape.mesh is None else np.unique(meshes.points(shape.mesh).round(5), axis=0)
            _READ[key] = None if found is None else found * shape.size
        except (BadRobot, OSError):
            _READ[key] = None
    return _READ[key]


def _balls(shape: Shape, frame: Array) -> tuple[Array, Array]:
    """Points whose balls, and all between them, are the shape."""
    size, radius = shape.size, 0.0
    match shape.kind:
        case "box":
            points = np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * size
        case "sphere":
            points, radius = np.zeros((1, 3)), size[0]
        case "capsule":
            points, radius = np.array([[0, 0, -size[1] / 2], [0, 0, size[1] / 2]]), size[0]
        case "cylinder":
            round_ = [(size[0] * np.cos(a), size[0] * np.sin(a)) for a in np.linspace(0, 2 * np.pi, 24, endpoint=False)]
            points = np.array([(x, y, end * size[1] / 2) for x, y in round_ for end in (-1, 1)])
        case _:
            found = _mesh_points(shape)
            points = np.empty((0, 3)) if found is None else found
    return points @ frame[:3, :3].T + frame[:3, 3], np.full(len(points), radius)


# --- the flat part ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Flat:
    down: Array
    points: Array  # that touch the ground
    area: float
    covers: float


def _candidates(tree: Tree, body: str, points: Array, radii: Array, up: Array) -> list[Array]:
    """Directions that may be down for a standing foot: the robot's, axes of its links and shapes, fitted planes."""
    frames = [tree.where[name][:3, :3] for name in tree.links_of(body)]
    frames += [frame[:3, :3] for _, frame in _shapes(tree, body)]
    found = [-up]
    for direction in np.vstack([np.vstack([frame.T, -frame.T]) for frame in frames]):
        if direction @ -up > math.cos(TILTED) and all(direction @ other < 1 - 1e-9 for other in found):
            found.append(direction)
    down = -up
    for _ in range(4):
        down = _fitted(points, radii, down)
        if down @ -up < math.cos(TILTED):
            break
        found.append(down)
    return found


def _touching(points: Array, radii: Array, down: Array) -> Array:
    depth = points @ down + radii
    size = float(np.linalg.norm(np.ptp(points - np.outer(points @ down, down), axis=0) + 2 * radii.max()))
    near = depth > depth.max() - max(THIN * size, 1e-4)
    return np.asarray(points[near] + radii[near, None] * down)


def _fitted(points: Array, radii: Array, down: Array) -> Array:
    """The direction across the plane through the points that touch."""
    touching = _touching(points, radii, down)
    if len(touching) < 3:
        return down
    _, spread, directions = np.linalg.svd(touching - touching.mean(axis=0), full_matrices=False)
    if len(spread) < 3 or spread[1] < 0.05 * spread[0]:
        return down
    normal = directions[2]
    return np.asarray(normal * (1.0 if normal @ down > 0 else -1.0))


def _flat(points: Array, radii: Array, down: Array, up: Array) -> _Flat:
    """What of a body touches level ground that lies so; a little less good the more it is turned."""
    touching = _touching(points, radii, down)
    axes = np.linalg.svd(down[None])[2][1:]
    area, around = polygon_area(hull(touching @ axes.T)), np.ptp(points @ axes.T, axis=0) + 2 * radii.max()
    return _Flat(down, touching, area * float(-down @ up), area / max(float(around[0] * around[1]), 1e-12))


def hull(points: Array) -> Array:
    """The corners of the convex polygon about points (k × 2), counter-clockwise."""
    ordered = sorted({(round(float(x), 9), round(float(y), 9)) for x, y in points})
    if len(ordered) < 3:
        return np.array(ordered).reshape(-1, 2)
    halves = []
    for line in (ordered, ordered[::-1]):
        half: list[tuple[float, float]] = []
        for point in line:
            while len(half) > 1 and _turn(half[-2], half[-1], point) <= 1e-12:
                half.pop()
            half.append(point)
        halves += half[:-1]
    return np.array(halves)


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def polygon_area(corners: Array) -> float:
    """In m²; 0 of fewer than three corners."""
    if len(corners) < 3:
        return 0.0
    x, y = corners.T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)


def _fewer(corners: Array) -> Array:
    """The polygon with few corners, from the one ahead on the left: those go that matter least."""
    nothing = 1e-4 * polygon_area(corners)
    while len(corners) > 3:
        around = zip(np.roll(corners, 1, axis=0), corners, np.roll(corners, -1, axis=0), strict=True)
        turns = [abs(_turn(a, b, c)) for a, b, c in around]
        least = int(np.argmin(turns))
        if len(corners) <= MOST_CORNERS and turns[least] > nothing:
            break
        corners = np.delete(corners, least, axis=0)
    return np.roll(corners, -int(corners.sum(axis=1).round(6).argmax()), axis=0)
