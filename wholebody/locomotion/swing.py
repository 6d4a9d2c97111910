"""The foot that swings: from where it stood to where it is put, over a via point whose time t_m is chosen (3.9)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wholebody.errors import BadGait
from wholebody.locomotion.footsteps import Place
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array


class FootPoint(NamedTuple):
    """Where a foot is: its place, and its height above the ground."""

    place: Place
    height: float


class Swing:
    """One swing, from rest to rest: velocity and acceleration vanish at both ends, so the foot lands softly.

    Along the ground it is the quintic of least jerk, which can be led elsewhere on the way without a jump in
    acceleration. Up and down it is two quintics that meet at the via point, at the height `lift` above the higher
    of both ends.
    """

    def __init__(
        self,
        start: Place,
        goal: Place,
        begin: float,
        end: float,
        lift: float,
        via: float = 0.5,
        heights: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        """From one place at a time to another; `via` is t_m as a share of the duration."""
        if not end > begin or not 0.1 <= via <= 0.9 or lift < 0:
            raise BadGait(
                f"a swing from {begin} to {end} s, {lift} m high at {via} of its time; "
                "give times in order, a height that is not negative, and a share from 0.1 to 0.9"
            )
        self.begin, self.end, self.goal = begin, end, goal
        self._since = begin
        self._state = np.zeros((3, 3))  # position, velocity, acceleration of x, y, yaw at _since
        self._state[0] = start
        self._goal = np.array(goal)
        self._up = np.array([begin, begin + via * (end - begin), end])
        self._heights = np.array([heights[0], max(heights) + lift, heights[1]])
        self._numbers = np.empty((3, 3))

    def at(self, time: float) -> FootPoint:
        """Where the foot is at a time; before and after, where it begins and ends."""
        least_jerk(self._since, self.end, self._state, self._goal, time, self._numbers)
        x, y, yaw = self._numbers[0].tolist()
        return FootPoint(Place(x, y, yaw), height_over(self._up, self._heights, time))

    def velocity(self, time: float) -> Array:
        """Of x, y and yaw."""
        least_jerk(self._since, self.end, self._state, self._goal, time, self._numbers)
        velocity: Array = self._numbers[1].copy()
        return velocity

    def lead(self, time: float, goal: Place) -> None:
        """Put the foot elsewhere, as from this time; near the end of the swing nothing is changed any more."""
        if self.end - time < 0.25 * (self.end - self.begin):
            return
        least_jerk(self._since, self.end, self._state, self._goal, time, self._numbers)
        self._state[:] = self._numbers
        self._since, self.goal = time, goal
        self._goal[:] = goal


@compiled
def least_jerk(begin: float, end: float, start: Array, goal: Array, time: float, into: Array) -> None:
    """The quintic from a state (position, velocity, acceleration: rows) to rest at a goal; into has the same rows."""
    T = end - begin
    t = min(max(time - begin, 0.0), T)
    for i in range(start.shape[1]):
        p, v, a = start[0, i], start[1, i], start[2, i]
        gap = goal[i] - p - v * T - 0.5 * a * T * T
        gap_v, gap_a = -v - a * T, -a
        c3 = (10.0 * gap - 4.0 * gap_v * T + 0.5 * gap_a * T * T) / T**3
        c4 = (-15.0 * gap + 7.0 * gap_v * T - gap_a * T * T) / T**4
        c5 = (6.0 * gap - 3.0 * gap_v * T + 0.5 * gap_a * T * T) / T**5
        into[0, i] = p + t * (v + t * (0.5 * a + t * (c3 + t * (c4 + t * c5))))
        into[1, i] = v + t * (a + t * (3.0 * c3 + t * (4.0 * c4 + t * 5.0 * c5)))
        into[2, i] = a + t * (6.0 * c3 + t * (12.0 * c4 + t * 20.0 * c5))


@compiled
def height_over(times: Array, heights: Array, time: float) -> float:
    """Up by one quintic of rest to rest, down by another."""
    piece = 0 if time < times[1] else 1
    s = min(max((time - times[piece]) / (times[piece + 1] - times[piece]), 0.0), 1.0)
    height: float = heights[piece] + (heights[piece + 1] - heights[piece]) * s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
    return height
