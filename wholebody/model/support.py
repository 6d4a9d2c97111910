"""Support: the polygon that contacts span in the horizontal plane, and how far inside it the centre of mass stands.

A posture at rest can be held by contacts that only push, with enough friction, if the centre of mass lies above their
support polygon: the convex hull of all points of contact, projected along gravity. For contacts at different heights
or on slopes this is still that projection; it says nothing about friction, which may allow less.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wholebody import _kernels
from wholebody.errors import BadState
from wholebody.model.layout import Array
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
        return cls(convex_hull(points @ axes.T), axes)

    @property
    def area(self) -> float:
        """In m²; zero for a point or a line."""
        if len(self.corners) < 3:
            return 0.0
        x, y = (self.corners - self.corners[0]).T
        return float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2

    def margin(self, point_in_world: Iterable[float]) -> float:
        """How far inside the polygon's nearest edge the point stands, in metres, seen along gravity.

        Negative outside: minus the distance to the polygon. A point or a line has no inside: at most zero. Without
        any support it is −∞.
        """
        px, py, pz = point_in_world
        x, y = (float(a * px + b * py + c * pz) for a, b, c in self.axes.tolist())
        return _kernels.model_signed_distance(np.ascontiguousarray(self.corners), x, y)


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

    def points_in_world(self, snapshot: Snapshot) -> Array:
        """All corners of the surfaces, and the points, k × 3."""
        at = snapshot.placements[self._frames, :3]
        return np.asarray((at[:, :, :3] @ self._points[:, :, None])[:, :, 0] + at[:, :, 3])

    def polygon(self, snapshot: Snapshot) -> SupportPolygon:
        """The support polygon."""
        return SupportPolygon(convex_hull(self.points_in_world(snapshot) @ self._axes.T), self._axes)

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


GRID = 1e-12
"""m: points are put on this grid, where rounding cannot take a neighbour for a corner."""


def convex_hull(points: npt.ArrayLike) -> Array:
    """The corners of the convex hull of points in the plane, k × 2, counter-clockwise from the leftmost."""
    own = np.array(points, np.float64, order="C")
    chain = np.empty((2 * len(own) + 1, 2))
    return chain[: _kernels.model_convex_hull(own, GRID, chain)].copy()
