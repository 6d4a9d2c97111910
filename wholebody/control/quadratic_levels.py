"""The kernels that factor the levels of a problem once in a cycle; what limits then change are values, not factors."""

from __future__ import annotations

import math

from wholebody.control.memory import carve
from wholebody.control.quadratic_chain import Chain, factor_gram, factor_level, solve_level
from wholebody.control.quadratic_fading import begin_with_the_law
from wholebody.control.quadratic_forces import factor_forces, factor_pushes, note_level, through_pushes
from wholebody.control.quadratic_memory import (
    FIRST,
    FREE,
    HARD_TOLERANCE,
    HELD,
    LAST,
    LEVELS,
    MOTION,
    PERIOD,
    PUSHED,
    REST,
    ROTATED,
    STRICT,
    TASK_TOLERANCE,
    TURNED,
    WIDTH,
    All,
)
from wholebody.control.rows import count_constraints, count_tasks, fill_constraints, fill_tasks
from wholebody.control.table import constraint_line, task_line
from wholebody.control.whitening import factor, whiten
from wholebody.model.compiled import compiled
from wholebody.model.cut import at_address, cut
from wholebody.model.layout import Array, Integers, Values, tree
from wholebody.tasks import kinds
from wholebody.tasks.center_of_pressure import pressure_rows
from wholebody.tasks.evaluate import goal_of

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
    n, sizes, memory, work, chain, fading = a.n, a.sizes, a.memory, a.work, a.motion, a.fading
    if fading.share[0] > 0.0:
        begin_with_the_law(fading)
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
    pushed, free = factor_pushes(table, now, a, held, hard)
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
        memory.h[i] = now.h[i] - now.g[i] + now.compensation[i] - fading.share[0] * fading.borne[i]
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
        count = note_level(work, count, MOTION, first, end - first, used, rank)
        used += rank
        factor_gram(chain, first, end - first, used - rank, rank)
    state[ROTATED] = used
    count = note_level(work, count, REST, 0, 0, used, n - used)
    state[LEVELS] = factor_forces(table, a, count, settings[TASK_TOLERANCE], hard)
    return WELL


@compiled
def _solve_once(chain: Chain, first: int, count: int, used: int, rank: int, none: Array) -> None:
    """Decide what no limit can change."""
    factor_gram(chain, first, count, used, rank)
    solve_level(chain, first, count, used, rank, none)


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
