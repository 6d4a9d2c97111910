"""The kernels of the least losses with which some limits are exactly reached, level by level from the top.

Gradients G of these limits, one block of columns for each level, and excesses b; wanted are losses e with G e = b of
which e₀ is the shortest there is, then e₁, and so on. From the last level up, rotations Q of the rows turn as many rows
of its block as it has rank into ones that only it and the levels above have; those are its to meet:

    Qᵀ G = | T₀             |   one block row for each level: T₀ e₀ = b₀,  T₁ e₁ = b₁ − … e₀,  …
           | …   T₁         |   each by the shortest e = Tᵀ u, u = (T Tᵀ)⁻¹ …
           | …   …   T₂     |   and with prices Q u of the rows

Rows that no level can meet are left to slack, in units of the limits, by least squares. A price says how much the
square of a level's loss would shrink if the limit gave way; a limit that belongs here has prices that are not negative,
the first that is not zero counting.
"""

from __future__ import annotations

import math

from wholebody.control.quadratic_memory import ACTIVE, FORCE, LAST, LEVEL, LEVELS, STRICTLY, Active
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array

DEPENDENT = 1e-9
"""A row of which so small a share is left depends on the others, or on the levels above alone."""

MET = 1e-10
"""What is left of an excess by rounding, as a share of the greatest one."""

LESS = 1e-3
"""How little the loss of a level of forces counts beside the last one of motion; that of the next beside it, too."""

ROUNDING = 1e-9
"""A price below that share of the greatest one of its level is none."""


@compiled
def block_of(active: Active, index: int) -> tuple[int, int]:
    """Where the losses of a level stand, and how many there are; the last has all that follows."""
    start = active.levels[LEVEL * index + 5]
    if index == active.state[STRICTLY] - 1:
        return start, active.state[LAST] - start
    return start, active.levels[LEVEL * index + 4]


@compiled
def lose_forces_with_motion(active: Active) -> None:
    """Levels in strict order; but forces, which come after all motion, lose together with the last level of it.

    To be spared a hundredth of its loss, that would else bend forces without measure where limits all but depend on
    each other, as those of two soles in almost one plane do; and prices drown in rounding.
    """
    levels = active.state[LEVELS]
    active.state[STRICTLY] = 1
    for index in range(levels):
        kind, rank = active.levels[LEVEL * index], active.levels[LEVEL * index + 4]
        if kind < FORCE and rank > 0:
            active.state[STRICTLY] = index + 1
    _measure(active, active.state[STRICTLY])


@compiled
def lose_strictly(active: Active) -> None:
    """All levels in strict order, those of forces too."""
    active.state[STRICTLY] = active.state[LEVELS]
    _measure(active, active.state[LEVELS])


@compiled
def _measure(active: Active, first: int) -> None:
    """Let the losses of levels from `first` on count ever less, those before like one."""
    measure = 1.0
    for index in range(active.state[LEVELS]):
        start, rank = active.levels[LEVEL * index + 5], active.levels[LEVEL * index + 4]
        if index >= first and rank > 0:
            measure /= LESS
        for c in range(start, start + rank):
            active.measure[c] = measure


@compiled
def least_losses(active: Active) -> None:
    """The least losses with all active limits at their bounds, to losses; the prices to active.price."""
    levels, count, losses = active.state[STRICTLY], active.state[ACTIVE], active.losses
    free, _ = block_of(active, 0)
    greatest = _load(active, count, free)
    left = count
    for index in range(levels - 1, -1, -1):
        start, size = block_of(active, index)
        left = _compress(active, left, count, free, start, size)
        active.begin[index] = left
    for i in range(len(losses)):
        losses[i] = 0.0
    _leave_to_slack(active, left, count, greatest)
    for index in range(levels):
        start, size = block_of(active, index)
        end = active.begin[index + 1] if index + 1 < levels else count
        _lose(active, index, active.begin[index], end, free, start, size, greatest)
    for c in range(free, active.state[LAST]):
        losses[c] *= active.measure[c]


@compiled
def _load(active: Active, count: int, free: int) -> float:
    """Gradients of length 1 and excesses of the active limits; the greatest excess."""
    end = active.state[LAST]
    greatest = 0.0
    for k in range(count):
        row, side = active.row[k], active.side[k]
        square = 0.0
        for c in range(free, end):
            square += (active.gradients[row, c] * active.measure[c]) ** 2
        weight = 1.0 / math.sqrt(square) if square > 1e-24 else 1.0
        for c in range(free, end):
            active.M[k, c] = side * weight * active.gradients[row, c] * active.measure[c]
        bound = active.lower[row] if side > 0 else active.upper[row]
        active.weight[k] = weight
        active.excess[k] = side * weight * (bound - active.begun[row])
        greatest = max(greatest, abs(active.excess[k]))
        for j in range(count):
            active.Q[k, j] = 1.0 if j == k else 0.0
    return greatest


@compiled
def _compress(active: Active, left: int, count: int, free: int, start: int, size: int) -> int:
    """Rotate the rows that are left so that few of them have all that there is in a block; how many have nothing."""
    M, square = active.M, active.spare
    for _ in range(size):
        if left == 0:
            break
        for c in range(start, start + size):
            square[c] = 0.0
        for i in range(left):
            for c in range(start, start + size):
                square[c] += M[i, c] * M[i, c]
        best = start
        for c in range(start + 1, start + size):
            if square[c] > square[best]:
                best = c
        if square[best] <= DEPENDENT * DEPENDENT:
            break
        _reflect(active, left, count, free, start + size, best, math.sqrt(square[best]))
        left -= 1
    return left


