"""The foot that swings: from where it stood to where it is put, over a via point whose time t_m is chosen (3.9)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from wholebody import _kernels
from wholebody.errors import BadGait
from wholebody.locomotion.walking.footsteps import Place
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
        self._goal = np.array(goal, np.float64)
        self._rise = rise_and_fall(begin, begin + via * (end - begin), end, heights, lift, gently)
        self._numbers, self._height, self._of = np.empty((6, 3)), 0.0, math.nan
        self._handle = _kernels.locomotion_swing(end, self._state, self._goal, self._rise, self._numbers)

    def _go_to(self, time: float) -> None:
        """Six derivatives of x, y and yaw, and the height, unless they are those of that time already."""
        if time != self._of:
            self._height = _kernels.locomotion_swing_at(self._handle, self._since, time)
            self._of = time

    def at(self, time: float) -> FootPoint:
        """Where the foot is at a time; before and after, where it begins and ends."""
        self._go_to(time)
        x, y, yaw = self._numbers[0].tolist()
        return FootPoint(Place(x, y, yaw), self._height)

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

    def redirect(self, time: float, goal: Place) -> None:
        """Put the foot elsewhere, as from this time; near the end of the swing nothing is changed any more."""
        if self.end - time < 0.25 * (self.end - self.begin):
            return
        self._go_to(time)
        self._state[:] = self._numbers[:3]
        self._since, self.goal, self._of = time, goal, math.nan
        self._goal[:] = goal


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


def from_rest_to_rest(way: Array, duration: float) -> Array:
    """Six derivatives of the quintic of least jerk when it begins, from 0 on: rows, of as many as the way has."""
    at_rest = (0.0, 0.0, 0.0, 60.0 / duration**3, -360.0 / duration**4, 720.0 / duration**5)
    return np.outer(at_rest, way)
