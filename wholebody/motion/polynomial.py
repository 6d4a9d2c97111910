"""PiecewisePolynomial: the trajectory behind every spline, one polynomial between each two times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from wholebody import _kernels
from wholebody.errors import BadMotion
from wholebody.motion.trajectory import Sample, instants, only


class PiecewisePolynomial:
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
        """Seconds from the beginning to the end."""
        return float(self.times[-1])

    def at(self, time: float) -> Sample:
        """Position, velocity and acceleration at a time."""
        return only(self.sample((time,)))

    def sample(self, times: npt.ArrayLike) -> Sample:
        """The same at many times: one row for each."""
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