@compiled
def _reflect(active: Active, left: int, count: int, free: int, end: int, column: int, length: float) -> None:
    """Reflect a column of that length onto the last of the rows that are left, and all else alike."""
    M, Q, excess, v, along = active.M, active.Q, active.excess, active.share, active.spare
    last = left - 1
    for i in range(left):
        v[i] = M[i, column]
    v[last] += length if v[last] > 0.0 else -length
    beta = 1.0 / (length * abs(v[last]))
    for c in range(free, end):
        along[c] = 0.0
    down = 0.0
    for i in range(left):
        down += v[i] * excess[i]
        for c in range(free, end):
            along[c] += v[i] * M[i, c]
    for i in range(left):
        share = beta * v[i]
        excess[i] -= share * down
        for c in range(free, end):
            M[i, c] -= share * along[c]
    for k in range(count):
        total = 0.0
        for i in range(left):
            total += Q[k, i] * v[i]
        total *= beta
        for i in range(left):
            Q[k, i] -= total * v[i]


@compiled
def _leave_to_slack(active: Active, left: int, count: int, greatest: float) -> None:
    """Least slack s, in units of the limits, for the rows that no level can meet: those of Qᵀ s that are left."""
    Q, u, slack, excess, weight = active.Q, active.share, active.slack, active.excess, active.weight
    for k in range(count):
        slack[k] = 0.0
    worst = 0.0
    for i in range(left):
        u[i] = excess[i]
        worst = max(worst, abs(u[i]))
        for j in range(i + 1):
            total = 0.0
            for k in range(count):
                total += Q[k, i] * Q[k, j] * weight[k] * weight[k]
            active.gram[i, j] = total
    if worst <= MET * greatest:
        _set_prices(active, 0, 0, 0)
        return
    _solve_positive(active.gram, u, left)
    _set_prices(active, 0, 0, left)
    for k in range(count):
        slack[k] = weight[k] * weight[k] * _dot_row(Q, k, u, 0, left)
    for i in range(left, count):
        for k in range(count):
            excess[i] -= Q[k, i] * slack[k]
    for k in range(count):
        slack[k] /= weight[k]


@compiled
def _lose(active: Active, index: int, begin: int, end: int, free: int, start: int, size: int, greatest: float) -> None:
    """The shortest loss of a level that meets its rows, with the losses above as they are: T = L O, e = Oᵀ L⁻¹ …"""
    losses = active.losses
    M, L, u = active.M, active.gram, active.share
    rows, worst = end - begin, 0.0
    for i in range(rows):
        u[i] = active.excess[begin + i] - _dot_row(M, begin + i, losses, free, start)
        worst = max(worst, abs(u[i]))
    if worst <= MET * greatest:
        _set_prices(active, index + 1, begin, begin)
        return
    _orthogonalise(M, L, begin, rows, start, size)
    for i in range(rows - 1, -1, -1):
        for k in range(i + 1, rows):
            u[i] -= L[i, k] * u[k]
        u[i] /= L[i, i]
        for c in range(start, start + size):
            losses[c] += M[begin + i, c] * u[i]
    for i in range(rows):
        for k in range(i):
            u[i] -= L[k, i] * u[k]
        u[i] /= L[i, i]
    _set_prices(active, index + 1, begin, end)


@compiled
def _orthogonalise(M: Array, L: Array, begin: int, rows: int, start: int, size: int) -> None:
    """T = L O from the last row up, the one that was longest, with O in the place of T; twice, against rounding."""
    for i in range(rows - 1, -1, -1):
        for k in range(i, rows):
            L[i, k] = 0.0
        for _ in range(2):
            for k in range(i + 1, rows):
                along = 0.0
                for c in range(start, start + size):
                    along += M[begin + i, c] * M[begin + k, c]
                L[i, k] += along
                for c in range(start, start + size):
                    M[begin + i, c] -= along * M[begin + k, c]
        square = 0.0
        for c in range(start, start + size):
            square += M[begin + i, c] * M[begin + i, c]
        L[i, i] = math.sqrt(square)
        for c in range(start, start + size):
            M[begin + i, c] /= L[i, i]


@compiled
def _set_prices(active: Active, order: int, begin: int, end: int) -> None:
    """The prices Q u of all rows at one level, and none where rounding left some."""
    count, greatest = active.state[ACTIVE], 0.0
    for k in range(count):
        total = 0.0
        for i in range(begin, end):
            total += active.Q[k, i] * active.share[i - begin]
        active.price[k, order] = total
        greatest = max(greatest, abs(total))
    for k in range(count):
        if abs(active.price[k, order]) <= ROUNDING * greatest:
            active.price[k, order] = 0.0


@compiled
def _dot_row(M: Array, row: int, x: Array, begin: int, end: int) -> float:
    total = 0.0
    for c in range(begin, end):
        total += M[row, c] * x[c]
    return total


@compiled
def _solve_positive(G: Array, x: Array, size: int) -> None:
    """x ← G⁻¹ x by the lower half of G, which is lost."""
    for i in range(size):
        for j in range(i + 1):
            total = G[i, j]
            for k in range(j):
                total -= G[i, k] * G[j, k]
            G[i, j] = math.sqrt(max(total, 1e-30)) if i == j else total / G[j, j]
    for i in range(size):
        for k in range(i):
            x[i] -= G[i, k] * x[k]
        x[i] /= G[i, i]
    for i in range(size - 1, -1, -1):
        for k in range(i + 1, size):
            x[i] -= G[k, i] * x[k]
        x[i] /= G[i, i]
