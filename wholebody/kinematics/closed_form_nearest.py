"""The nearest pose within the limits of the joints, compiled: what is left where no branch may be used as it is.

Each branch is a start: a joint beyond its limits stops at the one that is nearer round the circle. From there, damped
Gauss–Newton steps within the box of the limits lower

    E² = |p* − p|² + (ℓ θ)²,

where θ is the angle between the orientations and ℓ how many metres a radian counts. Every start gets a few steps, the
best of them as many as it takes. A step that does not lower E is not taken, so no answer is worse than its start.

Here a chain is a table: axis, a point of it, lower and upper limit of each joint, a row each, and then in four rows the
tip with all joints at zero.
"""

from __future__ import annotations

import math

import numpy as np

from wholebody.kinematics.closed_form_few import clamped, quaternion
from wholebody.kinematics.iterative_steps import boxed_step
from wholebody.kinematics.vectors import Three, arctangent, cross, dot, minus, norm, three, turned, turned_about
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array

FEW_STEPS, MANY_STEPS = 6, 60
LOWER, UPPER = 6, 7  # columns of a chain
POLISHED = 2  # starts that get many steps
GENTLE, ROUGH = 1e-10, 1e4  # the damping at least and at most, m²
DONE = 1e-11  # m: an error below it is none
STILL = 1e-9  # rad: so small a step is the last one
SAME = 1e-9  # m: errors nearer than that are alike, and the posture decides


@compiled
def forward(chain: Array, joints: Array, pose: Array) -> None:
    """T = e₁ e₂ … M: from the tip to the base, each column and the origin turned by each joint."""
    home = chain[joints.size :]
    x, y = (home[0, 0], home[1, 0], home[2, 0]), (home[0, 1], home[1, 1], home[2, 1])
    p = (home[0, 3], home[1, 3], home[2, 3])
    for joint in range(joints.size - 1, -1, -1):
        axis, point = three(chain[joint], 0), three(chain[joint], 3)
        c, s = math.cos(joints[joint]), math.sin(joints[joint])
        x, y, p = turned(x, axis, c, s), turned(y, axis, c, s), turned_about(p, point, axis, c, s)
    z = cross(x, y)
    for row in range(3):
        pose[row, 0], pose[row, 1], pose[row, 2], pose[row, 3] = x[row], y[row], z[row], p[row]
        pose[3, row] = 0.0
    pose[3, 3] = 1.0


@compiled
def turn_between(pose: Array, goal: Array) -> Three:
    """The rotation vector from one orientation to another, in the axes of the base."""
    x, y = (goal[0, 0], goal[0, 1], goal[0, 2]), (goal[1, 0], goal[1, 1], goal[1, 2])
    z = (goal[2, 0], goal[2, 1], goal[2, 2])
    a, b = (pose[0, 0], pose[0, 1], pose[0, 2]), (pose[1, 0], pose[1, 1], pose[1, 2])
    first, second = (dot(x, a), dot(y, a), dot(z, a)), (dot(x, b), dot(y, b), dot(z, b))
    q = quaternion(first, second, cross(first, second))
    v = (q[1], q[2], q[3])
    sine = norm(v)
    if sine == 0.0:
        return v
    angle = 2.0 * arctangent(sine, abs(q[0])) / sine if q[0] >= 0.0 else -2.0 * arctangent(sine, abs(q[0])) / sine
    return angle * v[0], angle * v[1], angle * v[2]


@compiled
def gap(pose: Array, goal: Array) -> tuple[float, float]:
    """How far a pose is from the goal, in m and rad."""
    there, here = (goal[0, 3], goal[1, 3], goal[2, 3]), (pose[0, 3], pose[1, 3], pose[2, 3])
    return norm(minus(there, here)), norm(turn_between(pose, goal))


