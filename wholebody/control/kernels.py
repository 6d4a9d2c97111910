"""The kernel of whole-body control: from a snapshot and the table of a problem to efforts, in one call.

M v̇ + h = f = Sᵀ τ + Jcᵀ λ. With M = Lᵀ L, let u = L⁻ᵀ f be the whitened effort. Then J v̇ = Xᵀ (u − L⁻ᵀ h) with
X = L⁻ᵀ Jᵀ: dynamically consistent inverses become plain orthogonal ones, and the whole law is a chain of levels in u:

    constraints       Xcᵀ u = −J̇c v + Xcᵀ L⁻ᵀ h
    what no motor or contact can push          Wᵀ S̄ Lᵀ u = 0, W the left null space of S̄ Jcᵀ
    tasks, level by level     Xᵀ u = ẍ* − J̇ v + Xᵀ L⁻ᵀ h
    whatever is left          u = 0

Then λ is a chain of its own: S̄ Jcᵀ λ = S̄ f; the tasks on forces, in their order; and τ = S (f − Jcᵀ λ) as small as
possible; and τ is what remains.
"""

from __future__ import annotations

import math

from wholebody.control.chain import Chain, measure_left, solve_level, start, unreflect
from wholebody.control.forces import count_pressed, share_out
from wholebody.control.limits import FORCE_TOLERANCE, HARD_TOLERANCE, PERIOD, SHARED, TASK_TOLERANCE, enforce_limits
from wholebody.control.memory import (
    Memory,
    Output,
    after_memory,
    carve,
    chain_at,
    chain_size,
    memory_of,
    saved_at,
    saved_size,
)
from wholebody.control.rows import count_constraints, count_tasks, fill_constraints, fill_tasks
from wholebody.control.singular import solve_shared, solve_truncated
from wholebody.control.table import Sizes, constraint_line, sizes_of, task_line
from wholebody.control.whitening import factor, whiten
from wholebody.model.compiled import compiled, inlined
from wholebody.model.cut import at_address, cut
from wholebody.model.layout import Array, Integers, Values, tree, values
from wholebody.tasks import kinds
from wholebody.tasks.center_of_pressure import pressure_rows
from wholebody.tasks.evaluate import goal_of

WELL, NOT_FINITE, NOT_POSITIVE = 0, 1, 2
"""What a solve can end with: well, with a number that is none, or at a mass matrix that is not positive."""


@compiled
def solve(
    integers: Integers,
    numbers: Array,
    storage: Array,
    table: Integers,
    own: Array,
    settings: Array,
    work: Array,
    counts: Integers,
    output: Array,
) -> int:
    """One cycle: WELL, and the output is filled; or what went wrong, and nothing in the output counts."""
    fixed, now, sizes = tree(integers, numbers), values(integers, storage), sizes_of(table)
    n, floating = integers[2], integers[5] == 1
    joints = n - 6 if floating else n
    memory, out = memory_of(n, sizes, work, counts), carve(joints, n, sizes.held, sizes.shown, output)
    hard = settings[HARD_TOLERANCE]
    at = after_memory(n, sizes)
    held = count_constraints(table, sizes, memory)
    K = cut(work, at, (n, held))
    at += n * sizes.held
    fill_constraints(fixed, now, floating, table, sizes, memory, own, K)

    pushes = chain_at(work, at, sizes.passive, held)
    at += chain_size(sizes.passive, sizes.held)
    free, bound = _what_nothing_pushes(table, sizes, memory, pushes, K, hard)

    width = count_tasks(now, table, sizes, memory, held + free, bound)
    chain = chain_at(work, at, n, width)
    most = sizes.held + sizes.passive + sizes.asked
    at += chain_size(n, most)
    spare = cut(work, at, (n * most,))
    at += n * most
    A = chain.A
    for i in range(n):
        for c in range(held):
            A[i, c] = K[i, c]
        for c in range(held, A.shape[1]):
            A[i, c] = 0.0
    fill_tasks(
        fixed, now, floating, table, sizes, memory, own, settings[PERIOD], A, held + free, bound, out.error, spare
    )
    for i in range(n):
        memory.h[i] = now.h[i] - now.g[i] + now.compensation[i]
    if not factor(now.M, memory.L):
        return NOT_POSITIVE
    whiten(memory.L, A, memory.h)
    _passive_columns(table, sizes, memory, now, pushes, K, A, free, bound, hard)
    _wanted(chain, memory, held, free, width)
    start(chain)
    for c in range(width):
        if not math.isfinite(chain.size[c]):
            return NOT_FINITE
    used, reflected = solve_level(chain, 0, held, 0, 0, hard)
    used, reflected = solve_level(chain, held, free, used, reflected, hard)
    _forces_to_accelerations(chain, memory, held + free, width, used)
    if settings[SHARED] > 0.0:
        measure_left(chain, held + free, width, used)
        saved = saved_at(work, at, n, width, held + free)
        solve_shared(table, sizes, memory, chain, saved, used, reflected, settings[TASK_TOLERANCE], hard)
    else:
        solve_truncated(sizes, memory, chain, used, reflected, settings[TASK_TOLERANCE])
    at += saved_size(n, most)
    _efforts_and_accelerations(chain, memory, out)

    pressed = count_pressed(table, sizes, memory)
    shares = chain_at(work, at, held, sizes.passive + pressed + sizes.driven)
    share_out(table, sizes, memory, now, shares, K, pressed, hard, settings[FORCE_TOLERANCE], out, n - joints)
    for i in range(n):
        if not math.isfinite(out.acceleration[i]):
            return NOT_FINITE
    for i in range(joints):
        if not math.isfinite(out.effort[i]):
            return NOT_FINITE
    enforce_limits(now, settings, out, joints)
    return WELL


