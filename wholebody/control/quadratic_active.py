"""The kernels that find which limits are active: a dual active-set method whose objective is a sequence of levels.

Begin with the limits that were active in the cycle before, less those whose price is negative. Then, as long as a limit
is violated, make the worst one active. On the way there prices change in proportion; the first that would become
negative stops the way: its limit is let go, and the way goes on from there. Prices are compared level by level from the
top, as numbers p₀ + p₁ ω + p₂ ω² + … with ω as small as you like; what is left to slack comes before all levels. If
slack remains in the end, the limits contradict each other, and no motion exceeds them by a smaller sum of squares.
"""

from __future__ import annotations

import math

from wholebody.control.quadratic_gradients import fill_gradient
from wholebody.control.quadratic_least import block_of, least_losses, lose_forces_with_motion, lose_strictly
from wholebody.control.quadratic_levels import WELL
from wholebody.control.quadratic_memory import ACTIVE, LAST, LISTED, ROWS, SOLVED, STRICTLY, Active, All
from wholebody.control.quadratic_motion import complete
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array

UNSETTLED = 3
"""What a cycle can end with besides what it begins with: limits of which none can be told to be the active ones."""

VIOLATED = 1e-8
"""How far beyond its bound a limit is violated, in its own unit."""

FEW_STEPS, MOST_STEPS = 100, 300
"""So many sets of active limits are tried: one or two in a cycle like the one before, without a guess some fifty.

Where levels lose very much, rounding can make the same limits come and go for ever. It hardly does so twice: after a
few steps, another way is tried from the beginning.
"""

ASKED_FOR = 2
"""Of a row: its gradient is wanted, but not yet known."""


@compiled
def settle(a: All) -> int:
    """From the solution without limits to the one that keeps them; active limits of the cycle before are a guess."""
    active, state = a.active, a.work.state
    state[SOLVED] = 0
    for row in range(state[ROWS]):
        active.begun[row] = active.value[row]
    lose_forces_with_motion(active)
    guessed, state[ACTIVE] = state[ACTIVE], 0
    if not list_violated(active):
        return WELL
    state[ACTIVE] = guessed
    verdict = _settle_from_guess(a, FEW_STEPS)
    if verdict == UNSETTLED:
        lose_strictly(active)
        state[ACTIVE] = 0
        verdict = _settle_from_guess(a, MOST_STEPS)
    return verdict


@compiled
def _settle_from_guess(a: All, most: int) -> int:
    """Begin with the limits that are active, and go on until none is violated; UNSETTLED if that takes too long."""
    active = a.active
    most += active.state[SOLVED]
    _list_guessed(active)
    learn_listed(a)
    _trim_guess(active)
    while _meet_listed(active, most):
        verdict = complete(a)
        if verdict != WELL or not list_violated(active):
            return verdict
        learn_listed(a)
    return UNSETTLED


@compiled
def learn_listed(a: All) -> None:
    """Know the gradients of all limits that are listed."""
    for index in range(a.work.state[LISTED]):
        row = a.active.listed[index]
        if a.active.known[row] == ASKED_FOR:
            fill_gradient(a, row)


@compiled
def list_violated(active: Active) -> bool:
    """Note the limits that are violated and not active; whether there are any."""
    found = False
    for row in range(active.state[ROWS]):
        beyond = max(active.lower[row] - active.value[row], active.value[row] - active.upper[row])
        if beyond > VIOLATED and _place(active, row) < 0:
            found = True
            _list(active, row)
    return found


@compiled
def _list(active: Active, row: int) -> None:
    """Ask for the gradient of a limit."""
    if active.known[row] == 0:
        active.known[row] = ASKED_FOR
        active.listed[active.state[LISTED]] = row
        active.state[LISTED] += 1


@compiled
def _place(active: Active, row: int) -> int:
    """Where in the list a limit is active, or −1."""
    for k in range(active.state[ACTIVE]):
        if active.row[k] == row:
            return k
    return -1


@compiled
def _list_guessed(active: Active) -> None:
    """Ask for the gradients of the limits that were active before, and let go of those that have no bound now."""
    for k in range(active.state[ACTIVE] - 1, -1, -1):
        row = active.row[k]
        bound = active.lower[row] if active.side[k] > 0 else active.upper[row]
        if row >= active.state[ROWS] or not math.isfinite(bound):
            _let_go(active, k)
        else:
            _list(active, row)


