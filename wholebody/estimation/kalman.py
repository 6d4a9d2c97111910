"""The step that every Kalman filter here shares: believe one number, by the Joseph form.

Rows whose noises are independent may be taken one after the other: that is the same as all at once, and inverts
nothing. The sum of what `believe` returns is then the normalised innovation squared of all of them.
"""

from __future__ import annotations

from wholebody.model.compiled import compiled
from wholebody.model.layout import Array


@compiled
def believe(P: Array, error: Array, row: Array, difference: float, variance: float, gate: float, work: Array) -> float:
    """Correct an error state by one measured number; returns its normalised innovation squared, y² / s.

    y = difference − h · error, s = h P hᵀ + r, K = P hᵀ / s, error += K y, P ← (1 − K h) P (1 − K h)ᵀ + r K Kᵀ.
    The difference is measured minus predicted. If y² / s is above the gate, r grows until it is there: what is very
    unlikely moves the state by no more than what is just likely. `work` has three rows as long as the state.
    """
    n = len(error)
    Ph, K, AhT = work[0], work[1], work[2]
    s, y = variance, difference
    for i in range(n):
        Ph[i] = 0.0
    for j in range(n):
        if row[j] != 0.0:
            for i in range(n):
                Ph[i] += row[j] * P[j, i]
            y -= row[j] * error[j]
    for j in range(n):
        s += row[j] * Ph[j]
    surprise = y * y / s
    if surprise > gate:
        variance += y * y / gate - s
        s = y * y / gate
    for i in range(n):
        K[i] = Ph[i] / s
        error[i] += K[i] * y
        AhT[i] = 0.0
    for i in range(n):
        for j in range(n):
            P[i, j] -= K[i] * Ph[j]
    for j in range(n):
        if row[j] != 0.0:
            for i in range(n):
                AhT[i] += row[j] * P[i, j]
    for i in range(n):
        for j in range(n):
            P[i, j] += (variance * K[i] - AhT[i]) * K[j]
    return surprise


@compiled
def symmetrise(P: Array) -> None:
    """Take away what rounding makes of a covariance."""
    for i in range(len(P)):
        for j in range(i):
            P[i, j] = P[j, i] = 0.5 * (P[i, j] + P[j, i])
