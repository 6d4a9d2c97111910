"""The kernels that gather rows: of the constraints that are enabled, and of the tasks, level by level."""

from __future__ import annotations

import math

from wholebody.constraints import constraint as constraint_kinds
from wholebody.constraints.constraint import ConstraintColumns
from wholebody.constraints.evaluate import fill_constraint
from wholebody.control.memory import Memory
from wholebody.control.table import Sizes, constraint_line, task_line
from wholebody.model.compiled import inlined
from wholebody.model.cut import at_address, cut
from wholebody.model.layout import Array, Integers, Tree, Values
from wholebody.tasks import kinds
from wholebody.tasks.evaluate import count_rows, fill_task, goal_of
from wholebody.tasks.kinds import ERROR_LIMIT, FIRST_OF_CONTACTS, GAINS, INTEGRAL_LIMIT, Columns

DISABLED, ENABLED = 0.0, 1.0


@inlined
def count_constraints(table: Integers, sizes: Sizes, memory: Memory) -> int:
    """How many rows the constraints have that are enabled; where each begins."""
    total = 0
    for index in range(sizes.constraints):
        line = constraint_line(table, index)
        memory.first_of_constraint[index] = -1
        if at_address(line.address, line.length)[0] == ENABLED:
            memory.first_of_constraint[index] = total
            total += line.rows
    return total


@inlined
def fill_constraints(
    fixed: Tree, now: Values, floating: bool, table: Integers, sizes: Sizes, memory: Memory, own: Array, K: Array
) -> None:
    """Jcᵀ into K, J̇c v into the memory."""
    n = len(now.v)
    for i in range(n):
        for c in range(K.shape[1]):
            K[i, c] = 0.0
    out = ConstraintColumns(K, memory.held_bias, memory.B)
    for index in range(sizes.constraints):
        first = memory.first_of_constraint[index]
        if first < 0:
            continue
        line = constraint_line(table, index)
        if line.kind == constraint_kinds.CUSTOM:
            J, bias = cut(own, line.own, (line.rows, n)), cut(own, line.own + line.rows * n, (line.rows,))
            for r in range(line.rows):
                for i in range(n):
                    K[i, first + r] = J[r, i]
                memory.held_bias[first + r] = bias[r]
        else:
            joints = cut(table, line.joints, (line.joint_count,))
            numbers = at_address(line.address, line.length)
            fill_constraint(fixed, now, floating, line.kind, line.frame, joints, numbers, out, first)


@inlined
def count_tasks(now: Values, table: Integers, sizes: Sizes, memory: Memory, first: int, bound_by_motion: bool) -> int:
    """How many rows on motion the tasks have that are enabled, after `first`; where each level begins.

    `bound_by_motion` says that motion alone decides the forces of contacts: then a centre of pressure is motion.
    """
    level, total = 0, first
    memory.first_of_level[0] = first
    for index in range(sizes.tasks):
        line = task_line(table, index)
        while level < line.level:
            level += 1
            memory.first_of_level[level] = total
        numbers = at_address(line.address, line.length)
        if numbers[0] != ENABLED:
            continue
        if line.kind == kinds.CENTER_OF_PRESSURE:
            if bound_by_motion and memory.first_of_constraint[line.contact_a] >= 0:
                total += line.rows
        elif line.kind < FIRST_OF_CONTACTS:
            joints = cut(table, line.joints, (line.joint_count,))
            total += count_rows(now, line.kind, line.mask, line.rows, joints, numbers)
    for rest in range(level + 1, sizes.levels + 1):
        memory.first_of_level[rest] = total
    return total