@compiled
def _trim_guess(active: Active) -> None:
    """Losses with the limits active that were so before, as long as their prices say that they belong here."""
    while True:
        least_losses(active)
        active.state[SOLVED] += 1
        worst, order, least = -1, active.state[STRICTLY] + 1, 0.0
        for k in range(active.state[ACTIVE]):
            at, price = _leading(active, active.price, k)
            if price < 0.0 and (at < order or (at == order and price < least)):
                worst, order, least = k, at, price
        if worst < 0:
            return
        _let_go(active, worst)


@compiled
def _leading(active: Active, price: Array, k: int) -> tuple[int, float]:
    """The first price of a limit that is not zero, and of which level it is."""
    orders = active.state[STRICTLY] + 1
    for order in range(orders):
        if price[k, order] != 0.0:
            return order, price[k, order]
    return orders, 0.0


@compiled
def _let_go(active: Active, k: int) -> None:
    """Take a limit out of the list."""
    last = active.state[ACTIVE] - 1
    for j in range(k, last):
        active.row[j], active.side[j] = active.row[j + 1], active.side[j + 1]
        for order in range(active.state[STRICTLY] + 1):
            active.before[j, order] = active.before[j + 1, order]
    active.state[ACTIVE] = last


@compiled
def _meet_listed(active: Active, most: int) -> bool:
    """Make limits active until none whose gradient is known is violated; False if that takes too long."""
    while True:
        row, side = _worst_listed(active)
        if row < 0:
            return True
        if active.state[ACTIVE] == len(active.row):
            return False
        _take_up(active, row, side)
        while True:
            least_losses(active)
            active.state[SOLVED] += 1
            if active.state[SOLVED] >= most:
                return False
            k = _go_on(active)
            if k < 0:
                break
            _let_go(active, k)


@compiled
def _worst_listed(active: Active) -> tuple[int, int]:
    """The limit that is violated most by the losses as they are, and at which bound; −1 if there is none."""
    begin, end = block_of(active, 0)[0], active.state[LAST]
    worst, row_of_worst, side = VIOLATED, -1, 1
    for index in range(active.state[LISTED]):
        row = active.listed[index]
        value = active.begun[row]
        for c in range(begin, end):
            value += active.gradients[row, c] * active.losses[c]
        beyond = max(active.lower[row] - value, value - active.upper[row])
        if beyond > worst and _place(active, row) < 0:
            worst, row_of_worst = beyond, row
            side = 1 if active.lower[row] - value > value - active.upper[row] else -1
    return row_of_worst, side


@compiled
def _take_up(active: Active, row: int, side: int) -> None:
    """Make a limit active, at no price yet; the prices of the others are where the way begins."""
    k, orders = active.state[ACTIVE], active.state[STRICTLY] + 1
    for j in range(k):
        for order in range(orders):
            active.before[j, order] = active.price[j, order]
    active.row[k], active.side[k] = row, side
    for order in range(orders):
        active.before[k, order] = 0.0
    active.state[ACTIVE] = k + 1


@compiled
def _go_on(active: Active) -> int:
    """Go from the prices before to those of now, as far as none becomes negative; who stops the way, or −1.

    Of prices p > 0 before and p' < 0 now, the way stops at p / (p − p'): in the middle if both are of one level, at
    once if p is of a lower level than p', all but at the end if it is of a higher one.
    """
    stop, order, share = -1, active.state[STRICTLY] + 2, 2.0
    for k in range(active.state[ACTIVE] - 1):
        at, price = _leading(active, active.price, k)
        if price >= 0.0:
            continue
        was_at, was = _leading(active, active.before, k)
        if was <= 0.0:
            return k
        earlier = at - was_at
        part = was / (was - price) if earlier == 0 else (was / -price if earlier < 0 else price / was)
        if earlier < order or (earlier == order and part < share):
            stop, order, share = k, earlier, part
    if stop >= 0:
        _mix(active, order, share)
    return stop


@compiled
def _mix(active: Active, shift: int, share: float) -> None:
    """Prices where the way stops: before + s (now − before), s = share ωˢʰⁱᶠᵗ, or 1 + share ωˢʰⁱᶠᵗ near its end."""
    orders = active.state[STRICTLY] + 1
    for k in range(active.state[ACTIVE]):
        for order in range(orders - 1, -1, -1):
            from_order = order - abs(shift)
            moved = active.price[k, from_order] - active.before[k, from_order] if from_order >= 0 else 0.0
            start = active.price[k, order] if shift > 0 else active.before[k, order]
            active.before[k, order] = start + share * moved
