"""The kernels that factor the levels of a problem once in a cycle; what limits then change are values, not factors."""

from __future__ import annotations

import math

from wholebody.control.forces import count_pressed, fill_pressed
from wholebody.control.memory import carve
from wholebody.control.quadratic_chain import Chain, factor_gram, factor_level, rotate, solve_level
from wholebody.control.quadratic_memory import (
    FIRST,
    FORCE,
    FREE,
    HARD_TOLERANCE,
    HELD,
    LAST,
    LEVEL,
    LEVELS,
    LOOSE,
    MOTION,
    PERIOD,
    PRESSED,
    PUSHED,
    REST,
    ROTATED,
    STRICT,
    TASK_TOLERANCE,
    TURNED,
    WIDTH,
    All,
    Work,
)
from wholebody.control.rows import ENABLED, count_constraints, count_tasks, fill_constraints, fill_tasks
from wholebody.control.table import constraint_line, task_line
from wholebody.control.whitening import factor, whiten
from wholebody.model.compiled import compiled
from wholebody.model.cut import at_address, cut
from wholebody.model.layout import Array, Integers, Values, tree
from wholebody.tasks import kinds
from wholebody.tasks.center_of_pressure import pressure_rows
from wholebody.tasks.evaluate import goal_of
from wholebody.tasks.kinds import FIRST_OF_CONTACTS

WELL, NOT_FINITE, NOT_POSITIVE = 0, 1, 2
"""What a cycle can begin with: well, with a number that is none, or at a mass matrix that is not positive."""


@compiled
def factor_levels(
    integers: Integers,
    numbers: Array,
    now: Values,
    table: Integers,
    own: Array,
    settings: Array,
    weights: Array,
    a: All,
    work_numbers: Array,
    output: Array,
) -> int:
    """Rows of everything, whitened and reflected level by level; the levels themselves go to work.levels."""
    fixed, floating = tree(integers, numbers), integers[5] == 1
    n, sizes, memory, work, chain = a.n, a.sizes, a.memory, a.work, a.motion
    out = carve(a.joints, n, sizes.held, sizes.shown, output)
    hard = settings[HARD_TOLERANCE]
    for i in range(len(work.losses)):
        work.losses[i] = 0.0
    held = count_constraints(table, sizes, memory)
    K = work.K
    for i in range(n):
        for c in range(sizes.held):
            K[i, c] = 0.0
    fill_constraints(fixed, now, floating, table, sizes, memory, own, K)
    pushed, free = _factor_pushes(table, now, a, held, hard)
    work.state[TURNED] = pushed
    bound = pushed == held
    width = count_tasks(now, table, sizes, memory, held + free, bound)
    A = chain.A
    for i in range(n):
        for c in range(held):
            A[i, c] = K[i, c]
        for c in range(held, width):
            A[i, c] = 0.0
    spare = cut(work_numbers, len(work_numbers) - n * chain.A.shape[1], (n * chain.A.shape[1],))
    fill_tasks(
        fixed, now, floating, table, sizes, memory, own, settings[PERIOD], A, held + free, bound, out.error, spare
    )
    for i in range(n):
        memory.h[i] = now.h[i] - now.g[i] + now.compensation[i]
    if not factor(now.M, memory.L):
        return NOT_POSITIVE
    whiten(memory.L, A, memory.h)
    state = work.state
    state[HELD], state[FREE], state[PUSHED], state[WIDTH], state[FIRST] = held, free, pushed, width, held + free
    _columns_of_forces(table, now, a, bound)
    _targets(a)
    for c in range(width):
        chain.origin[c] = c
        total = chain.target[c]
        for i in range(n):
            total += A[i, c]
        if not math.isfinite(total):
            return NOT_FINITE
    used = factor_level(chain, 0, held, width, 0, hard)
    none = cut(work.losses, 0, (n,))
    _solve_once(chain, 0, held, 0, used, none)
    more = factor_level(chain, held, held + free, width, used, hard)
    _solve_once(chain, held, free, used, more, none)
    used += more
    _add_forces(a, used)
    if settings[STRICT] == 0.0:
        for level in range(1, sizes.levels):
            memory.first_of_level[level] = width
    _weigh(table, a, weights)
    count = 0
    state[LAST] = used
    for level in range(sizes.levels):
        first = memory.first_of_level[level]
        end = memory.first_of_level[level + 1]
        tolerance = settings[TASK_TOLERANCE] if settings[STRICT] > 0.0 else hard
        rank = factor_level(chain, first, end, width, used, tolerance)
        count = _note_level(work, count, MOTION, first, end - first, used, rank)
        used += rank
        factor_gram(chain, first, end - first, used - rank, rank)
    state[ROTATED] = used
    count = _note_level(work, count, REST, 0, 0, used, n - used)
    state[LEVELS] = _factor_forces(table, a, count, hard)
    return WELL


@compiled
def _solve_once(chain: Chain, first: int, count: int, used: int, rank: int, none: Array) -> None:
    """Decide what no limit can change."""
    factor_gram(chain, first, count, used, rank)
    solve_level(chain, first, count, used, rank, none)


