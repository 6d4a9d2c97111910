"""One pose or many, six joints or fewer: the calls from Python into the compiled closed form."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from wholebody.kinematics import closed_form_few as few
from wholebody.kinematics import closed_form_kernels as six
from wholebody.kinematics.closed_form_few import solve as solve_few
from wholebody.kinematics.closed_form_kernels import choose, keep_within
from wholebody.kinematics.closed_form_kernels import solve as solve_six
from wholebody.kinematics.vectors import cross, three, turned, turned_about
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array

REACHED = six.REACHED


def branches(joints: int) -> int:
    """How many branches a chain can have."""
    return six.BRANCHES if joints == six.JOINTS else few.BRANCHES


@compiled
def forward(lines: Array, home: Array, joints: Array, poses: Array) -> None:
    """T = e₁ e₂ … M for many joint vectors: from the tip to the base, each column and the origin turned by each joint.

    lines: axis and point of each joint, a row each.
    """
    for index in range(joints.shape[0]):
        x, y = (home[0, 0], home[1, 0], home[2, 0]), (home[0, 1], home[1, 1], home[2, 1])
        p = (home[0, 3], home[1, 3], home[2, 3])
        for joint in range(lines.shape[0] - 1, -1, -1):
            axis, point = three(lines[joint], 0), three(lines[joint], 3)
            c, s = math.cos(joints[index, joint]), math.sin(joints[index, joint])
            x, y, p = turned(x, axis, c, s), turned(y, axis, c, s), turned_about(p, point, axis, c, s)
        z = cross(x, y)
        pose = poses[index]
        for row in range(3):
            pose[row, 0], pose[row, 1], pose[row, 2], pose[row, 3] = x[row], y[row], z[row], p[row]
            pose[3, row] = 0.0
        pose[3, 3] = 1.0


@compiled
def one(chain: Array, pose: Array, near: Array, swivel: float, limits: bool, table: Array) -> int:
    """All branches of one pose: how many, or −1 if it is no pose."""
    count = solve_six(chain, pose, near, table) if near.size == 6 else solve_few(chain, pose, near, swivel, table)
    return keep_within(table, count, near.size) if limits and count > 0 else count


@compiled
def nearest(chain: Array, pose: Array, near: Array, swivel: float, table: Array) -> int:
    """The row of the branch nearest to a posture; −1 if the goal is no pose, −2 if the posture is not finite."""
    for k in range(near.size):
        if not abs(near[k]) < math.inf:
            return -2
    return choose(table, one(chain, pose, near, swivel, False, table), near.size, near)


@compiled
def many(chain: Array, poses: Array, near: Array, table: Array, counts: npt.NDArray[np.int64]) -> int:
    """All branches of many poses: −1, or the row that is no pose."""
    for index in range(poses.shape[0]):
        count = one(chain, poses[index], near, math.nan, False, table[index])
        if count < 0:
            return index
        counts[index] = count
        for row in range(count, table.shape[1]):
            for column in range(table.shape[2]):
                table[index, row, column] = math.nan
    return -1


@compiled
def follow(chain: Array, poses: Array, near: Array, table: Array, rows: Array) -> int:
    """Of each pose the branch nearest to that of the one before, first near: −1, or the row that is no pose."""
    for index in range(poses.shape[0]):
        best = nearest(chain, poses[index], near, math.nan, table)
        if best < 0:
            return index
        for column in range(rows.shape[1]):
            rows[index, column] = table[best, column]
        for k in range(near.size):
            near[k] = table[best, k]
    return -1
