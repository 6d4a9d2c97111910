"""Support: the polygon that contacts span in the horizontal plane, and how far inside it the centre of mass stands.

A posture at rest can be held by contacts that only push, with enough friction, if the centre of mass lies above their
support polygon: the convex hull of all points of contact, projected along gravity. For contacts at different heights
or on slopes this is still that projection; it says nothing about friction, which may allow less.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadState
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array, Integers
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot


@dataclass(frozen=True)
class Point:
    """A point of contact: the origin of a frame, or a point in it."""

    frame: str
    in_frame: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class SupportPolygon:
    """A convex polygon in the horizontal plane; of one point, or two, or none, when no more support.

    Corners (k × 2) are counter-clockwise, measured along the two horizontal axes (2 × 3, in world): x and y of the
    world if gravity points down. None lies on the line between its neighbours.
    """

    corners: Array
    axes: Array

    @classmethod
    def of(cls, points_in_world: npt.ArrayLike, gravity: npt.ArrayLike = (0.0, 0.0, -9.81)) -> SupportPolygon:
        """The polygon that points of contact (k × 3) span."""
        points = np.array(points_in_world, dtype=np.float64).reshape(-1, 3)
        if not np.isfinite(points).all():
            raise BadState(f"a point of contact is not a number: {points[~np.isfinite(points).all(axis=1)][0]}")
        axes = horizontal_axes(gravity)
        return cls(convex_hull(projected(points, axes)), axes)

    @property
    def area(self) -> float:
        """In m²; zero for a point or a line."""
        x, y = self.corners.T
        return float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2

    def margin(self, point_in_world: Iterable[float]) -> float:
        """How far inside the polygon's nearest edge the point stands, in metres, seen along gravity.

        Negative outside: minus the distance to the polygon. A point or a line has no inside: at most zero. Without
        any support it is −∞.
        """
        x, y, z = point_in_world
        return signed_distance(self.corners, self.axes, float(x), float(y), float(z))


class Contacts:
    """Where a robot touches the world, looked up once: surfaces by their name, other frames by name, or points in them.

    standing = Contacts(model, ["left_sole", "right_sole"])
    standing.margin(model.at(q))
    """

    def __init__(self, model: Model, contacts: Iterable[str | Point]) -> None:
        self.model = model
        frames: list[int] = []
        points: list[tuple[float, float, float]] = []
        surfaces = {surface.name: surface for surface in model.robot.surfaces}
        for contact in contacts:
            if isinstance(contact, str) and contact in surfaces:
                corners = [(x, y, 0.0) for x, y in surfaces[contact].outline]
                frames += [model.surface(contact)] * len(corners)
                points += corners
            else:
                point = Point(contact) if isinstance(contact, str) else contact
                frames.append(model.frame(point.frame))
                points.append(point.in_frame)
        self._frames = np.array(frames, np.int64)
        self._points = np.array(points, np.float64).reshape(-1, 3)
        self._axes = horizontal_axes(model.gravity)
        self.margin(model.at(model.neutral()))  # compiles the kernels now, if need be, and never in a loop

    def points_in_world(self, snapshot: Snapshot) -> Array:
        """All corners of the surfaces, and the points, k × 3."""
        return carried(snapshot.placements, self._frames, self._points)

    def polygon(self, snapshot: Snapshot) -> SupportPolygon:
        """The support polygon."""
        return SupportPolygon(convex_hull(projected(self.points_in_world(snapshot), self._axes)), self._axes)

    def margin(self, snapshot: Snapshot) -> float:
        """The static stability margin: how far inside the support polygon the centre of mass stands, in metres."""
        return self.polygon(snapshot).margin(snapshot.com_in_world)


def horizontal_axes(gravity: npt.ArrayLike) -> Array:
    """Two unit vectors across gravity, right-handed with up: x and y if it points down, or if there is none."""
    g = np.array(gravity, dtype=np.float64)
    length = np.linalg.norm(g)
    if length == 0 or (g[0] == 0 and g[1] == 0 and g[2] < 0):
        return np.eye(2, 3)
    up = -g / length
    nearest = np.eye(3)[0] if abs(up[0]) < 0.9 else np.eye(3)[1]
    x = nearest - up * (up @ nearest)
    x /= np.linalg.norm(x)
    return np.array([x, np.cross(up, x)])


@compiled
def carried(placements: Array, frames: Integers, points: Array) -> Array:
    """Points given in frames, in world."""
    result = np.empty((len(points), 3))
    for i in range(len(points)):
        at = placements[frames[i]]
        for k in range(3):
            result[i, k] = at[k, 0] * points[i, 0] + at[k, 1] * points[i, 1] + at[k, 2] * points[i, 2] + at[k, 3]
    return result


@compiled
def projected(points: Array, axes: Array) -> Array:
    """Points as they are seen along gravity: their coordinates along the two horizontal axes."""
    result = np.empty((len(points), 2))
    for i in range(len(points)):
        for k in range(2):
            result[i, k] = axes[k, 0] * points[i, 0] + axes[k, 1] * points[i, 1] + axes[k, 2] * points[i, 2]
    return result


GRID = 1e-12
"""m: points are put on this grid, where rounding cannot take a neighbour for a corner."""


@compiled
def convex_hull(points: Array) -> Array:
    """The corners of the convex hull, counter-clockwise from the leftmost (Andrew's monotone chain)."""
    count = len(points)
    points = np.rint(points / GRID) * GRID
    order = np.argsort(points[:, 0], kind="mergesort")
    for i in range(1, count):  # those with the same x, by y
        j = i
        while (
            j > 0 and points[order[j], 0] == points[order[j - 1], 0] and points[order[j], 1] < points[order[j - 1], 1]
        ):
            order[j], order[j - 1] = order[j - 1], order[j]
            j -= 1
    chain = np.empty((2 * count + 1, 2))
    size = 0
    for way in range(2):  # along the lower side, then back along the upper
        start = size
        for step in range(count):
            x, y = points[order[step if way == 0 else count - 1 - step]]
            while size >= start + 2 and _turn(chain[size - 2], chain[size - 1], x, y) <= 0.0:
                size -= 1
            if size == start or x != chain[size - 1, 0] or y != chain[size - 1, 1]:
                chain[size, 0], chain[size, 1] = x, y
                size += 1
        size -= 1  # the last corner of this side begins the other
    return chain[: max(size, min(count, 1))].copy()


@compiled
def _turn(a: Array, b: Array, x: float, y: float) -> float:
    """Twice the area of the triangle a, b, (x, y): positive if it turns left."""
    doubled: float = (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])
    return doubled


@compiled
def signed_distance(corners: Array, axes: Array, px: float, py: float, pz: float) -> float:
    """From a point to the border of a convex polygon: positive inside, negative outside, −∞ if there is none."""
    x = axes[0, 0] * px + axes[0, 1] * py + axes[0, 2] * pz
    y = axes[1, 0] * px + axes[1, 1] * py + axes[1, 2] * pz
    count = len(corners)
    nearest, inside = math.inf, count > 2
    for i in range(count):
        ax, ay = corners[i, 0], corners[i, 1]
        ex, ey = corners[(i + 1) % count, 0] - ax, corners[(i + 1) % count, 1] - ay
        dx, dy = x - ax, y - ay
        square = ex * ex + ey * ey
        along = 0.0 if square == 0.0 else min(1.0, max(0.0, (dx * ex + dy * ey) / square))
        nearest = min(nearest, math.hypot(dx - along * ex, dy - along * ey))
        if ex * dy - ey * dx < 0.0:
            inside = False
    return nearest if inside else -nearest
