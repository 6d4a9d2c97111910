"""The kernels of the forces of contacts: which follow from the motion, and the levels that decide on the others."""

from __future__ import annotations

from wholebody.control.forces import count_pressed, fill_pressed
from wholebody.control.quadratic_chain import Chain, factor_gram, factor_level, rotate
from wholebody.control.quadratic_memory import (
    FORCE,
    HELD,
    LAST,
    LEVEL,
    LOOSE,
    PRESSED,
    PUSHED,
    TURNED,
    All,
    Work,
)
from wholebody.control.rows import ENABLED
from wholebody.control.table import task_line
from wholebody.model.compiled import compiled
from wholebody.model.cut import at_address, cut
from wholebody.model.layout import Array, Integers, Values
from wholebody.tasks.kinds import FIRST_OF_CONTACTS


@compiled
def note_level(work: Work, count: int, kind: int, first: int, columns: int, at: int, rank: int) -> int:
    """Write a level down, its losses after those of the levels before; how many levels there are now."""
    i = LEVEL * count
    work.levels[i], work.levels[i + 1], work.levels[i + 2] = kind, first, columns
    work.levels[i + 3], work.levels[i + 4] = at, rank
    work.levels[i + 5] = work.state[LAST]
    work.state[LAST] += rank
    return count + 1


@compiled
def factor_pushes(table: Integers, now: Values, a: All, held: int, tolerance: float) -> tuple[int, int]:
    """S̄ Jcᵀ λ = S̄ f in rotated coordinates of λ; what it cannot push, W with Wᵀ S̄ Jcᵀ = 0, goes to memory.free.

    Columns of the force chain: joints without a motor, tasks on forces, joints with one.
    """
    chain, sizes, work = a.force, a.sizes, a.work
    pressed = count_pressed(table, sizes, a.memory)
    work.state[PRESSED] = pressed
    passive, driven = sizes.passive, sizes.driven
    width = passive + pressed + driven
    for c in range(width):
        chain.origin[c] = c
        chain.target[c] = 0.0
    for k in range(sizes.held):
        chain.y[k] = 0.0
        for c in range(passive):
            chain.A[k, c] = work.K[a.passive[c], k]
        for c in range(pressed):
            chain.A[k, passive + c] = 0.0
        for c in range(driven):
            chain.A[k, passive + pressed + c] = work.K[a.driven[c], k]
    if pressed > 0:
        fill_pressed(table, sizes, a.memory, now, chain.A, chain.target)
    rank = factor_level(chain, 0, passive, width, 0, tolerance) if held > 0 else 0
    free = a.memory.free
    for k in range(passive - rank):
        for c in range(passive):
            free[k, c] = 0.0
        free[k, chain.origin[rank + k]] = 1.0
        for i in range(rank - 1, -1, -1):
            total = -chain.A[i, rank + k]
            for j in range(i + 1, rank):
                total -= chain.A[i, j] * free[k, chain.origin[j]]
            free[k, chain.origin[i]] = total / chain.A[i, i]
    return rank, passive - rank


@compiled
def through_pushes(a: All, row: Array, gradient: Array) -> None:
    """Of a row on λ: rotate it, and add what it has on u by way of S̄ Jcᵀ λ = S̄ Lᵀ u to the gradient."""
    turned = cut(row, 0, (a.work.state[HELD],))
    rotate(a.force, min(a.work.state[TURNED], a.work.state[HELD]), turned)
    push(a, turned, gradient)


@compiled
def push(a: All, turned: Array, gradient: Array) -> None:
    """The same for a row that is rotated already."""
    chain, pushed = a.force, a.work.state[PUSHED]
    p = a.work.zeta
    for i in range(pushed - 1, -1, -1):
        total = turned[i]
        for j in range(i + 1, pushed):
            total -= chain.A[i, j] * p[j]
        p[i] = total / chain.A[i, i]
    L = a.memory.L
    for c in range(pushed):
        column = a.passive[chain.origin[c]]
        for i in range(column, a.n):
            gradient[i] += p[c] * L[i, column]


@compiled
def factor_forces(table: Integers, a: All, count: int, tolerance: float, hard: float) -> int:
    """The levels of the tasks on forces, those of one level of the problem together, and that of the least efforts."""
    chain, sizes, work = a.force, a.sizes, a.work
    held, used = work.state[HELD], work.state[PUSHED]
    passive, pressed = sizes.passive, work.state[PRESSED]
    width = passive + pressed + sizes.driven
    first, level, columns = passive, 0, 0
    for index in range(sizes.tasks if pressed > 0 else 0):
        line = task_line(table, index)
        if line.kind < FIRST_OF_CONTACTS or at_address(line.address, line.length)[0] != ENABLED:
            continue
        on = a.memory.first_of_constraint[line.contact_a] >= 0
        if line.contact_b >= 0:
            on = on and a.memory.first_of_constraint[line.contact_b] >= 0
        if not on:
            continue
        if line.level != level and columns > 0:
            rank = _factor_force(chain, first, first + columns, width, used, held, tolerance)
            count = note_level(work, count, FORCE, first, columns, used, rank)
            first, columns, used = first + columns, 0, used + rank
        level = line.level
        columns += line.rows
    if columns > 0:
        rank = _factor_force(chain, first, first + columns, width, used, held, tolerance)
        count = note_level(work, count, FORCE, first, columns, used, rank)
        used += rank
    rank = _factor_force(chain, passive + pressed, width, width, used, held, hard)
    count = note_level(work, count, FORCE, passive + pressed, sizes.driven, used, rank)
    used += rank
    work.state[TURNED] = used
    return note_level(work, count, LOOSE, 0, 0, used, held - used)


@compiled
def _factor_force(chain: Chain, first: int, end: int, width: int, used: int, held: int, tolerance: float) -> int:
    rank = factor_level(chain, first, end, width, used, tolerance) if used < held else 0
    factor_gram(chain, first, end - first, used, rank)
    return rank
