"""Trajectory: a motion as a function of time, with its velocity and acceleration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from wholebody import _kernels
from wholebody.errors import BadMotion

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sample:
    """Position, velocity and acceleration at one time, or with one row for each of many times."""

    time: Array
    position: Array
    velocity: Array
    acceleration: Array


@runtime_checkable
class Trajectory(Protocol):
    """A motion from time 0 to its duration.

    Before time 0 it stands where it begins, after its duration where it ends, at rest. A trajectory of poses has 7
    numbers of position (x y z, quaternion x y z w) and 6 of velocity (linear, then angular, in the axes of the world).
    """

    @property
    def duration(self) -> float:
        """Seconds from the beginning to the end."""
        ...

    def at(self, time: float) -> Sample:
        """Position, velocity and acceleration at a time."""
        now = self.sample((time,))
        return Sample(now.time[0], now.position[0], now.velocity[0], now.acceleration[0])

    def sample(self, times: npt.ArrayLike) -> Sample:
        """The same at many times: one row for each."""
        ...


def instants(times: npt.ArrayLike) -> Array:
    """Times to sample at, as an array; BadMotion if one of them is no number."""
    asked = np.ascontiguousarray(times, np.float64)
    if asked.ndim != 1:
        raise BadMotion(f"times to sample at are one row of numbers, not an array of shape {asked.shape}")
    if not np.isfinite(asked).all():
        raise BadMotion(f"a trajectory has no value at time {asked[~np.isfinite(asked)][0]}")
    return asked


def steps(duration: float, period: float) -> Array:
    """Times 0, period, 2 period, … up to the first that is not before the end."""
    if not (np.isfinite(period) and period > 0):
        raise BadMotion(f"a period is a positive number of seconds, not {period}")
    count = int(np.ceil(duration / period - 1e-9)) + 1
    return np.arange(count, dtype=np.float64) * period


class PiecewisePolynomial(Trajectory):
    """x(t) = Σₖ c[i, k] (t − tᵢ)ᵏ for tᵢ ≤ t ≤ tᵢ₊₁, with c of shape (pieces, powers, numbers)."""

    def __init__(self, times: npt.ArrayLike, coefficients: npt.ArrayLike) -> None:
        self.times = np.array(times, np.float64)
        self.coefficients = np.array(coefficients, np.float64, order="C")
        if self.coefficients.ndim != 3 or not 0 < len(self.coefficients) == len(self.times) - 1:
            raise BadMotion(
                f"{len(self.times)} times need {len(self.times) - 1} pieces of (powers, numbers), "
                f"not coefficients of shape {self.coefficients.shape}"
            )
        if self.times[0] != 0 or not (np.diff(self.times) > 0).all() or not np.isfinite(self.times[-1]):
            raise BadMotion(f"times begin at 0 and increase, unlike {self.times}")
        if not np.isfinite(self.coefficients).all():
            raise BadMotion("a polynomial with a coefficient that is no finite number")
        for array in (self.times, self.coefficients):
            array.flags.writeable = False

    @property
    def duration(self) -> float:
        return float(self.times[-1])

    def sample(self, times: npt.ArrayLike) -> Sample:
        asked = instants(times)
        result = np.empty((3, len(asked), self.coefficients.shape[2]))
        _kernels.motion_evaluate(self.times, self.coefficients, self.coefficients.shape[1], asked, result)
        return Sample(asked, result[0], result[1], result[2])


def joined(parts: Sequence[PiecewisePolynomial]) -> PiecewisePolynomial:
    """Polynomials one after the other."""
    powers = max(part.coefficients.shape[1] for part in parts)
    times, coefficients = [np.zeros(1)], []
    for part in parts:
        times.append(times[-1][-1] + part.times[1:])
        coefficients.append(np.pad(part.coefficients, ((0, 0), (0, powers - part.coefficients.shape[1]), (0, 0))))
    return PiecewisePolynomial(np.concatenate(times), np.concatenate(coefficients))