@inlined
def _what_nothing_pushes(
    table: Integers, sizes: Sizes, memory: Memory, pushes: Chain, K: Array, tolerance: float
) -> tuple[int, bool]:
    """W into memory.free, by rows: the directions of columns without a motor in which no contact pushes either.

    How many they are, and whether contacts have no freedom left among themselves: S̄ Jcᵀ has full column rank.
    """
    passive, held = sizes.passive, K.shape[1]
    if passive == 0:
        return 0, held == 0
    columns = cut(table, sizes.passive_at, (passive,))
    _fill_pushes(pushes.A, K, columns)
    for c in range(held):
        pushes.wanted[c] = 0.0
    start(pushes)
    rank, reflected = solve_level(pushes, 0, held, 0, 0, tolerance)
    for k in range(passive - rank):
        for i in range(passive):
            pushes.y[i] = 0.0
        pushes.y[rank + k] = 1.0
        unreflect(pushes, reflected)
        for i in range(passive):
            memory.free[k, i] = pushes.y[i]
    return passive - rank, rank == held


@inlined
def _fill_pushes(A: Array, K: Array, columns: Integers) -> None:
    """S̄ Jcᵀ, and the padding."""
    for i in range(len(columns)):
        for c in range(K.shape[1]):
            A[i, c] = K[columns[i], c]
        for c in range(K.shape[1], A.shape[1]):
            A[i, c] = 0.0


@inlined
def _passive_columns(
    table: Integers,
    sizes: Sizes,
    memory: Memory,
    now: Values,
    pushes: Chain,
    K: Array,
    A: Array,
    free: int,
    bound: bool,
    tolerance: float,
) -> None:
    """Columns that speak of u itself: L S̄ᵀ w of each w in W, and those of centres of pressure that are motion.

    λ = (S̄ Jcᵀ)⁺ S̄ Lᵀ u where contacts have no freedom left; so a row b on λ is the column L S̄ᵀ (S̄ Jcᵀ)⁺ᵀ b.
    """
    passive, held = sizes.passive, K.shape[1]
    columns = cut(table, sizes.passive_at, (passive,))
    for k in range(free):
        _as_column(memory.L, columns, memory.free[k], A, held + k)
        memory.error[held + k], memory.bias[held + k] = 0.0, 0.0
    for index in range(sizes.tasks if bound else 0):
        line = task_line(table, index)
        at = memory.first_of_task[index]
        if line.kind != kinds.CENTER_OF_PRESSURE or at < 0:
            continue
        first = memory.first_of_constraint[line.contact_a]
        numbers = at_address(line.address, line.length)
        contact = constraint_line(table, line.contact_a)
        pressure_rows(now.placement[contact.frame], goal_of(numbers, line.rows, 0, 2), memory.B)
        for r in range(line.rows):
            _fill_pushes(pushes.A, K, columns)
            for c in range(held):
                pushes.wanted[c] = memory.B[r, c - first] if first <= c < first + 6 else 0.0
            start(pushes)
            _, reflected = solve_level(pushes, 0, held, 0, 0, tolerance)
            unreflect(pushes, reflected)
            _as_column(memory.L, columns, pushes.y, A, at + r)


@inlined
def _as_column(L: Array, columns: Integers, w: Array, A: Array, at: int) -> None:
    """L S̄ᵀ w."""
    for i in range(len(L)):
        total = 0.0
        for k in range(len(columns)):
            if columns[k] <= i:
                total += L[i, columns[k]] * w[k]
        A[i, at] = total


@inlined
def _wanted(chain: Chain, memory: Memory, held: int, free: int, width: int) -> None:
    """The right-hand side of each column: ẍ* − J̇ v + Xᵀ L⁻ᵀ h; nothing of these in columns that speak of u itself."""
    A, wanted = chain.A, chain.wanted
    n = len(A)
    for c in range(held):
        wanted[c] = -memory.held_bias[c]
    for c in range(held, width):
        wanted[c] = memory.error[c] - memory.bias[c]
    for i in range(n):
        h = memory.h[i]
        for c in range(width):
            wanted[c] += A[i, c] * h
    for c in range(held, width):
        if c < held + free or memory.source[c] < 0:
            wanted[c] = 0.0


@inlined
def _forces_to_accelerations(chain: Chain, memory: Memory, first: int, width: int, used: int) -> None:
    """Add Λ⁻¹ F to what is wanted, task by task, with Λ⁻¹ of what constraints and motors leave: the rows not used."""
    A, wanted, force = chain.A, chain.wanted, memory.force
    n = len(A)
    exerted = False
    for c in range(first, width):
        exerted = exerted or force[c] != 0.0
    if not exerted:
        return
    for c in range(first, width):
        if memory.source[c] == 0:  # a task begins
            begun = c
        if force[c] != 0.0:
            for other in range(begun, min(begun + 3, width)):
                total = 0.0
                for i in range(used, n):
                    total += A[i, c] * A[i, other]
                wanted[other] += total * force[c]


@inlined
def _efforts_and_accelerations(chain: Chain, memory: Memory, out: Output) -> None:
    """f = Lᵀ u, and v̇ = L⁻¹ (u − L⁻ᵀ h)."""
    L, u, f, acceleration = memory.L, chain.y, memory.efforts, out.acceleration
    n = len(u)
    for i in range(n):
        f[i] = 0.0
    for k in range(n):
        total = u[k] - memory.h[k]
        for i in range(k):
            total -= L[k, i] * acceleration[i]
            f[i] += L[k, i] * u[k]
        acceleration[k] = total / L[k, k]
        f[k] += L[k, k] * u[k]