@compiled
def errors(pose: Array, goal: Array, length: float, e: Array) -> float:
    """Fill in the error, in m; E."""
    rotation = turn_between(pose, goal)
    total = 0.0
    for k in range(3):
        e[k], e[3 + k] = goal[k, 3] - pose[k, 3], length * rotation[k]
        total += e[k] * e[k] + e[3 + k] * e[3 + k]
    return math.sqrt(total)


@compiled
def jacobian(chain: Array, joints: Array, pose: Array, length: float, J: Array) -> None:
    """How the tip moves with each joint, a row each: a × (p − point), ℓ a, with axes as the joints before have them."""
    tip = (pose[0, 3], pose[1, 3], pose[2, 3])
    for joint in range(joints.size):
        axis, point = three(chain[joint], 0), three(chain[joint], 3)
        for before in range(joint - 1, -1, -1):
            a, p = three(chain[before], 0), three(chain[before], 3)
            c, s = math.cos(joints[before]), math.sin(joints[before])
            axis, point = turned(axis, a, c, s), turned_about(point, p, a, c, s)
        linear = cross(axis, minus(tip, point))
        for k in range(3):
            J[joint, k], J[joint, 3 + k] = linear[k], length * axis[k]


@compiled
def refine(chain: Array, goal: Array, length: float, joints: Array, steps: int) -> float:
    """Lower E from joints within the limits, in place, in so many steps at most; E."""
    n = joints.size
    lower, upper = chain[:n, LOWER], chain[:n, UPPER]
    J, e, pose = np.empty((n, 6)), np.empty(6), np.empty((4, 4))
    A, y, step, trial = np.empty((6, 6)), np.empty(6), np.empty(n), np.empty(n)
    stopped, ones, still = np.zeros(n, np.int64), np.ones(n), np.zeros(n)
    forward(chain, joints, pose)
    best = errors(pose, goal, length, e)
    damping, fresh = 1e-3 * best * best + GENTLE, True
    for _ in range(steps):
        if best < DONE:
            break
        if fresh:
            jacobian(chain, joints, pose, length, J)
        boxed_step(J, e, ones, still, damping, lower - joints, upper - joints, stopped, A, y, step)
        largest = 0.0
        for k in range(n):
            trial[k] = min(max(joints[k] + step[k], lower[k]), upper[k])
            largest = max(largest, abs(trial[k] - joints[k]))
        forward(chain, trial, pose)
        now = errors(pose, goal, length, y)
        fresh = now < best
        if fresh:
            joints[:], e[:] = trial, y
            best = now
            damping = max(0.1 * damping, GENTLE)
        else:
            damping *= 8.0
        if largest < STILL or damping > ROUGH:
            break
    return best


@compiled
def nearest_within(
    chain: Array, goal: Array, length: float, near: Array, table: Array, count: int, joints: Array
) -> None:
    """Joints within the limits with the least E, from every branch of the table and from a posture.

    Of those that are alike, the one nearest to the posture.
    """
    n = joints.size
    starts, costs = np.empty((count + 1, n)), np.empty(count + 1)
    for index in range(count + 1):
        for k in range(n):
            value = near[k] if index == count else table[index, k]
            if value < chain[k, LOWER] or value > chain[k, UPPER]:
                value = clamped(value, chain[k, LOWER], chain[k, UPPER])
            starts[index, k] = value
        costs[index] = refine(chain, goal, length, starts[index], FEW_STEPS)
    for rank in range(min(POLISHED, count + 1)):
        index = rank + int(np.argmin(costs[rank:]))
        for k in range(n):
            starts[rank, k], starts[index, k] = starts[index, k], starts[rank, k]
        costs[index] = costs[rank]
        costs[rank] = refine(chain, goal, length, starts[rank], MANY_STEPS)
    least, best, nearest = costs.min(), 0, math.inf
    for index in range(count + 1):
        way = 0.0
        for k in range(n):
            way += (starts[index, k] - near[k]) ** 2
        if costs[index] <= least + SAME and way < nearest:
            best, nearest = index, way
    joints[:] = starts[best]
