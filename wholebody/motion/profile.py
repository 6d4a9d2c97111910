"""OnlineProfile: follow a goal that may change at any cycle, within velocity and acceleration limits, and arrive."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np
import numpy.typing as npt

from wholebody import _kernels
from wholebody.errors import BadMotion, BadReference
from wholebody.motion.trajectory import Array

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
    position, velocities    where the joints are now, and how fast; by default at zero and at rest
    names                   of the joints, for the text of errors
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

    def step(self, goal: npt.ArrayLike) -> Array:
        """Go on for one period; return the position, a view that changes with the next step.

        BadReference, and nothing moves, if a goal is no number.
        """
        if getattr(goal, "shape", None) != self._shape:
            goal = self._vector(goal, "goal")
        self._goal[:] = goal
        bad = _kernels.motion_advance(self.numbers, self._goal, self.period)
        if bad >= 0:
            raise BadReference(f"the goal of joint {self.names[bad]} is {self._goal[bad]}")
        return self.position

    @property
    def arrived(self) -> bool:
        """Whether every joint stands at the goal of the last step."""
        return bool((self.position == self._goal).all() and not self.velocity.any())

    def reset(self, position: npt.ArrayLike, velocities: npt.ArrayLike = 0.0) -> None:
        """Begin anew somewhere else, by default at rest."""
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
