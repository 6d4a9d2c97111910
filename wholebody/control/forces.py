"""The kernels of contact forces: which λ there is to the efforts f, and which τ is left for the motors.

f = Sᵀ τ + Jcᵀ λ is solved as a chain of levels in λ: what joints without a motor need, S̄ Jcᵀ λ = S̄ f; what tasks on
forces ask for, level by level; then τ = S (f − Jcᵀ λ) as small as possible, and of all such λ the shortest.
"""

from __future__ import annotations

from wholebody.control.chain import Chain, solve_level, start, unreflect
from wholebody.control.memory import Memory, Output
from wholebody.control.rows import ENABLED
from wholebody.control.table import Sizes, constraint_line, task_line
from wholebody.model.compiled import inlined
from wholebody.model.cut import at_address, cut
from wholebody.model.layout import Array, Integers, Values
from wholebody.tasks import kinds
from wholebody.tasks.center_of_pressure import pressure_rows
from wholebody.tasks.evaluate import goal_of
from wholebody.tasks.internal_force import squeeze_row
from wholebody.tasks.kinds import FIRST_OF_CONTACTS


@inlined
def count_pressed(table: Integers, sizes: Sizes, memory: Memory) -> int:
    """How many rows the tasks on forces have whose contacts are on."""
    total = 0
    for index in range(sizes.tasks if sizes.pressed > 0 else 0):
        line = task_line(table, index)
        if line.kind >= FIRST_OF_CONTACTS and at_address(line.address, line.length)[0] == ENABLED:
            on = memory.first_of_constraint[line.contact_a] >= 0
            if line.contact_b >= 0:
                on = on and memory.first_of_constraint[line.contact_b] >= 0
            if on:
                total += line.rows
    return total


@inlined
def fill_pressed(table: Integers, sizes: Sizes, memory: Memory, now: Values, A: Array, wanted: Array) -> None:
    """The rows of the tasks on forces, as columns after those of the joints without a motor."""
    at = sizes.passive
    for index in range(sizes.tasks):
        line = task_line(table, index)
        numbers = at_address(line.address, line.length)
        if line.kind < FIRST_OF_CONTACTS or numbers[0] != ENABLED:
            continue
        a = memory.first_of_constraint[line.contact_a]
        b = memory.first_of_constraint[line.contact_b] if line.contact_b >= 0 else 0
        if a < 0 or b < 0:
            continue
        one = constraint_line(table, line.contact_a)
        if line.kind == kinds.CENTER_OF_PRESSURE:
            pressure_rows(now.placement[one.frame], goal_of(numbers, line.rows, 0, 2), memory.B)
            for r in range(2):
                for k in range(6):
                    A[a + k, at + r] = memory.B[r, k]
                wanted[at + r] = 0.0
        elif line.kind == kinds.CONTACT_FORCE:
            axes, goal = now.placement[one.frame], goal_of(numbers, line.rows, 0, 3)
            for r in range(3):
                for k in range(3):
                    A[a + k, at + r] = axes[k, r]
                wanted[at + r] = goal[r]
        else:
            two = constraint_line(table, line.contact_b)
            squeeze_row(now, one.frame, two.frame, memory.B)
            for k in range(3):
                A[a + k, at], A[b + k, at] = -memory.B[0, k], memory.B[0, k]
            wanted[at] = goal_of(numbers, line.rows, 0, 1)[0]
        at += line.rows


@inlined
def share_out(
    table: Integers,
    sizes: Sizes,
    memory: Memory,
    now: Values,
    shares: Chain,
    K: Array,
    pressed: int,
    hard: float,
    tolerance: float,
    out: Output,
    base: int,
) -> None:
    """λ: what joints without a motor need, what tasks on forces ask for, then the least τ; and τ = S (f − Jcᵀ λ).

    Tasks on forces have a tolerance of their own: what they ask for is not to be had at any price.
    """
    passive, driven, held = sizes.passive, sizes.driven, K.shape[1]
    without, motors = cut(table, sizes.passive_at, (passive,)), cut(table, sizes.driven_at, (driven,))
    f = memory.efforts
    if held > 0:
        A, wanted = shares.A, shares.wanted
        for c in range(held):
            for k in range(passive):
                A[c, k] = K[without[k], c]
            for k in range(pressed):
                A[c, passive + k] = 0.0
            for k in range(driven):
                A[c, passive + pressed + k] = K[motors[k], c]
            for k in range(passive + pressed + driven, A.shape[1]):
                A[c, k] = 0.0
        for k in range(passive):
            wanted[k] = f[without[k]]
        for k in range(driven):
            wanted[passive + pressed + k] = f[motors[k]]
        if pressed > 0:
            fill_pressed(table, sizes, memory, now, A, wanted)
        start(shares)
        used, reflected = solve_level(shares, 0, passive, 0, 0, hard)
        used, reflected = _press_in_order(table, sizes, memory, shares, used, reflected, tolerance)
        used, reflected = solve_level(shares, passive + pressed, driven, used, reflected, hard)
        unreflect(shares, reflected)
    for c in range(held):
        out.contact[c] = shares.y[c]
    for i in range(len(out.effort)):
        out.effort[i] = 0.0
    for k in range(driven):
        i = motors[k]
        total = f[i]
        for c in range(held):
            total -= K[i, c] * shares.y[c]
        out.effort[i - base] = total


@inlined
def _press_in_order(
    table: Integers, sizes: Sizes, memory: Memory, shares: Chain, used: int, reflected: int, tolerance: float
) -> tuple[int, int]:
    """The levels of the tasks on forces, those of one level of the problem together."""
    at, count, level = sizes.passive, 0, 0
    for index in range(sizes.tasks if sizes.pressed > 0 else 0):
        line = task_line(table, index)
        if line.kind < FIRST_OF_CONTACTS or at_address(line.address, line.length)[0] != ENABLED:
            continue
        on = memory.first_of_constraint[line.contact_a] >= 0
        if line.contact_b >= 0:
            on = on and memory.first_of_constraint[line.contact_b] >= 0
        if not on:
            continue
        if line.level != level:
            used, reflected = solve_level(shares, at, count, used, reflected, tolerance)
            at, count, level = at + count, 0, line.level
        count += line.rows
    return solve_level(shares, at, count, used, reflected, tolerance)
