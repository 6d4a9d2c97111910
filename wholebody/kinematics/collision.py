"""Self-collision: which links of the robot touch each other in a posture.

collisions = Collisions(robot)
collisions.check(snapshot)             # [Touch('Body_LAR', 'Body_RAR', distance=-0.003)]
collisions.distance(snapshot)          # the pair that is nearest
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any, NamedTuple

import coal
import numpy as np
import numpy.typing as npt
import pinocchio as pin  # type: ignore[import-untyped]

from wholebody import _kernels
from wholebody.errors import BadRobot, UnknownName
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.robots.formats import meshes
from wholebody.robots.robot import Placement, Robot, Shape

State = Snapshot | npt.ArrayLike


class Touch(NamedTuple):
    """Two links and how far apart they are, in m; below zero, how deep they are in each other."""

    one: str
    other: str
    distance: float


class Gap(NamedTuple):
    """Two links near each other: nearest points of their shapes, and the normal from one to the other, in world."""

    one: str
    other: str
    distance: float
    point_on_one: Array
    point_on_other: Array
    normal: Array


class Collisions:
    """Which links of a robot touch that should not, by coal on the shapes the robot's data give to its links.

    margin: every shape is grown by that share about its centre, and distances are those of grown shapes. Pairs that
    the robot's own postures bring nearer than that (`tight`: feet side by side, the shin of a bent leg over the foot)
    are checked as they are, without the margin.
    ignore: pairs of links not to check, besides neighbours and `robot.may_touch`.

    q is a Snapshot, or a configuration as `Model.at` takes it, or joints alone. Not for use by two threads.
    """

    def __init__(self, robot: Robot | Model, margin: float = 0.05, *, ignore: Iterable[tuple[str, str]] = ()) -> None:
        if not 0.0 <= margin < np.inf:
            raise BadRobot(f"a margin of {margin}; it is the share by which shapes grow, such as 0.05")
        self.model = robot if isinstance(robot, Model) else Model(robot)
        self.robot = self.model.robot
        self.margin = margin
        self.pairs: frozenset[Pair] = frozenset(link_pairs(self.robot, ignore))
        self._build(frozenset())
        self.tight: frozenset[Pair] = self._found_in_postures() if margin > 0.0 else frozenset()
        if self.tight:
            self._build(self.tight)

    def __repr__(self) -> str:
        """Name and size."""
        shapes, pairs = len(self._links), len(self._pairs)
        return f"<Collisions of {self.robot.name}: {shapes} shapes, {pairs} pairs, margin {self.margin:.0%}>"

    def check(self, q: State) -> list[Touch]:
        """The pairs of links that touch, the deepest first; none if the posture is free."""
        count = self._place(q, within=0.0)
        deepest: dict[tuple[str, str], float] = {}
        for pair in self._near[:count].tolist():
            if pin.computeCollision(self._geometry, self._data, pair):
                names = self._names[pair]
                deepest[names] = min(self._exact(pair), deepest.get(names, np.inf))
        return sorted((Touch(*names, depth) for names, depth in deepest.items()), key=lambda touch: touch.distance)

    def collides(self, q: State) -> bool:
        """Whether any pair touches: the quickest answer."""
        count = self._place(q, within=0.0)
        return any(pin.computeCollision(self._geometry, self._data, pair) for pair in self._near[:count].tolist())

    def distance(self, q: State) -> Touch:
        """The pair of links that is nearest, or deepest in each other."""
        if not self._names:
            raise BadRobot(f"{self.robot.name} has no two shapes that could collide")
        self._place(q, within=0.0)
        best = int(np.argmin(self._gap))
        least = self._exact(best)
        near = np.flatnonzero(self._gap <= max(least, 0.0))
        for pair in near[np.argsort(self._gap[near])].tolist():
            if self._gap[pair] > max(least, 0.0):
                break
            exact = self._exact(pair)
            if exact < least:
                best, least = pair, exact
        return Touch(*self._names[best], least)

    def near(self, q: State, within: float) -> list[Gap]:
        """The pairs of links nearer than that, the nearest first, one for each pair of shapes."""
        count = self._place(q, within)
        found = []
        for pair in self._near[:count].tolist():
            distance = self._exact(pair)
            if distance <= within:
                result = self._data.distanceResults[pair]
                one, other = result.getNearestPoint1(), result.getNearestPoint2()
                points = np.array(one), np.array(other), np.array(result.normal)
                found.append(Gap(self._names[pair][0], self._names[pair][1], distance, *points))
        return sorted(found, key=lambda gap: gap.distance)

    # --- inside ------------------------------------------------------------------------------------

    def _build(self, tight: frozenset[Pair]) -> None:
        """Grown shapes, and those of tight pairs once more as they are."""
        grown = solids(self.robot, 1.0 + self.margin)
        plain = solids(self.robot, 1.0) if tight else []
        shapes = grown + plain
        pairs = []
        for one in range(len(grown)):
            for other in range(one):
                both = frozenset((grown[one].link, grown[other].link))
                shift = len(grown) if both in tight else 0
                if both in self.pairs:
                    pairs.append((other + shift, one + shift))
        index = {link.name: number for number, link in enumerate(self.robot.links)}
        self._names = [(shapes[one].link, shapes[other].link) for one, other in pairs]
        self._pairs = np.array(pairs, np.int64).reshape(-1, 2)
        self._links = np.array([index[each.link] for each in shapes], np.int64)
        self._gap, self._near = np.empty(len(pairs)), np.empty(len(pairs), np.int64)
        at = np.array([each.at for each in shapes]).reshape(-1, 4, 4)
        half = np.array([each.half for each in shapes]).reshape(-1, 3)
        self._boxes = _kernels.kinematics_boxes(
            self._links, at, half, np.empty_like(half), np.empty_like(half), self._pairs, self._gap, self._near
        )
        self._geometry = geometry(self.model, shapes, pairs)
        self._data = pin.GeometryData(self._geometry)
        self._kinematics = self.model.pinocchio.createData()

    def _found_in_postures(self) -> frozenset[Pair]:
        """Pairs that touch in a posture of the robot's own."""
        postures = [self.model.neutral(), *(self.model.posture(each) for each in self.robot.postures)]
        return frozenset(frozenset((touch.one, touch.other)) for q in postures for touch in self.check(q))

    def _place(self, state: State, within: float) -> int:
        """Put all shapes where they are in a state; how many pairs have boxes not further apart than that."""
        snapshot = state if isinstance(state, Snapshot) else self.model.at(self._configuration(state))
        count = _kernels.kinematics_place_boxes(self._boxes, snapshot.placements, within)
        q = self.model.to_pinocchio(snapshot.q)
        pin.updateGeometryPlacements(self.model.pinocchio, self._kinematics, self._geometry, self._data, q)
        return count

    def _configuration(self, state: npt.ArrayLike) -> Array:
        values = np.asarray(state, np.float64)
        if values.shape == (len(self.robot.joint_names),) and self.model.floating:
            return np.concatenate([self.model.neutral()[:7], values])
        return values

    def _exact(self, pair: int) -> float:
        pin.computeDistance(self._geometry, self._data, pair)
        return float(self._data.distanceResults[pair].min_distance)


