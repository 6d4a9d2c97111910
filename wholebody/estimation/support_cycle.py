"""The kernel of one cycle of SupportFilter: feet that come and go, motion, and all that is measured."""

from __future__ import annotations

from typing import NamedTuple

from wholebody.estimation.attitude_kernels import see_up, spread
from wholebody.estimation.kalman import believe, symmetrise
from wholebody.estimation.support_kernels import (
    BODY_ERROR,
    BODY_STATE,
    FOOT_ERROR,
    FOOT_STATE,
    ankle_velocity,
    apply_error,
    lift,
    move_body,
    move_feet,
    sole_turn,
    tread,
)
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array

DRIFT, UP, SOLE, ANKLE, TORQUE, FREE, FLEXING, CREEP, GRAVITY, STIFFNESS, DAMPING, GATE = range(12)
"""Where the numbers of a filter stand: deviations first."""
PRIOR = 12
NUMBERS = PRIOR + 4

SURPRISE, ROWS = 0, 1
"""What a cycle tells: the normalised innovation squared of all rows that were taken, and how many they were."""


class Filter(NamedTuple):
    """The memory of a filter."""

    x: Array
    P: Array
    F: Array  # 9 × 9
    memory: Array  # 8 × n
    rows: Array  # 3 × n
    scratch: Array  # 12 × 3
    stands: Array  # per foot: whether it stood in the last cycle
    numbers: Array
    told: Array


class Legs(NamedTuple):
    """What encoders and force sensors say of each foot, from the IMU."""

    E: Array  # f × 3 × 3: unbent sole to IMU
    p: Array  # f × 3: the ankle
    p_dot: Array  # f × 3
    torque: Array  # f × 2: of the ground about the ankle, in the axes of the sole
    contact: Array  # f: 0 or 1


@compiled
def cycle(
    filter: Filter,
    legs: Legs,
    gyro: Array,
    gyro_deviation: Array,
    accelerometer: Array,
    deviation: float,
    up: Array,
    dt: float,
) -> None:
    """Go on by dt. `gyro_deviation` is one per axis, `deviation` that of the accelerometer; `up` is zero if unknown."""
    x, P, numbers, error = filter.x, filter.P, filter.numbers, filter.memory[7]
    for foot in range(len(legs.contact)):
        if legs.contact[foot] != 0.0 and filter.stands[foot] == 0.0:
            tread(x, P, foot, legs.E[foot], numbers[PRIOR:], filter.scratch)
        elif legs.contact[foot] == 0.0 and filter.stands[foot] != 0.0:
            lift(x, P, foot)
        filter.stands[foot] = legs.contact[foot]
    move_body(x, gyro, accelerometer, numbers[GRAVITY], dt, filter.F, filter.scratch[:3])
    spread(P, filter.F, filter.memory[0])
    move_feet(x, P, dt, numbers[FLEXING] if numbers[STIFFNESS] > 0 else 0.0, numbers[CREEP], legs.contact)
    for k in range(3):
        P[k, k] += (gyro_deviation[k] * dt) ** 2
        P[3 + k, 3 + k] += numbers[DRIFT] ** 2 * dt
        P[6 + k, 6 + k] += (deviation * dt) ** 2
    symmetrise(P)
    for k in range(len(error)):
        error[k] = 0.0
    filter.told[SURPRISE], filter.told[ROWS] = 0.0, 0.0
    standing = False
    for foot in range(len(legs.contact)):
        if legs.contact[foot] != 0.0:
            standing = True
            _stand(filter, legs, foot, gyro, error)
    if not standing:
        _float(filter, error)
    if up[0] * up[0] + up[1] * up[1] + up[2] * up[2] > 0.5:
        filter.told[SURPRISE] += see_up(x[:4], P, error, up, 1.0, numbers[UP] ** 2, numbers[GATE], filter.memory)
        filter.told[ROWS] += 3
    apply_error(x, error)


@compiled
def _stand(filter: Filter, legs: Legs, foot: int, gyro: Array, error: Array) -> None:
    """Believe what a foot on the ground says."""
    x, P, numbers, rows, memory = filter.x, filter.P, filter.numbers, filter.rows, filter.memory
    gate, surprise = numbers[GATE], 0.0
    for k, value in enumerate(sole_turn(x, foot, legs.E[foot], rows, filter.scratch)):
        surprise += believe(P, error, rows[k], -value, numbers[SOLE] ** 2, gate, memory)
    for k, value in enumerate(ankle_velocity(x, gyro, legs.p[foot], legs.p_dot[foot], rows)):
        surprise += believe(P, error, rows[k], -value, numbers[ANKLE] ** 2, gate, memory)
    count = 6
    if numbers[STIFFNESS] > 0.0:
        at, first = BODY_STATE + FOOT_STATE * foot, BODY_ERROR + FOOT_ERROR * foot
        row = memory[3]
        for axis in range(2):
            if legs.torque[foot, axis] != legs.torque[foot, axis]:  # not measured
                continue
            for k in range(len(row)):
                row[k] = 0.0
            row[first + axis], row[first + 2 + axis] = numbers[STIFFNESS], numbers[DAMPING]
            expected = numbers[STIFFNESS] * x[at + axis] + numbers[DAMPING] * x[at + 2 + axis]
            surprise += believe(P, error, row, legs.torque[foot, axis] - expected, numbers[TORQUE] ** 2, gate, memory)
            count += 1
    filter.told[SURPRISE] += surprise
    filter.told[ROWS] += count


@compiled
def _float(filter: Filter, error: Array) -> None:
    """Without ground: the velocity stays near zero, for nobody flies far."""
    row = filter.memory[3]
    for axis in range(3):
        for k in range(len(row)):
            row[k] = 0.0
        row[6 + axis] = 1.0
        filter.told[SURPRISE] += believe(
            filter.P, error, row, -filter.x[7 + axis], filter.numbers[FREE] ** 2, filter.numbers[GATE], filter.memory
        )
    filter.told[ROWS] += 3
