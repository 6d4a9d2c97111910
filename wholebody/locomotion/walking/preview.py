"""Preview control: a centre of mass whose zero moment point follows a reference that is known some time ahead.

x = (p, ṗ, p̈) is moved by jerk u, x⁺ = A x + B u, and presses at z = C x = p − p̈ / ω². What minimises
Σ Q (z − z_ref)² + R Δu² is

    u = −G_I Σ (z − z_ref) − G_x x − Σⱼ G_d(j) z_ref(k + j),

with gains from the discrete Riccati equation of the system extended by its error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_discrete_are

from wholebody.errors import BadGait
from wholebody.locomotion.walking.pendulum import GRAVITY
from wholebody.model.layout import Array


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
