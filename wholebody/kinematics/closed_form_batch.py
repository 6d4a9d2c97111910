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
from wholebody.kinematics.closed_form_nearest import LOWER, UPPER, forward, gap, nearest_within
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array

REACHED = six.REACHED

REST = 18
"""Of an answer after its joints: the pose they reach, by rows, and how far it is from the goal, in m and rad."""


def branches(joints: int) -> int:
    """How many branches a chain can have."""
    return six.BRANCHES if joints == six.JOINTS else few.BRANCHES


@compiled
def forward_many(lines: Array, joints: Array, poses: Array) -> None:
    """Where the tip stands, for many joint vectors."""
    for index in range(joints.shape[0]):
        forward(lines, joints[index], poses[index])


@compiled
def all_branches(chain: Array, pose: Array, swivel: float, limits: bool, table: Array) -> int:
    """All branches of one pose, as near to rest as can be, the end of the chain's numbers; −1 if it is no pose."""
    if pose.shape[0] != 4 or pose.shape[1] != 4:
        return -1
    return one(chain, pose, chain[chain.size - table.shape[1] + 3 :], swivel, limits, table)


@compiled
def one(chain: Array, pose: Array, near: Array, swivel: float, limits: bool, table: Array) -> int:
    """All branches of one pose: how many, or −1 if it is no pose."""
    count = solve_six(chain, pose, near, table) if near.size == 6 else solve_few(chain, pose, near, swivel, table)
    return keep_within(table, count, near.size) if limits and count > 0 else count


@compiled
def nearest(chain: Array, lines: Array, goal: Array, near: Array, swivel: float, radian: float, answer: Array) -> int:
    """The joints within limits that come nearest to a goal: −1 if the goal is no pose, −2 if the posture is not finite.

    A branch that reaches it within limits is taken as it is; of several, the one nearest to the posture. lines is the
    chain as closed_form_nearest has it.
    """
    n = near.size
    for k in range(n):
        if not abs(near[k]) < math.inf:
            return -2
    table = np.empty((six.BRANCHES, n + 3))
    count = one(chain, goal, near, swivel, False, table)
    if count < 0:
        return -1
    joints, pose = answer[:n], answer[n : n + 16].reshape(4, 4)
    best = choose(table, count, n, near)
    if best >= 0:
        for k in range(n):
            joints[k] = min(max(table[best, k], lines[k, LOWER]), lines[k, UPPER])
    else:
        nearest_within(lines, goal, radian, near, table, count, joints)
    forward(lines, joints, pose)
    answer[n + 16], answer[n + 17] = gap(pose, goal)
    return 0


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
def follow(chain: Array, lines: Array, goals: Array, near: Array, radian: float, answers: Array) -> int:
    """Of each goal the joints nearest to it, chosen by those of the one before: −1, or the row that is no pose."""
    for index in range(goals.shape[0]):
        if nearest(chain, lines, goals[index], near, math.nan, radian, answers[index]) < 0:
            return index
        near[:] = answers[index, : near.size]
    return -1
