"""OnlineProfile: follow a goal that may change at any cycle, within velocity and acceleration limits, and arrive."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, isfinite, sqrt

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadMotion, BadReference
from wholebody.model.compiled import compiled
from wholebody.motion.trajectory import Array

FARTHEST = 1e12  # goals beyond it are as good as infinite
SPARE = 1.0 - 1e-9  # of the acceleration, to plan with; the rest makes up for rounding on a long way of braking
POSITION, VELOCITY, ACCELERATION, FASTEST, STEEPEST = range(5)


class OnlineProfile:
    """The trapezoidal profile, one period at a time: nothing is planned or stored, so the goal may change at will.

        profile = OnlineProfile(velocity=[2.0, 3.0], acceleration=10.0, period=0.005, position=[0.0, 0.5])
        while True:
            reference = profile.step(goal)

    Every joint keeps its limits, arrives exactly at a goal that stands still, as fast as the limits allow, and does not
    overshoot it, unless at the moment the goal was given it was too fast to stop in time: then it brakes, and comes
    back. Between two steps the acceleration is constant: x⁺ = x + (v + v⁺) τ/2.

    velocity, acceleration  limits, one number for all joints or one for each; infinite where there is none
    position, velocities    where the joints are now, and how fast; at zero and at rest, unless told
    names                   of the joints, for the text of errors

    Compiled code calls `advance(profile.numbers, goal, period)` itself.
    """

    def __init__(
        self,
        velocity: npt.ArrayLike,
        acceleration: npt.ArrayLike,
        period: float,
        *,
        position: npt.ArrayLike = 0.0,
        velocities: npt.ArrayLike = 0.0,
        names: Sequence[str] = (),
    ) -> None:
        try:
            given = [np.asarray(each, np.float64) for each in (position, velocities, velocity, acceleration)]
            rows = np.broadcast_arrays(*given, np.zeros(max(len(names), 1)))
        except ValueError as error:
            raise BadMotion(f"the numbers of a profile do not fit together: {error}") from None
        if rows[0].ndim != 1:
            raise BadMotion(f"a profile has one number for each joint, not an array of shape {rows[0].shape}")
        if not (isfinite(period) and period > 0):
            raise BadMotion(f"a period is a positive number of seconds, not {period}")
        self.period = float(period)
        self.names = tuple(names) or tuple(str(i) for i in range(len(rows[0])))
        for what, limits in (("velocity", rows[2]), ("acceleration", rows[3])):
            for name, limit in zip(self.names, limits, strict=True):
                if not limit > 0:
                    raise BadMotion(f"joint {name}: the {what} limit is positive, not {limit}")
        self.numbers = np.zeros((5, len(rows[0])))
        self.numbers[FASTEST], self.numbers[STEEPEST] = rows[2], rows[3]
        self._goal = np.zeros(len(rows[0]))
        self._shape = self._goal.shape
        shown: Array = self.numbers[:3].view()
        shown.flags.writeable = False
        self.position: Array = shown[POSITION]
        self.velocity: Array = shown[VELOCITY]
        self.acceleration: Array = shown[ACCELERATION]
        self.reset(rows[0], rows[1])
        self.step(rows[0])  # compiles the kernel, if need be, before any loop
        self.reset(rows[0], rows[1])

    def step(self, goal: npt.ArrayLike) -> Array:
        """Go on for one period; return the position, a view that changes with the next step.

        BadReference, and nothing moves, if a goal is no number.
        """
        if getattr(goal, "shape", None) != self._shape:
            goal = self._vector(goal, "goal")
        self._goal[:] = goal
        bad = advance(self.numbers, self._goal, self.period)
        if bad >= 0:
            raise BadReference(f"the goal of joint {self.names[bad]} is {self._goal[bad]}")
        return self.position

    @property
    def arrived(self) -> bool:
        """Whether every joint stands at the goal of the last step."""
        return bool((self.position == self._goal).all() and not self.velocity.any())

    def reset(self, position: npt.ArrayLike, velocities: npt.ArrayLike = 0.0) -> None:
        """Begin anew somewhere else, at rest unless told."""
        x, v = self._vector(position, "position"), self._vector(velocities, "velocity")
        for name, value, limit in zip(self.names, v, self.numbers[FASTEST], strict=True):
            if abs(value) > limit:
                raise BadMotion(f"joint {name} cannot begin with a velocity of {value:g}: its limit is {limit:g}")
        self.numbers[POSITION], self.numbers[VELOCITY], self.numbers[ACCELERATION] = x, v, 0.0
        self._goal[:] = x

    def _vector(self, given: npt.ArrayLike, what: str) -> Array:
        values = np.asarray(given, np.float64)
        if values.shape not in ((), self._shape):
            raise BadMotion(f"a {what} has {self._shape[0]} numbers, one for each joint, not the shape {values.shape}")
        if not np.isfinite(values).all():
            bad = int(np.argmin(np.isfinite(np.broadcast_to(values, self._shape))))
            raise BadReference(f"the {what} of joint {self.names[bad]} is {np.broadcast_to(values, self._shape)[bad]}")
        return np.array(np.broadcast_to(values, self._shape))


@compiled
def advance(numbers: Array, goal: Array, period: float) -> int:
    """One period of every joint; returns the first joint whose goal is no number, and then moves none, or −1.

    Of all velocities v⁺ at the end of this period, take the largest from which the joint can still stop at the goal.
    Braking by aτ each period from v⁺ takes k periods, the last of them with what is left. With D = |goal − x| and w the
    velocity towards the goal, this period and those k go

        wτ/2 + k v⁺τ − k(k − 1) aτ²/2 = D,  so  v⁺ = (S + k(k − 1) aτ)/2k  with  S = 2D/τ − w,

    where k is the least for which v⁺ ≤ k aτ, that is S ≤ k(k + 1) aτ. The next period gives the same with k − 1, and
    v⁺ − aτ; the last, k = 1, leaves S = 0, which ends at the goal, at rest. v⁺ is a continuous function of S, so it
    does not matter that k is rounded.
    """
    for i in range(goal.size):
        if not abs(goal[i]) < FARTHEST:
            return i
    for i in range(goal.size):
        x, v = numbers[POSITION, i], numbers[VELOCITY, i]
        change = numbers[STEEPEST, i] * period
        distance = goal[i] - x
        towards = 1.0 if distance >= 0 else -1.0
        S = 2.0 * abs(distance) / period - towards * v
        planned = change * SPARE
        k = max(1.0, ceil((sqrt(1.0 + 4.0 * max(S / planned, 0.0)) - 1.0) / 2.0))
        brake = k * (k - 1.0) * planned if k > 1.0 else 0.0
        wanted = towards * min(max((S + brake) / (2.0 * k), 0.0), numbers[FASTEST, i])
        after = min(max(wanted, v - change), v + change)
        there = x + (v + after) * period / 2.0
        rounding = 1e-15 * (abs(x) + abs(goal[i])) + 1e-18
        if abs(goal[i] - there) <= 2.0 * rounding and abs(after) <= 8.0 * rounding / period:
            there, after = goal[i], 0.0
        numbers[ACCELERATION, i] = (after - v) / period
        numbers[VELOCITY, i] = after
        numbers[POSITION, i] = there
    return -1
