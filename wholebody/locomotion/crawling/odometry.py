"""CrawlOdometry: where a robot that crawls has come to, from its IMU, its encoders, and which limbs stand still.

The heading is what the IMU says. From cycle to cycle the limbs that bear stay where they are in the world, as much as
each bears; so the way of the trunk is minus theirs, seen from it. Slipping limbs disagree, and count by their loads.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from wholebody.errors import SensorLost
from wholebody.locomotion.walking.footsteps import Place
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


Root = Callable[[Array, Array], Array]
"""Weights of the limbs, from how far each may bear (0 to 1) and from what it is felt to bear, N."""

LEAST = 1e-3
"""N, so that some limb counts."""


def desired(load: Array, bears: Array) -> Array:
    """All limbs that are planned to bear, alike."""
    return load


def sensed(load: Array, bears: Array) -> Array:
    """All limbs, by what they bear."""
    return np.maximum(bears, LEAST)


def mixed(load: Array, bears: Array) -> Array:
    """Limbs that are planned to bear, by what they bear."""
    return np.asarray(load * np.maximum(bears, LEAST))


def first(load: Array, bears: Array) -> Array:
    """The first limb that is planned to bear: one changes to another as they lift."""
    return np.asarray(np.eye(len(load))[int(np.argmax(load >= load.max()))])


def heaviest(load: Array, bears: Array) -> Array:
    """The limb that bears most."""
    return np.asarray(np.eye(len(load))[int(np.argmax(bears))])


ROOTS: dict[str, Root] = {each.__name__: each for each in (desired, sensed, mixed, first, heaviest)}
