"""Which inertias a body can have, and the nearest one when it has another."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

TOLERANCE = 1e-6
"""Relative to the largest moment: figures are rounded, and round-off makes the smallest moments negative."""


NOTHING = 1e-15
"""Less than this, in kg or kg·m², is nothing: it comes of round-off."""


def fault(inertia: Array) -> str | None:
    """Say why no body has this inertia, 3 × 3: a moment is negative, or more than the sum of the other two."""
    moments = np.linalg.eigvalsh(inertia)
    shown = ", ".join(f"{moment:.3g}" for moment in moments)
    if moments[0] < -TOLERANCE * abs(moments[2]) - NOTHING:
        return f"principal moments {shown} kg·m²; none may be negative"
    if moments[0] + moments[1] < moments[2] * (1 - TOLERANCE) - NOTHING:
        return (
            f"principal moments {shown} kg·m² break the triangle inequality (the largest, {moments[2]:.3g}, is more "
            "than the sum of the others)"
        )
    return None


def nearest(inertia: Array) -> Array:
    """The nearest inertia that a body can have.

    With J = ½ tr(I) 1 − I, the second moment of the mass, I is physical when J is positive semi-definite: J's negative
    eigenvalues become zero, and I = tr(J) 1 − J.
    """
    J = np.trace(inertia) / 2 * np.eye(3) - (inertia + inertia.T) / 2
    values, vectors = np.linalg.eigh(J)
    J = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return np.asarray(np.trace(J) * np.eye(3) - J)
