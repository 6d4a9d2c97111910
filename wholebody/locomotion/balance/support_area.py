"""SupportArea: the polygon that the feet on the ground span, and the point of it that is nearest to another."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from wholebody.locomotion.footsteps import Place, Support
from wholebody.locomotion.gait import SOLES
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array
from wholebody.model.support import convex_hull
from wholebody.robots.robot import Robot


class Soles:
    """The outlines of both soles, shrunk towards their middle by a margin in m or by a scale."""

    def __init__(self, robot: Robot, margin: float = 0.0, scale: float = 1.0) -> None:
        self.outlines = tuple(_shrunk(np.array(robot.surface(sole).outline), margin, scale) for sole in SOLES)

    def area(self, support: Support, left: Place, right: Place) -> Array:
        """The corners, counter-clockwise, of the area that one foot or both span."""
        if support == "left":
            return in_world(self.outlines[0], *left)
        if support == "right":
            return in_world(self.outlines[1], *right)
        return convex_hull(both(self.outlines[0], self.outlines[1], np.array(left), np.array(right)))


def _shrunk(outline: Array, margin: float, scale: float) -> Array:
    middle = outline.mean(axis=0)
    from_middle = scale * (outline - middle)
    kept = np.maximum(np.abs(from_middle) - margin, 0.0)
    return np.ascontiguousarray(middle + np.sign(from_middle) * kept)


@compiled
def in_world(outline: Array, x: float, y: float, yaw: float) -> Array:
    """Corners of a foot that stands somewhere."""
    c, s = math.cos(yaw), math.sin(yaw)
    corners = np.empty_like(outline)
    for i in range(len(outline)):
        corners[i, 0] = x + c * outline[i, 0] - s * outline[i, 1]
        corners[i, 1] = y + s * outline[i, 0] + c * outline[i, 1]
    return corners


@compiled
def both(one: Array, other: Array, here: Array, there: Array) -> Array:
    """Corners of both feet."""
    corners = np.empty((len(one) + len(other), 2))
    corners[: len(one)] = in_world(one, here[0], here[1], here[2])
    corners[len(one) :] = in_world(other, there[0], there[1], there[2])
    return corners


@compiled
def nearest_inside(corners: Array, point: Array) -> Array:
    """The point of a convex polygon (counter-clockwise) that is nearest to a point: itself if it is inside."""
    inside, best = True, np.inf
    nearest = point.copy()
    for i in range(len(corners)):
        ax, ay = corners[i]
        bx, by = corners[(i + 1) % len(corners)]
        ex, ey = bx - ax, by - ay
        dx, dy = point[0] - ax, point[1] - ay
        if ex * dy - ey * dx < 0.0:
            inside = False
        along = min(max((dx * ex + dy * ey) / max(ex * ex + ey * ey, 1e-18), 0.0), 1.0)
        px, py = ax + along * ex, ay + along * ey
        away = (point[0] - px) ** 2 + (point[1] - py) ** 2
        if away < best:
            best = away
            nearest[0], nearest[1] = px, py
    return point.copy() if inside else nearest


def scaled(corners: Array, by: float, about: Sequence[float] | None = None) -> Array:
    """The polygon grown or shrunk about a point, or about the mean of its corners."""
    center = corners.mean(axis=0) if about is None else np.array(about)
    return np.ascontiguousarray(center + by * (corners - center))