Pair = frozenset[str]


class Solid(NamedTuple):
    """A shape for coal, with a box around it: half its size, about the origin of the frame it stands in."""

    link: str
    geometry: Any
    at: Array  # solid_to_link, 4 × 4
    half: Array


def solid(link: str, shape: Shape, growth: float) -> Solid:
    """A shape of a link, grown about its own centre."""
    size = [each * growth for each in shape.size]
    if shape.kind == "box":
        return Solid(link, coal.Box(*size), shape.at.matrix, np.array(size) / 2)
    if shape.kind == "sphere":
        return Solid(link, coal.Sphere(*size), shape.at.matrix, np.full(3, size[0]))
    if shape.kind in ("cylinder", "capsule"):
        radius, length = size
        half = length / 2 + (radius if shape.kind == "capsule" else 0.0)
        geometry = coal.Capsule(radius, length) if shape.kind == "capsule" else coal.Cylinder(radius, length)
        return Solid(link, geometry, shape.at.matrix, np.array([radius, radius, half]))
    return _hull(link, shape, growth)


def _hull(link: str, shape: Shape, growth: float) -> Solid:
    """The convex hull of a mesh: it fills hollows, so it can touch where the mesh would not."""
    if shape.kind != "mesh" or shape.mesh is None:
        raise BadRobot(f"link '{link}': a shape of kind '{shape.kind}' cannot be checked for collisions")
    points = meshes.points(shape.mesh) * shape.size
    centre = (points.min(axis=0) + points.max(axis=0)) / 2
    points = growth * (points - centre)
    points = np.pad(points, ((0, -len(points) % 3), (0, 0)), "edge")
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(points) // 3, len(points))
    for corners in points.reshape(-1, 3, 3):  # which points make a triangle does not matter to the hull
        model.addTriangle(*corners)
    model.endModel()
    model.buildConvexHull(True, "Qt")
    at = shape.at.matrix @ Placement(xyz=(float(centre[0]), float(centre[1]), float(centre[2]))).matrix
    return Solid(link, model.convex, at, np.abs(points).max(axis=0))


def solids(robot: Robot, growth: float) -> list[Solid]:
    """All that can collide, link by link."""
    return [solid(link.name, shape, growth) for link in robot.links for shape in link.shapes if shape.collides]


def link_pairs(robot: Robot, ignore: Iterable[tuple[str, str]]) -> set[Pair]:
    """Pairs of links that must not touch: all but those fixed to each other or joined by one joint that moves.

    Left out too are those the robot's data allow to touch, and those to ignore.
    """
    body: dict[str, str] = {}  # of each link, the link at the root of all that is fixed to it
    above: dict[str, str] = {}  # of each body, the body it hangs from
    for link in robot.links:
        body[link.name] = link.name
    for joint in robot.joints:
        if joint.kind == "fixed":
            body[joint.child] = body[joint.parent]
        else:
            above[joint.child] = body[joint.parent]
    left_out = {frozenset(pair) for pair in robot.may_touch} | {frozenset(pair) for pair in ignore}
    for pair in left_out:
        for name in pair:
            if name not in body:
                raise UnknownName("link", name, body)
    pairs = set()
    for one, other in combinations([link.name for link in robot.links], 2):
        a, b = body[one], body[other]
        if a != b and above.get(a) != b and above.get(b) != a and frozenset((one, other)) not in left_out:
            pairs.add(frozenset((one, other)))
    return pairs


def geometry(model: Model, shapes: list[Solid], pairs: list[tuple[int, int]]) -> Any:
    """Pinocchio's model of them: where each solid hangs, and which are checked against which."""
    result = pin.GeometryModel()
    for index, each in enumerate(shapes):
        frame = model.pinocchio.frames[model.robot.links.index(model.robot.link(each.link)) + 1]  # 0 is the universe
        at = frame.placement * pin.SE3(each.at)
        result.addGeometryObject(pin.GeometryObject(f"{each.link} {index}", frame.parentJoint, at, each.geometry))
    for one, other in pairs:
        result.addCollisionPair(pin.CollisionPair(one, other))
    return result
