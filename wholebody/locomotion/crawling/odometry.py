"""CrawlOdometry: where a robot that crawls has come to, from its IMU, its encoders, and which limbs stand still.

The heading is what the IMU says. From cycle to cycle the limbs that bear stay where they are in the world, as much as
each bears; so the way of the trunk is minus theirs, seen from it. Slipping limbs disagree, and count by their loads.
"""

from __future__ import annotations

import math

import numpy as np

from wholebody.errors import SensorLost
from wholebody.locomotion.footsteps import Place
from wholebody.model.layout import Array


class CrawlOdometry:
    """The trunk's place on the ground, in the world in which it began at a place; whole circles count in its yaw."""

    def __init__(self, start: Place) -> None:
        self.trunk = start
        self._before: Array | None = None
        self._yaw = 0.0

    def update(self, rotation: Array, limbs: Array, bears: Array) -> Place:
        """One cycle: how the IMU has the trunk turned, limbs (4 × 3) seen from the trunk in its axes, and loads."""
        yaw = heading(rotation)
        x, y, turned = self.trunk
        if self._before is not None:
            turned += math.remainder(yaw - self._yaw, math.tau)
        c, s = math.cos(turned - yaw), math.sin(turned - yaw)  # from the IMU's world to ours
        seen = limbs @ rotation[:2].T @ np.array([[c, s], [-s, c]])
        if self._before is not None:
            dx, dy = bears @ (self._before - seen) / max(float(bears.sum()), 1e-9)
            x, y = x + dx, y + dy
        self._before, self._yaw = seen, yaw
        self.trunk = Place(float(x), float(y), turned)
        return self.trunk

    @property
    def begun(self) -> bool:
        """Whether anything was felt yet."""
        return self._before is not None

    @property
    def limbs(self) -> Array:
        """Where limbs are by now, x y."""
        if self._before is None:
            raise SensorLost("nothing was felt yet of where limbs are")
        return np.array(self.trunk[:2]) + self._before


def heading(rotation: Array) -> float:
    """Of a trunk, however it is pitched: where its left side points, less a right angle."""
    return math.atan2(-rotation[0, 1], rotation[1, 1])
