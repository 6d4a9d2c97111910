"""What the goals ask for at one configuration: the rows of the error, and of the Jacobian in the variables.

The variables z are the numbers that may change: joints, joints that one motor moves counted once, and the base if it
is free. J̃ has one row for each variable and one column for each coordinate of a goal, both scaled by √weight.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from wholebody.model import configuration, kernels
from wholebody.model.compiled import compiled
from wholebody.model.frame_kernels import fill_jacobian, place_frame
from wholebody.model.layout import Array, Integers, Tree, Values

LINEAR, ANGULAR, COM = 0, 1, 2
"""What a coordinate of a goal is of: a frame's position, its rotation, or the centre of mass."""


class Problem(NamedTuple):
    """All that stays the same from one iteration to the next."""

    integers: Integers  # of the model
    numbers: Array
    frame: Integers  # of each goal, −1 for the centre of mass
    target: Array  # goals × 12: rotation to world by rows, position in world
    tolerance: Array  # of each goal: m, rad; infinite for what it does not ask for
    axes: Array  # goals × 3: 1 for the axes of the world on which it asks for a position
    row: Integers  # m × 3: goal, what, axis
    scale: Array  # m: √weight of each row
    variable: Integers  # of each column of v: the variable that moves it, −1 if none does
    ratio: Array  # of each column of v: how far it moves with its variable
    place: Integers  # in q, of each variable; −1 for one of the base
    lower: Array  # of each variable
    upper: Array
    home: Array
    mobility: Array  # W⁻¹ of each variable
    support: int  # the frame that stays where it is while the base moves, or −1
    anchor: Array  # 12: where the support is


@compiled
def look(problem: Problem, fixed: Tree, now: Values, storage: Array) -> None:
    """Place base, bodies and frames at the q in the storage."""
    floating = problem.integers[5] == 1
    if problem.support >= 0:
        kernels.place_base(now)
        kernels.move_bodies(fixed, now, True)
        place_frame(fixed, now, problem.support)
        stand_on(now.placement[problem.support], problem.anchor, now.q)
    weigh = False
    for frame in problem.frame:
        weigh = weigh or frame < 0
    if weigh:
        kernels.evaluate(problem.integers, problem.numbers, storage)
        return
    if floating:
        kernels.place_base(now)
    else:
        now.rotation[0, 0], now.rotation[0, 4], now.rotation[0, 8] = 1.0, 1.0, 1.0
    kernels.move_bodies(fixed, now, floating)
    if problem.support >= 0:
        place_frame(fixed, now, problem.support)
    for frame in problem.frame:
        place_frame(fixed, now, frame)


@compiled
def stand_on(support: Array, anchor: Array, q: Array) -> None:
    """Move the base so that the support is at its anchor: base ← anchor · support⁻¹ · base."""
    x, y, z, w = turn_between(anchor, support)
    dx, dy, dz = configuration.turned(x, y, z, w, q[0] - support[0, 3], q[1] - support[1, 3], q[2] - support[2, 3])
    q[0], q[1], q[2] = anchor[9] + dx, anchor[10] + dy, anchor[11] + dz
    x, y, z, w = configuration.product(x, y, z, w, q[3], q[4], q[5], q[6])
    length = math.sqrt(x * x + y * y + z * z + w * w)
    q[3], q[4], q[5], q[6] = x / length, y / length, z / length, w / length


@compiled
def quaternion(
    a: float, b: float, c: float, d: float, e: float, f: float, g: float, h: float, i: float
) -> tuple[float, float, float, float]:
    """The unit quaternion x y z w of a rotation given by rows; from its largest part, so it is exact everywhere."""
    if a + e + i > 0.0:
        x, y, z, w = h - f, c - g, d - b, 1.0 + a + e + i
    elif a >= e and a >= i:
        x, y, z, w = 1.0 + a - e - i, b + d, c + g, h - f
    elif e >= i:
        x, y, z, w = b + d, 1.0 - a + e - i, f + h, c - g
    else:
        x, y, z, w = c + g, f + h, 1.0 - a - e + i, d - b
    length = math.sqrt(x * x + y * y + z * z + w * w)
    return x / length, y / length, z / length, w / length


@compiled
def measure(problem: Problem, now: Values, gap: Array, error: Array) -> float:
    """The gap of each goal, target − present, as position and rotation vector; the rows scaled; Σ weight · gap²."""
    for goal in range(len(problem.frame)):
        frame, to = problem.frame[goal], problem.target[goal]
        if frame < 0:
            for k in range(3):
                gap[goal, k] = to[9 + k] - now.com[k]
            continue
        at = now.placement[frame]
        for k in range(3):
            gap[goal, k] = to[9 + k] - at[k, 3]
        if problem.tolerance[goal, 1] < math.inf:
            gap[goal, 3], gap[goal, 4], gap[goal, 5] = rotation_gap(to, at)
    total = 0.0
    for k in range(len(problem.scale)):
        goal, what, axis = problem.row[k, 0], problem.row[k, 1], problem.row[k, 2]
        error[k] = problem.scale[k] * gap[goal, 3 + axis if what == ANGULAR else axis]
        total += error[k] * error[k]
    return total


