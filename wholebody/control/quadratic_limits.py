"""How fast a joint may be after the next period, so that it can always still stop before its limits.

A joint at q with velocity v' after a period, that brakes with a from then on, in steps of dt, goes on by at most
(v' − a dt/2)² / 2a ≤ v'² / 2a. It is at q + v' dt by then; so it stays below the limit u if

    v'² / 2a + v' dt ≤ u − q,   that is   v' ≤ −a dt + √(a² dt² + 2a (u − q))

and braking with a keeps that true for ever: the bounds on v̇ never contradict each other, and ±a always meets them.
"""

from __future__ import annotations

import math

from wholebody.model.compiled import compiled


@compiled
def velocity_range(
    q: float, v: float, lower: float, upper: float, fastest: float, braking: float, period: float
) -> tuple[float, float]:
    """The least and greatest velocity a joint may have after a period.

    A joint that is too fast already brakes until it is not; one beyond a limit comes back at a tenth of what braking
    would permit.
    """
    step = braking * period
    high, low = fastest, -fastest
    if upper < math.inf:
        high = min(high, _towards(upper - q, step, braking))
    if lower > -math.inf:
        low = max(low, -_towards(q - lower, step, braking))
    if low > high:  # between limits that are hardly apart: stand still
        low = high = 0.0
    return min(low, v + step), max(high, v - step)


@compiled
def closing_range(distance: float, rate: float, least: float, braking: float, period: float) -> float:
    """The least rate that a distance may have after a period, so that it never comes below `least`."""
    step = braking * period
    return min(-_towards(distance - least, step, braking), rate + step)


@compiled
def _towards(room: float, step: float, braking: float) -> float:
    """How fast one may go towards a limit; from beyond it, back at a tenth of what braking permits."""
    if room >= 0.0:
        return -step + math.sqrt(step * step + 2.0 * braking * room)
    return -0.1 * math.sqrt(-2.0 * braking * room)
