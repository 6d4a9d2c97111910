"""What the world does to the robot besides the ground: pushes, and loads to carry."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from wholebody.errors import BadSimulation
from wholebody.robots.robot import Vector


@dataclass(frozen=True)
class Push:
    """A constant force on a point of a link, for a while of simulated time: an impulse of force · duration."""

    link: str
    force_in_world: Vector  # N
    duration: float  # s
    start: float  # s
    point_in_link: Vector | None = None  # m; none is the link's centre of mass

    def __post_init__(self) -> None:
        """Refuse a push that is none."""
        _finite(f"the push of '{self.link}'", *self.force_in_world, *(self.point_in_link or ()), self.start)
        if not (0 < self.duration < math.inf):
            raise BadSimulation(f"the push of '{self.link}' lasts {self.duration} s; give a positive number of seconds")


@dataclass(frozen=True)
class Load:
    """A mass fixed to a point of a link, from some instant on."""

    mass: float  # kg
    link: str
    point_in_link: Vector = (0.0, 0.0, 0.0)  # m
    start: float = 0.0  # s

    def __post_init__(self) -> None:
        """Refuse a load that weighs nothing."""
        _finite(f"the load of '{self.link}'", *self.point_in_link, self.start)
        if not (0 < self.mass < math.inf):
            raise BadSimulation(f"the load of '{self.link}' weighs {self.mass} kg; give a positive number")


class Pushes:
    """The pushes of a run, given and to come, applied physics step by physics step."""

    def __init__(self, step: float) -> None:
        self._step = step
        self._all: list[tuple[int, int, int, Push]] = []
        self._bodies: set[int] = set()

    def add(self, push: Push, body: int) -> None:
        """Plan a push; it begins and ends at the physics step nearest to what was asked, and takes one at least."""
        first = round(push.start / self._step)
        last = first + max(1, round(push.duration / self._step))
        self._all.append((first, last, body, push))

    def clear(self) -> None:
        """Forget them all."""
        self._all.clear()

    @property
    def none(self) -> bool:
        """Whether there is nothing to apply or to take away."""
        return not (self._all or self._bodies)

    def apply(self, step: int, data: Any) -> None:
        """Put the forces of this step into MuJoCo's data: force and torque on the centre of mass of the body."""
        for body in self._bodies:
            data.xfrc_applied[body] = 0.0
        self._bodies.clear()
        for first, last, body, push in self._all:
            if first <= step < last:
                force = np.array(push.force_in_world)
                data.xfrc_applied[body, :3] += force
                if push.point_in_link is not None:
                    point = data.xpos[body] + data.xmat[body].reshape(3, 3) @ push.point_in_link
                    data.xfrc_applied[body, 3:] += np.cross(point - data.xipos[body], force)
                self._bodies.add(body)
        self._all = [each for each in self._all if step < each[1]]


def _finite(what: str, *numbers: float) -> None:
    if not all(math.isfinite(number) for number in numbers):
        raise BadSimulation(f"{what} has a number that is not finite: {', '.join(map(str, numbers))}")
