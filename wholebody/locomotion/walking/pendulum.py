"""The linear inverted pendulum: how the centre of mass moves over the zero moment point (Stabilizer, 5.7).

p̈ = ω² (p − z), ω = √(g / height). With the divergent component ξ = p + ṗ / ω it falls apart into one that runs away,
ξ̇ = ω (ξ − z), and one that follows, ṗ = ω (ξ − p).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wholebody import _kernels
from wholebody.errors import BadGait
from wholebody.model.layout import Array

GRAVITY = 9.81
ORDERS = 6
"""Derivatives of a polynomial of the fifth order: from none to all."""


def frequency(height: float) -> float:
    """ω = √(g / height), 1/s."""
    if not 0 < height < math.inf:
        raise BadGait(f"a centre of mass {height} m above the ground; give a positive height")
    return math.sqrt(GRAVITY / height)


class Motion(NamedTuple):
    """Position and velocity, of one coordinate or of several."""

    position: Array
    velocity: Array


def single_support(start: Motion, time: float, omega: float) -> Motion:
    """Eq. 5.15: about a zero moment point that rests at the origin, with T_c = 1 / ω."""
    cosh, sinh = math.cosh(omega * time), math.sinh(omega * time)
    p, v = start
    return Motion(p * cosh + v / omega * sinh, p * omega * sinh + v * cosh)


@dataclass(frozen=True)
class LateralSway:
    """Eq. 5.16: from side to side between feet ±d, double support at constant velocity between ±β d from the middle.

    β = α cosh(T_SS / 2 T_c), v_ds = (α d / T_c) sinh(T_SS / 2 T_c), T_DS = 2 (1 − β) d / v_ds, where α d is the least
    distance to the foot that supports, and β d the distance to it when single support begins and ends.
    """

    alpha: float
    beta: float
    velocity: float  # m/s, in double support
    single_support: float  # s
    double_support: float  # s

    @classmethod
    def of(cls, alpha: float, single_support: float, half_distance: float, omega: float) -> LateralSway:
        """From how near it comes to the foot that supports; β < 1, or there is no time for double support."""
        half = omega * single_support / 2
        beta = alpha * math.cosh(half)
        if not 0 < alpha < beta < 1:
            raise BadGait(f"α = {alpha:g} gives β = {beta:g}; 0 < α < β < 1 is needed: take less α or a shorter step")
        velocity = alpha * half_distance * omega * math.sinh(half)
        return cls(alpha, beta, velocity, single_support, 2 * (1 - beta) * half_distance / velocity)


class ZmpPath:
    """A zero moment point that goes from knot to knot in straight lines, and rests before the first and after the last.

    A polynomial may be added to each line. The centre of mass that belongs to it is known in closed form: on a piece
    from t₀ to t₁,

        ξ(t) = Σ z⁽ᵏ⁾(t) / ωᵏ + C e^{ω(t − t₁)},   p(t) = Σ z⁽²ᵏ⁾(t) / ω²ᵏ + C/2 e^{ω(t − t₁)} + D e^{−ω(t − t₀)},

    C from the end backwards, where ξ must come to rest at the last knot, and D from the start forwards. So no
    exponential ever grows, and nothing is integrated.
    """

    def __init__(
        self,
        times: npt.ArrayLike,
        knots: npt.ArrayLike,
        omega: float,
        start_in_world: npt.ArrayLike,
        added: npt.ArrayLike | None = None,
    ) -> None:
        """Times (n), knots (n × 2), and where the centre of mass is at the first of the times.

        added: n × 6 × 2, derivatives of the polynomial added from each of the times on, at that time; the last rests.
        """
        self.times = np.array(times, np.float64)
        self.omega = omega
        knots, count = np.array(knots, np.float64).reshape(-1, 2), len(self.times)
        if count < 2 or count != len(knots) or not (np.diff(self.times) > 0).all():
            raise BadGait(f"a path of the zero moment point needs two knots or more, in order of time: {self.times}")
        self._curves = np.zeros((count, ORDERS, 2)) if added is None else np.array(added, np.float64)
        self._curves[:, 0] += knots
        self._curves[:-1, 1] += np.diff(knots, axis=0) / np.diff(self.times)[:, None]
        self._curves = np.ascontiguousarray(self._curves)
        start = np.array(start_in_world, np.float64)
        self._solved = _kernels.locomotion_path(self.times, self._curves, np.empty((count, 4)), omega, start)

    def at(self, time: float) -> PendulumState:
        """Everything at a time."""
        numbers = np.empty((4, 2))
        _kernels.locomotion_path_at(self._solved, time, numbers)
        return PendulumState(numbers[0], numbers[1], numbers[2], numbers[3])


class PendulumState(NamedTuple):
    """Zero moment point, divergent component, centre of mass and its velocity: x and y each."""

    zmp: Array
    dcm: Array
    com: Array
    com_velocity: Array


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


@dataclass(frozen=True)
class PreviewMotion:
    """One row for each period, x and y."""

    com: Array
    com_velocity: Array
    com_acceleration: Array
    zmp: Array


class PreviewControl:
    """The gains for a height of the centre of mass, a period and a horizon, all in SI units."""

    def __init__(
        self, height: float, period: float = 0.005, horizon: float = 1.6, error: float = 1.0, jerk: float = 1e-6
    ) -> None:
        """`error` and `jerk` are the weights Q and R."""
        if not all(0 < value < math.inf for value in (height, period, horizon, error, jerk)) or horizon < period:
            raise BadGait(
                f"preview of {horizon} s at a period of {period} s, height {height} m, weights {error} and {jerk}: "
                "all must be positive, and the horizon longer than the period"
            )
        T = self.period = period
        self.A = np.array([[1.0, T, T * T / 2], [0.0, 1.0, T], [0.0, 0.0, 1.0]])
        self.B = np.array([T**3 / 6, T * T / 2, T])
        self.C = np.array([1.0, 0.0, -height / GRAVITY])
        self.steps = round(horizon / T)
        self._solve(error, jerk)

    def _solve(self, error: float, jerk: float) -> None:
        from scipy.linalg import solve_discrete_are

        A, B = np.zeros((4, 4)), np.zeros((4, 1))
        A[0, 0], A[0, 1:], A[1:, 1:] = 1.0, self.C @ self.A, self.A
        B[0, 0], B[1:, 0] = self.C @ self.B, self.B
        Q, R = np.diag([error, 0.0, 0.0, 0.0]), np.array([[jerk]])
        P = solve_discrete_are(A, B, Q, R)
        inverse = 1.0 / (R + B.T @ P @ B)
        K = (inverse @ B.T @ P @ A)[0]
        self.integral, self.state = float(K[0]), K[1:]
        closed = (A - B @ K[None, :]).T
        self.preview = np.empty(self.steps)
        self.preview[0] = -self.integral
        X = -closed @ P[:, :1]
        for j in range(1, self.steps):
            self.preview[j] = (inverse @ B.T @ X)[0, 0]
            X = closed @ X

    @property
    def poles(self) -> Array:
        """The closed loop's: all inside the unit circle."""
        A, B = np.zeros((4, 4)), np.zeros(4)
        A[0, 0], A[0, 1:], A[1:, 1:] = 1.0, self.C @ self.A, self.A
        B[0], B[1:] = self.C @ self.B, self.B
        return np.asarray(np.linalg.eigvals(A - np.outer(B, np.r_[self.integral, self.state])))

    def follow(self, zmp_reference: npt.ArrayLike) -> PreviewMotion:
        """From rest above the first row, along references (n × 2); the last row is held after the end."""
        reference = np.asarray(zmp_reference, np.float64).reshape(-1, 2)
        if not np.isfinite(reference).all() or len(reference) == 0:
            raise BadGait("a reference of the zero moment point with no rows, or with numbers that are none")
        ahead = np.vstack([reference, np.repeat(reference[-1:], self.steps, axis=0)])
        x = np.zeros((3, 2))
        x[0] = reference[0]
        total = np.zeros(2)
        rows = np.empty((len(reference), 4, 2))
        for k in range(len(reference)):
            zmp = self.C @ x
            rows[k, :3], rows[k, 3] = x, zmp
            total += zmp - reference[k]
            jerk = -self.integral * total - self.state @ x - self.preview @ ahead[k + 1 : k + 1 + self.steps]
            x = self.A @ x + np.outer(self.B, jerk)
        return PreviewMotion(rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3])
