"""A walk of equal steps as the thesis has it: single support on a pendulum, double support at constant velocity.

Stabilizer, 5.7.1: given the length and the mean velocity of the steps and how long single support lasts, everything
else follows from position and velocity being continuous. In double support the cubic between both ends, which have the
same velocity, is then a straight line. Before the first single support and after the last, a cubic leads from rest and
to rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from wholebody.errors import BadGait
from wholebody.locomotion.pendulum import LateralSway, Motion
from wholebody.model.layout import Array


@dataclass(frozen=True)
class ContinuousSteps:
    """Equal steps forward, feet ±d from the middle; time 0 is the middle of a single support on the left foot.

    Sideways it comes α d near the foot, forward it goes A sinh(ω t) past it, with

        α = 1 / (cosh h + ω T_DS/2 sinh h),   A = L / (2 sinh h + ω T_DS cosh h),   h = ω T_SS / 2,

    so that double support joins both in position and velocity.
    """

    length: float  # m
    half_distance: float  # m, d
    omega: float  # 1/s
    single_support: float  # s
    double_support: float  # s

    def __post_init__(self) -> None:
        """Refuse steps without time or place."""
        if min(self.half_distance, self.omega, self.single_support, self.double_support) <= 0:
            raise BadGait("steps need feet apart, a pendulum, and positive times of single and double support")

    @classmethod
    def of(cls, length: float, velocity: float, share: float, half_distance: float, omega: float) -> ContinuousSteps:
        """From the mean velocity, and the share of double support in the time of a step."""
        if velocity <= 0 or not 0 < share < 1:
            raise BadGait(f"a mean velocity of {velocity} m/s with {share} of each step in double support")
        time = length / velocity
        return cls(length, half_distance, omega, (1 - share) * time, share * time)

    @property
    def period(self) -> float:
        """Seconds from one step to the next."""
        return self.single_support + self.double_support

    @property
    def _half(self) -> float:
        return self.omega * self.single_support / 2

    @property
    def alpha(self) -> float:
        """How near the centre of mass comes to the foot that supports, as a share of d."""
        h = self._half
        return 1.0 / (math.cosh(h) + self.omega * self.double_support / 2 * math.sinh(h))

    @property
    def sway(self) -> LateralSway:
        """Eq. 5.16 with this α; its double support is ours."""
        return LateralSway.of(self.alpha, self.single_support, self.half_distance, self.omega)

    @property
    def _stretch(self) -> float:
        h = self._half
        return self.length / (2 * math.sinh(h) + self.omega * self.double_support * math.cosh(h))

    def at(self, time: float) -> Motion:
        """Position and velocity of the centre of mass, forward and to the left, while walking."""
        step = round(time / self.period)
        t = time - step * self.period
        side = 1.0 if step % 2 == 0 else -1.0
        ahead, aside = step * self.length, side * self.half_distance
        x, y = self._in_single_support(max(-self.single_support / 2, min(t, self.single_support / 2)))
        late = abs(t) - self.single_support / 2
        x0, y0 = x.position, y.position
        if late > 0:
            sign = math.copysign(1.0, t)
            x0, y0 = x0 + sign * late * x.velocity, y0 + sign * late * y.velocity
        position = np.array([ahead + float(x0), aside + side * float(y0)])
        return Motion(position, np.array([float(x.velocity), side * float(y.velocity)]))

    def _in_single_support(self, t: float) -> tuple[Motion, Motion]:
        """From the foot: forward, and to its outer side (so negative)."""
        A, a, w = self._stretch, self.alpha * self.half_distance, self.omega
        forward = Motion(np.array(A * math.sinh(w * t)), np.array(A * w * math.cosh(w * t)))
        outward = Motion(np.array(-a * math.cosh(w * t)), np.array(-a * w * math.sinh(w * t)))
        return forward, outward

    def from_rest(self, start: Array, duration: float, time: float) -> Motion:
        """The cubic from rest at a place to the beginning of the first single support, −T_SS/2, which it reaches."""
        end = self.at(-self.single_support / 2)
        return cubic(Motion(np.asarray(start, np.float64), np.zeros(2)), end, duration, time)

    def to_rest(self, steps: int, goal: Array, duration: float, time: float) -> Motion:
        """The cubic from the end of the single support after so many steps to rest at a place."""
        begin = self.at(steps * self.period + self.single_support / 2)
        return cubic(begin, Motion(np.asarray(goal, np.float64), np.zeros(2)), duration, time)


def cubic(begin: Motion, end: Motion, duration: float, time: float) -> Motion:
    """The third-order polynomial with position and velocity given at both ends."""
    T = duration
    t = min(max(time, 0.0), T)
    gap = end.position - begin.position - begin.velocity * T
    turn = end.velocity - begin.velocity
    c2, c3 = (3 * gap - turn * T) / T**2, (turn * T - 2 * gap) / T**3
    return Motion(begin.position + t * (begin.velocity + t * (c2 + t * c3)), begin.velocity + t * (2 * c2 + 3 * t * c3))
