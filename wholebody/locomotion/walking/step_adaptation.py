"""Catching: how far the divergent component goes along with a foot that is put elsewhere, and all steps after it."""

from __future__ import annotations

import math

import numpy as np

from wholebody.model.layout import Array

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(8)


SHARES: Array = 0.5 * (1.0 + _POINTS)
"""Of the time of a swing: where it is looked at to integrate over it (Gauss and Legendre)."""


WAYS: Array = 0.5 * _WEIGHTS * SHARES**3 * (10.0 - 15.0 * SHARES + 6.0 * SHARES**2)


LEAST = 0.25
"""Of what the weight alone would do: legs so heavy that less is left are not for catching."""


def caught_by_a_step(omega: float, leg_share: float, left: float, double_support: float, then: float) -> float:
    """Δξ / d of the plan when a foot lands that is put further by d, in `left` seconds, as is all that follows.

    ξ(t) of a pendulum is ω ∫ eᵚ⁽ᵗ⁻ˢ⁾ z(s) ds over all that comes. The weight goes over to the foot in the time T of
    double support: (1 − e⁻ᵚᵀ) / ωT. But the legs that go further, this one and the other in its swing of `then` seconds
    (none if 0), put z back by leg_share of their ways, see Pattern.
    """
    slow = omega * double_support
    weight = -math.expm1(-slow) / slow
    legs = math.exp(omega * left) * _way_to_come(omega, left)
    if then > 0.0:
        legs += math.exp(-slow) * _way_to_come(omega, then)
    return max(weight - leg_share * legs, LEAST * weight)


def _way_to_come(omega: float, duration: float) -> float:
    """ω ∫ e⁻ᵚᵗ x(t) dt of a foot that goes a metre in that time, and stays there."""
    total = float(WAYS @ np.exp(-omega * duration * SHARES))
    return omega * duration * total + math.exp(-omega * duration)