@inlined
def fill_tasks(
    fixed: Tree,
    now: Values,
    floating: bool,
    table: Integers,
    sizes: Sizes,
    memory: Memory,
    own: Array,
    period: float,
    A: Array,
    first: int,
    bound_by_motion: bool,
    shown: Array,
    spare: Array,
) -> None:
    """Jᵀ of all enabled tasks into A, and what they ask for into memory.error; errors also of those that only sense."""
    n, B = len(now.v), memory.B
    at = first
    for index in range(sizes.tasks):
        line = task_line(table, index)
        numbers = at_address(line.address, line.length)
        memory.first_of_task[index] = -1
        if numbers[0] == DISABLED:
            continue
        if line.kind >= FIRST_OF_CONTACTS:
            active = bound_by_motion and line.kind == kinds.CENTER_OF_PRESSURE
            if active and numbers[0] == ENABLED and memory.first_of_constraint[line.contact_a] >= 0:
                for r in range(line.rows):
                    memory.error[at + r], memory.bias[at + r], memory.force[at + r] = 0.0, 0.0, 0.0
                    memory.spring[at + r], memory.pull[at + r], memory.activation[at + r] = 0.0, 0.0, 1.0
                    memory.source[at + r] = -1
                memory.first_of_task[index] = at
                at += line.rows
            continue
        joints = cut(table, line.joints, (line.joint_count,))
        count = count_rows(now, line.kind, line.mask, line.rows, joints, numbers)
        sensing = numbers[0] != ENABLED
        J = cut(spare, 0, (n, at + count)) if sensing else A  # nobody reads the Jacobian of one that only senses
        out = Columns(J, memory.error, memory.velocity, memory.bias, memory.source, memory.activation, B)
        for c in range(at, at + count):
            memory.activation[c] = 1.0
        if line.kind == kinds.CUSTOM:
            _copy_own(own, line.own, line.rows, n, out, at)
        else:
            fill_task(
                fixed, now, floating, line.kind, line.frame, line.reference, line.mask, line.rows, joints, numbers, out,
                at,
            )  # fmt: skip
        _ask(
            line.kind, line.rows, count, numbers, period, not sensing, memory, at, cut(shown, line.shown, (line.rows,))
        )
        if not sensing:
            memory.first_of_task[index] = at
            at += count


@inlined
def _copy_own(own: Array, at: int, rows: int, n: int, out: Columns, first: int) -> None:
    """A user's own rows: Jacobian, error, velocity and bias, as Python wrote them."""
    J = cut(own, at, (rows, n))
    rest = cut(own, at + rows * n, (3, rows))
    for r in range(rows):
        for i in range(n):
            out.J[i, first + r] = J[r, i]
        out.error[first + r], out.velocity[first + r], out.bias[first + r] = rest[0, r], rest[1, r], rest[2, r]
        out.source[first + r] = r


@inlined
def _ask(
    kind: int, rows: int, count: int, numbers: Array, period: float, acts: bool, memory: Memory, at: int, shown: Array
) -> None:
    """The law of each row, in place of its error: kp e + kd (ẋ* − ẋ) + ki ∫e dt + ẍff."""
    limit = numbers[INTEGRAL_LIMIT]
    for r in range(rows):
        shown[r] = 0.0
    for r in range(count):
        c = at + r
        i = memory.source[c]
        e = memory.error[c]
        if kind == kinds.EXTERNAL_FORCE:
            goal = goal_of(numbers, rows, 0, 9)
            e = goal[i] - goal[6 + i]
        shown[i] = e
        gains = GAINS + i
        accumulated = numbers[gains + 5 * rows]
        if acts:
            accumulated = min(max(accumulated + e * period, -limit), limit)
            if math.isfinite(accumulated):
                numbers[gains + 5 * rows] = accumulated
        pushed = numbers[gains] * e + numbers[gains + 2 * rows] * accumulated
        memory.force[c] = 0.0
        if kind == kinds.EXTERNAL_FORCE:
            memory.force[c] = goal_of(numbers, rows, 0, 3)[i] + pushed
            pushed = 0.0
        memory.spring[c], memory.pull[c] = pushed, numbers[gains] * numbers[ERROR_LIMIT]
        memory.asked[c] = pushed + numbers[gains + rows] * numbers[gains + 3 * rows] + numbers[gains + 4 * rows]
        memory.error[c] = memory.asked[c] - numbers[gains + rows] * memory.velocity[c]