@compiled
def turn_between(to: Array, at: Array) -> tuple[float, float, float, float]:
    """The quaternion of R* Rᵀ, R* by rows in a flat array, R in a 4 × 4 transform."""
    a = to[0] * at[0, 0] + to[1] * at[0, 1] + to[2] * at[0, 2]
    b = to[0] * at[1, 0] + to[1] * at[1, 1] + to[2] * at[1, 2]
    c = to[0] * at[2, 0] + to[1] * at[2, 1] + to[2] * at[2, 2]
    d = to[3] * at[0, 0] + to[4] * at[0, 1] + to[5] * at[0, 2]
    e = to[3] * at[1, 0] + to[4] * at[1, 1] + to[5] * at[1, 2]
    f = to[3] * at[2, 0] + to[4] * at[2, 1] + to[5] * at[2, 2]
    g = to[6] * at[0, 0] + to[7] * at[0, 1] + to[8] * at[0, 2]
    h = to[6] * at[1, 0] + to[7] * at[1, 1] + to[8] * at[1, 2]
    i = to[6] * at[2, 0] + to[7] * at[2, 1] + to[8] * at[2, 2]
    return quaternion(a, b, c, d, e, f, g, h, i)


@compiled
def rotation_gap(to: Array, at: Array) -> tuple[float, float, float]:
    """The rotation vector of R* Rᵀ, in world, by the shorter way."""
    x, y, z, w = turn_between(to, at)
    if w < 0.0:
        x, y, z, w = -x, -y, -z, -w
    sine = math.sqrt(x * x + y * y + z * z)
    scale = 2.0 * math.atan2(sine, w) / sine if sine > 1e-12 else 2.0
    return scale * x, scale * y, scale * z


@compiled
def reached(problem: Problem, gap: Array) -> bool:
    """Whether every goal is within its tolerance."""
    count = 0
    for goal in range(len(problem.frame)):
        count += reached_one(problem, gap, goal)
    return count == len(problem.frame)


@compiled
def reached_one(problem: Problem, gap: Array, goal: int) -> bool:
    """Whether one goal is within its tolerance, on the axes it asks for."""
    linear, angular = 0.0, 0.0
    for k in range(3):
        linear += problem.axes[goal, k] * gap[goal, k] * gap[goal, k]
        angular += gap[goal, 3 + k] * gap[goal, 3 + k]
    limit, turn = problem.tolerance[goal, 0], problem.tolerance[goal, 1]
    return bool(linear <= limit * limit and angular <= turn * turn)


@compiled
def fill_rows(problem: Problem, fixed: Tree, now: Values, J: Array) -> None:
    """J̃ at the configuration that was looked at last.

    With a support that stays, the robot as a whole turns back what the support would do, so that a point p moves by
    v_p − v_s − ω_s × (p − s): the reversed chain.
    """
    floating = problem.integers[5] == 1
    for frame in problem.frame:
        if frame >= 0:
            fill_jacobian(fixed, now, floating, frame)
    if problem.support >= 0:
        fill_jacobian(fixed, now, True, problem.support)
    J[:] = 0.0
    for column in range(len(problem.variable)):
        z = problem.variable[column]
        if z < 0:
            continue
        ratio = problem.ratio[column]
        for k in range(len(problem.scale)):
            frame, what, axis = problem.frame[problem.row[k, 0]], problem.row[k, 1], problem.row[k, 2]
            if what == COM:
                entry = now.com_jacobian[axis, column]
            else:
                entry = now.jacobian[frame, 3 + axis if what == ANGULAR else axis, column]
            if problem.support >= 0:
                back = now.jacobian[problem.support]
                if what == ANGULAR:
                    entry -= back[3 + axis, column]
                else:
                    i, j = (axis + 1) % 3, (axis + 2) % 3
                    point = now.com if what == COM else now.position[frame]
                    foot = now.position[problem.support]
                    entry -= (
                        back[axis, column]
                        + back[3 + i, column] * (point[j] - foot[j])
                        - back[3 + j, column] * (point[i] - foot[i])
                    )
            J[z, k] += problem.scale[k] * ratio * entry


@compiled
def move(problem: Problem, q: Array, step: Array, velocity: Array, result: Array) -> None:
    """result = q ⊕ step of the variables, within the limits of the joints to the last digit."""
    floating = problem.integers[5] == 1
    velocity[:] = 0.0
    for column in range(len(velocity)):
        if problem.variable[column] >= 0:
            velocity[column] = problem.ratio[column] * step[problem.variable[column]]
    configuration.integrate(q, velocity, 1.0, floating, result)
    keep_within(problem, result)


@compiled
def keep_within(problem: Problem, q: Array) -> None:
    """Clamp the variables to their limits, and let joints of the same motor follow."""
    for z in range(len(problem.place)):
        if problem.place[z] >= 0:
            q[problem.place[z]] = min(max(q[problem.place[z]], problem.lower[z]), problem.upper[z])
    offset = len(q) - len(problem.variable)
    for column in range(len(problem.variable)):
        z = problem.variable[column]
        if z >= 0 and problem.place[z] >= 0:
            q[column + offset] = problem.ratio[column] * q[problem.place[z]]
