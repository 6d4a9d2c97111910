"""The trapezoidal profile of `goto`, which all its joints begin and end together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Trapezoid:
    """From 0 to 1 with velocity and acceleration limits, at rest at both ends.

    Without a limit reached, half of the way is speeding up and half slowing down: v² = a.
    """

    velocity: float
    acceleration: float

    @property
    def duration(self) -> float:
        """T = 1/v + v/a, with v the highest velocity that is reached."""
        v = self._top
        return 1 / v + v / self.acceleration

    def at(self, time: float) -> float:
        """How much of the way is done after some seconds."""
        v, a, end = self._top, self.acceleration, self.duration
        if time <= 0:
            return 0.0
        if time >= end:
            return 1.0
        if time < v / a:
            return a * time**2 / 2
        if time > end - v / a:
            return 1 - a * (end - time) ** 2 / 2
        return v * (time - v / a / 2)

    @property
    def _top(self) -> float:
        return min(self.velocity, math.sqrt(self.acceleration))


@dataclass(frozen=True)
class Move:
    """Some joints from where they are to where they shall be."""

    begin: Mapping[str, float]
    end: Mapping[str, float]
    profile: Trapezoid

    @classmethod
    def plan(cls, begin: Mapping[str, float], end: Mapping[str, float], velocity: Mapping[str, float]) -> Move:
        """The slowest joint sets the pace; each speeds up to its velocity in no less than half a second."""
        ways = {joint: max(abs(end[joint] - begin[joint]), 1e-6) for joint in end}
        pace = min(velocity[joint] / way for joint, way in ways.items())
        return cls(begin, end, Trapezoid(pace, 2 * pace))

    def at(self, time: float) -> dict[str, float]:
        """Where each joint is to be after some seconds."""
        share = self.profile.at(time)
        return {joint: self.begin[joint] + share * (goal - self.begin[joint]) for joint, goal in self.end.items()}
