"""The foot that swings: from where it stood to where it is put, over a via point whose time t_m is chosen (3.9)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from wholebody.errors import BadGait
from wholebody.locomotion.footsteps import Place
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array

SLOW, STOP = 0.4, 0.1
"""Of the time in which a foot comes down, if gently: that in which it is slow, and that in which it then stops."""


class FootPoint(NamedTuple):
    """Where a foot is: its place, and its height above the ground."""

    place: Place
    height: float


class Swing:
    """One swing, from rest to rest: velocity and acceleration vanish at both ends, so the foot lands softly.

    Along the ground it is the quintic of least jerk, which can be led elsewhere on the way without a jump in
    acceleration. Up and down it is two quintics that meet at the via point, at the height `lift` above the higher
    of both ends. If it is to land gently, the last of the way down, a share `gently` of the lift, is gone at a low and
    constant speed until just before the end: who errs by some millimetres about the ground then touches it so slowly.
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
        gently: float = 0.0,
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
        self._rise = rise_and_fall(begin, begin + via * (end - begin), end, heights, lift, gently)
        self._numbers, self._of = np.empty((6, 3)), math.nan

    def _go_to(self, time: float) -> None:
        """Six derivatives of x, y and yaw, unless they are those of that time already."""
        if time != self._of:
            least_jerk(self._since, self.end, self._state, self._goal, time, self._numbers)
            self._of = time

    def at(self, time: float) -> FootPoint:
        """Where the foot is at a time; before and after, where it begins and ends."""
        self._go_to(time)
        x, y, yaw = self._numbers[0].tolist()
        return FootPoint(Place(x, y, yaw), height_over(self._rise, time))

    def velocity(self, time: float) -> Array:
        """Of x, y and yaw."""
        self._go_to(time)
        velocity: Array = self._numbers[1].copy()
        return velocity

    def derivatives(self, time: float) -> Array:
        """Place, velocity, acceleration and so on up to the fifth, of x, y and yaw; after the end it rests."""
        self._go_to(time)
        derivatives: Array = self._numbers.copy()
        if not self.begin <= time < self.end:
            derivatives[1:] = 0.0
        return derivatives

    def lead(self, time: float, goal: Place) -> None:
        """Put the foot elsewhere, as from this time; near the end of the swing nothing is changed any more."""
        if self.end - time < 0.25 * (self.end - self.begin):
            return
        self._go_to(time)
        self._state[:] = self._numbers[:3]
        self._since, self.goal, self._of = time, goal, math.nan
        self._goal[:] = goal


@compiled
def least_jerk(begin: float, end: float, start: Array, goal: Array, time: float, into: Array) -> None:
    """The quintic from a state (position, velocity, acceleration: rows) to rest at a goal; into: six derivatives."""
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
        into[3, i] = 6.0 * c3 + t * (24.0 * c4 + t * 60.0 * c5)
        into[4, i] = 24.0 * c4 + t * 120.0 * c5
        into[5, i] = 120.0 * c5


def rise_and_fall(
    begin: float, highest: float, end: float, heights: tuple[float, float], lift: float, gently: float
) -> Array:
    """Times, heights and vertical velocities (rows) between which a foot goes by quintics, without acceleration there.

    Gently, it goes down to a share of its lift, then at the velocity v that it has there, then stops in half the way.
    """
    top, rest, fall = max(heights) + lift, heights[1], end - highest
    slow, stop = end - SLOW * fall, end - STOP * fall
    v = gently * lift / ((SLOW - STOP / 2) * fall)
    knots = [(begin, heights[0], 0.0), (highest, top, 0.0), (end, rest, 0.0)]
    if gently > 0.0:
        knots[2:2] = [(slow, rest + gently * lift, -v), (stop, rest + v * STOP / 2 * fall, -v)]
    return np.array(knots).T.copy()


@compiled
def height_over(knots: Array, time: float) -> float:
    """From knot to knot; before the first and after the last it rests."""
    last = knots.shape[1] - 1
    i = min(max(np.searchsorted(knots[0], time, side="right") - 1, 0), last - 1)
    T = knots[0, i + 1] - knots[0, i]
    s = min(max((time - knots[0, i]) / T, 0.0), 1.0)
    p, v, w = knots[1, i], knots[2, i] * T, knots[2, i + 1] * T
    gap, rise = knots[1, i + 1] - p - v, w - v
    c3, c4, c5 = 10.0 * gap - 4.0 * rise, -15.0 * gap + 7.0 * rise, 6.0 * gap - 3.0 * rise
    height: float = p + s * (v + s * s * (c3 + s * (c4 + s * c5)))
    return height


def from_rest_to_rest(way: Array, duration: float) -> Array:
    """Six derivatives of the quintic of least jerk when it begins, from 0 on: rows, of as many as the way has."""
    derivatives = np.empty((6, len(way)))
    least_jerk(0.0, duration, np.zeros((3, len(way))), way, 0.0, derivatives)
    return derivatives
