"""The kernels that count and fill the rows of one task, of any kind but a user's own."""

from __future__ import annotations

from wholebody.model.compiled import inlined
from wholebody.model.cut import cut
from wholebody.model.layout import Array, Integers, Tree, Values
from wholebody.tasks import kinds
from wholebody.tasks.cartesian_position import fill_position
from wholebody.tasks.joint_limits import count_limits, fill_joint_limits
from wholebody.tasks.joint_position import fill_joint_position
from wholebody.tasks.kinds import Columns
from wholebody.tasks.orientation_2d import fill_orientation_2d
from wholebody.tasks.orientation_3d import fill_orientation_3d
from wholebody.tasks.selected import fill_selected

GAINS, PER_ROW = kinds.GAINS, kinds.PER_ROW


@inlined
def goal_of(numbers: Array, rows: int, skip: int, count: int) -> Array:
    """Part of what a task has in its numbers beyond the parameters of its rows."""
    return cut(numbers, GAINS + PER_ROW * rows + skip, (count,))


@inlined
def count_rows(now: Values, kind: int, mask: int, rows: int, joints: Integers, numbers: Array) -> int:
    """How many rows a task has at this instant."""
    if kind == kinds.JOINT_LIMITS:
        return count_limits(now, joints, goal_of(numbers, rows, 0, 2 * rows + 1))
    if kind == kinds.POSITION or kind == kinds.CENTER_OF_MASS or kind == kinds.MOMENTUM:
        count = 0
        for k in range(rows):
            count += (mask >> k) & 1
        return count
    return rows


@inlined
def fill_task(
    fixed: Tree,
    now: Values,
    floating: bool,
    kind: int,
    frame: int,
    reference: int,
    mask: int,
    rows: int,
    joints: Integers,
    numbers: Array,
    out: Columns,
    first: int,
) -> int:
    """Fill the rows of one task from column `first` on; how many there were."""
    if kind == kinds.JOINT_POSITION:
        return fill_joint_position(now, joints, goal_of(numbers, rows, 0, rows), out, first)
    if kind == kinds.POSITION or kind == kinds.EXTERNAL_FORCE:
        goal, point = goal_of(numbers, rows, 0, 3), goal_of(numbers, rows, 3, 3)
        return fill_position(fixed, now, floating, frame, reference, mask, goal, point, out, first)
    if kind == kinds.ORIENTATION_3D:
        return fill_orientation_3d(fixed, now, floating, frame, reference, goal_of(numbers, rows, 0, 4), out, first, 0)
    if kind == kinds.ORIENTATION_2D:
        axis, goal = goal_of(numbers, rows, 0, 3), goal_of(numbers, rows, 3, 3)
        return fill_orientation_2d(fixed, now, floating, frame, axis, goal, out, first)
    if kind == kinds.POSE:
        goal, turn, origin = goal_of(numbers, rows, 0, 3), goal_of(numbers, rows, 3, 4), goal_of(numbers, rows, 7, 3)
        fill_position(fixed, now, floating, frame, reference, mask, goal, origin, out, first)
        return 3 + fill_orientation_3d(fixed, now, floating, frame, reference, turn, out, first + 3, 3)
    if kind == kinds.CENTER_OF_MASS:
        goal = goal_of(numbers, rows, 0, 3)
        return fill_selected(now.com_jacobian, now.com, now.com_velocity, now.com_bias, mask, goal, out, first)
    if kind == kinds.MOMENTUM:
        goal = goal_of(numbers, rows, 0, 6)
        return fill_selected(now.momentum_matrix, now.momentum, now.momentum, now.momentum_bias, mask, goal, out, first)
    return fill_joint_limits(now, joints, goal_of(numbers, rows, 0, 2 * rows + 1), out, first)
