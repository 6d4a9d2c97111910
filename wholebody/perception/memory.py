"""Memory: things that were seen, each with its place in the world and how sure that is; more looks make it surer.

A Kalman filter for a thing that stands still: P ← P + Q Δt; K = P (P + R)⁻¹; x ← x + K (z − x); P ← (1 − K) P. What
all looks have in common, the bias of the stereo pair, no number of looks makes less: it is added to what is told.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wholebody.perception.blobs import Look
from wholebody.perception.lens import Lens, Picture
from wholebody.robots.robot import Array

STIRS = 0.002
"""m/√s by which one is less sure of a thing that one does not see."""
NEAR = 0.3
"""m. Looks at two things are further apart than that."""
APART = 0.12
"""m. What is nearer to a thing that was seen already belongs to it: a hand may hide its middle."""
MOVED = 5.0
"""Standard deviations beyond which a thing is taken to have been moved."""
GONE = 5
"""Looks at where it should be that show something further away, after which it is forgotten."""
BEHIND = 0.15
"""m"""


@dataclass
class Seen:
    """A thing that was seen."""

    number: int
    position_in_world: Array
    covariance: Array  # m², of what looks scatter
    bias: float  # m, what all looks have in common
    radius: float
    time: float
    visible: bool = True
    misses: int = 0

    @property
    def name(self) -> str:
        """What it is called as long as nobody has said what it is."""
        return f"candidate_{self.number}"

    @property
    def deviation(self) -> float:
        """The standard deviation of its place, m, where that is largest."""
        return math.sqrt(float(np.linalg.eigvalsh(self.covariance)[-1]) + self.bias**2)


class Memory:
    """Of one camera."""

    def __init__(self, lens: Lens) -> None:
        self.lens = lens
        self.things: list[Seen] = []
        self._count = 0

    def see(self, time: float, looks: Sequence[Look], depth: Picture, camera_to_world: Array) -> None:
        """Take in what one picture shows."""
        for thing in self.things:
            thing.covariance = thing.covariance + STIRS**2 * max(0.0, time - thing.time) * np.eye(3)
            thing.time, thing.visible = time, False
        for look in looks:
            self._take(time, look, camera_to_world)
        for thing in self.things:
            if not thing.visible and self._should_show(thing, depth, camera_to_world):
                thing.misses += 1
        self.things = [thing for thing in self.things if thing.misses <= GONE]

    def _take(self, time: float, look: Look, camera_to_world: Array) -> None:
        R = camera_to_world[:3, :3]
        z = camera_to_world[:3, 3] + R @ look.point_in_camera
        spread = R @ look.covariance_in_camera @ R.T
        bias = self.lens.depth_error(float(look.point_in_camera[0]), self.lens.bias)
        if any(each.visible and np.linalg.norm(each.position_in_world - z) < APART for each in self.things):
            return
        near = [each for each in self.things if not each.visible]
        nearest = min(near, key=lambda each: float(np.linalg.norm(each.position_in_world - z)), default=None)
        if nearest is None or np.linalg.norm(nearest.position_in_world - z) > NEAR + 3 * nearest.deviation:
            self._count += 1
            self.things.append(Seen(self._count, z, spread, bias, look.radius, time))
            return
        off, total = z - nearest.position_in_world, nearest.covariance + spread + nearest.bias**2 * np.eye(3)
        if float(off @ np.linalg.solve(total, off)) > MOVED**2:
            nearest.position_in_world, nearest.covariance = z, spread
        else:
            K = nearest.covariance @ np.linalg.inv(nearest.covariance + spread)
            nearest.position_in_world = nearest.position_in_world + K @ off
            nearest.covariance = (np.eye(3) - K) @ nearest.covariance
        nearest.bias, nearest.visible, nearest.misses = bias, True, 0
        if not look.cut:
            nearest.radius = look.radius

    def _should_show(self, thing: Seen, depth: Picture, camera_to_world: Array) -> bool:
        """Whether a thing would be in view, and nothing hides it."""
        point = camera_to_world[:3, :3].T @ (thing.position_in_world - camera_to_world[:3, 3])
        pixel = self.lens.pixel(point)
        if pixel is None:
            return False
        u, v = round(pixel[0]), round(pixel[1])
        inside = 4 <= u < self.lens.width - 4 and 4 <= v < self.lens.height - 4
        return inside and float(depth[v, u]) > point[0] + BEHIND + 3 * thing.deviation