@compiled
def _note_level(work: Work, count: int, kind: int, first: int, columns: int, at: int, rank: int) -> int:
    i = LEVEL * count
    work.levels[i], work.levels[i + 1], work.levels[i + 2] = kind, first, columns
    work.levels[i + 3], work.levels[i + 4] = at, rank
    work.levels[i + 5] = work.state[LAST]
    work.state[LAST] += rank
    return count + 1


@compiled
def _factor_pushes(table: Integers, now: Values, a: All, held: int, tolerance: float) -> tuple[int, int]:
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
def _columns_of_forces(table: Integers, now: Values, a: All, bound: bool) -> None:
    """Columns that speak of u itself: L S̄ᵀ w of what nothing pushes, and centres of pressure that are motion."""
    memory, A, held = a.memory, a.motion.A, a.work.state[HELD]
    for k in range(a.work.state[FREE]):
        for i in range(a.n):
            total = 0.0
            for c in range(len(a.passive)):
                if a.passive[c] <= i:
                    total += memory.L[i, a.passive[c]] * memory.free[k, c]
            A[i, held + k] = total
    row, column = a.work.spare, a.work.gradient
    for index in range(a.sizes.tasks if bound else 0):
        line = task_line(table, index)
        at = memory.first_of_task[index]
        if line.kind != kinds.CENTER_OF_PRESSURE or at < 0:
            continue
        first = memory.first_of_constraint[line.contact_a]
        contact = constraint_line(table, line.contact_a)
        goal = goal_of(at_address(line.address, line.length), line.rows, 0, 2)
        pressure_rows(now.placement[contact.frame], goal, memory.B)
        for r in range(line.rows):
            for c in range(held):
                row[c] = memory.B[r, c - first] if first <= c < first + 6 else 0.0
            for i in range(a.n):
                column[i] = 0.0
            through_pushes(a, row, column)
            for i in range(a.n):
                A[i, at + r] = column[i]


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
def _targets(a: All) -> None:
    """The right-hand side of each column: ẍ* − J̇ v + Xᵀ L⁻ᵀ h; nothing of these in columns that speak of u itself."""
    memory, state, chain = a.memory, a.work.state, a.motion
    held, width = state[HELD], state[WIDTH]
    target = chain.target
    for c in range(held):
        target[c] = -memory.held_bias[c]
    for c in range(held, width):
        target[c] = memory.error[c] - memory.bias[c]
    for i in range(a.n):
        h = memory.h[i]
        for c in range(width):
            target[c] += chain.A[i, c] * h
    for c in range(held, width):
        if c < state[FIRST] or memory.source[c] < 0:
            target[c] = 0.0


@compiled
def _add_forces(a: All, used: int) -> None:
    """Add Λ⁻¹ F to what is wanted, task by task, with Λ⁻¹ of what constraints and motors leave: the rows not used."""
    force, A = a.memory.force, a.motion.A
    width, begun = a.work.state[WIDTH], 0
    for c in range(a.work.state[FIRST], width):
        if a.memory.source[c] == 0:  # a task begins
            begun = c
        if force[c] != 0.0:
            for other in range(begun, min(begun + 3, width)):
                total = 0.0
                for i in range(used, a.n):
                    total += A[i, c] * A[i, other]
                a.motion.target[other] += total * force[c]


@compiled
def _weigh(table: Integers, a: All, weights: Array) -> None:
    """Multiply the rows of each task by the root of its weight."""
    chain, memory = a.motion, a.memory
    for index in range(a.sizes.tasks):
        first = memory.first_of_task[index]
        root = math.sqrt(weights[index])
        if first < 0 or root == 1.0:
            continue
        end = a.work.state[WIDTH]
        for other in range(a.sizes.tasks):
            if memory.first_of_task[other] > first:
                end = min(end, memory.first_of_task[other])
        for c in range(first, end):
            chain.target[c] *= root
            for i in range(a.n):
                chain.A[i, c] *= root


@compiled
def _factor_forces(table: Integers, a: All, count: int, tolerance: float) -> int:
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
            count = _note_level(work, count, FORCE, first, columns, used, rank)
            first, columns, used = first + columns, 0, used + rank
        level = line.level
        columns += line.rows
    if columns > 0:
        rank = _factor_force(chain, first, first + columns, width, used, held, tolerance)
        count = _note_level(work, count, FORCE, first, columns, used, rank)
        used += rank
    rank = _factor_force(chain, passive + pressed, width, width, used, held, tolerance)
    count = _note_level(work, count, FORCE, passive + pressed, sizes.driven, used, rank)
    used += rank
    work.state[TURNED] = used
    return _note_level(work, count, LOOSE, 0, 0, used, held - used)


@compiled
def _factor_force(chain: Chain, first: int, end: int, width: int, used: int, held: int, tolerance: float) -> int:
    rank = factor_level(chain, first, end, width, used, tolerance) if used < held else 0
    factor_gram(chain, first, end - first, used, rank)
    return rank
