"""SupportArea: the polygon that the feet on the ground span, and the point of it that is nearest to another."""

from __future__ import annotations

import math

import numpy as np

from wholebody import _kernels
from wholebody.locomotion.walking.footsteps import Place, Support
from wholebody.locomotion.walking.gait import SOLES
from wholebody.model.layout import Array
from wholebody.model.support import convex_hull
from wholebody.robots.robot import Robot


class Soles:
    """What both soles can stand on, shrunk towards its middle by a scale, and then by a margin in m from every edge.

    A sole of any shape stands on the convex hull of its corners, in whichever order they are given.
    """

    def __init__(self, robot: Robot, margin: float = 0.0, scale: float = 1.0) -> None:
        hulls = (convex_hull(np.array(robot.surface(sole).outline)) for sole in SOLES)
        self.outlines = tuple(np.ascontiguousarray(inset(scaled(hull, scale), margin)) for hull in hulls)

    def area(self, support: Support, left: Place, right: Place) -> Array:
        """The corners, counter-clockwise, of the area that one foot or both span."""
        if support == "left":
            return in_world(self.outlines[0], *left)
        if support == "right":
            return in_world(self.outlines[1], *right)
        return convex_hull(np.concatenate([in_world(self.outlines[0], *left), in_world(self.outlines[1], *right)]))


def inset(corners: Array, margin: float) -> Array:
    """The part of a convex polygon (counter-clockwise) that is further than a margin from its edges, or its middle."""
    if margin == 0.0:
        return corners
    kept = list(corners)
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        normal = np.array([a[1] - b[1], b[0] - a[0]]) / math.hypot(*(b - a))  # inward
        kept = _cut(kept, [float(normal @ (corner - a)) - margin for corner in kept])
    return np.array(kept) if len(kept) > 2 else np.tile(corners.mean(axis=0), (3, 1))


def _cut(corners: list[Array], depths: list[float]) -> list[Array]:
    """The part of a polygon that is not behind a line, from how far each corner is before it."""
    kept = []
    for i, (corner, depth) in enumerate(zip(corners, depths, strict=True)):
        before, was = corners[i - 1], depths[i - 1]
        if (depth > 0.0) != (was > 0.0):
            kept.append(before + was / (was - depth) * (corner - before))
        if depth > 0.0:
            kept.append(corner)
    return kept


def in_world(outline: Array, x: float, y: float, yaw: float) -> Array:
    """Corners of a foot that stands somewhere."""
    corners = np.empty_like(outline)
    _kernels.locomotion_place_outline(outline, x, y, yaw, corners)
    return corners


def nearest_inside(corners: Array, point: Array) -> Array:
    """The point of a convex polygon (counter-clockwise) that is nearest to a point: itself if it is inside."""
    nearest = np.empty(2)
    _kernels.locomotion_nearest_inside(
        np.ascontiguousarray(corners, np.float64), np.asarray(point, np.float64), nearest
    )
    return nearest


def scaled(corners: Array, by: float) -> Array:
    """The polygon grown or shrunk about the mean of its corners."""
    center = corners.mean(axis=0)
    return np.ascontiguousarray(center + by * (corners - center))
