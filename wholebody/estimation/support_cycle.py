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
    forget,
    move_body,
    move_feet,
    settle,
    sole_turn,
    tread,
)
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array

DRIFT, UP, SOLE, ANKLE, ROCKING, TORQUE, FREE, VIBRATION, FLEXING, CREEP, SLIP = range(11)
GRAVITY, STIFFNESS, DAMPING, GATE = range(11, 15)
"""Where the numbers of a filter stand: deviations first."""
LEVEL, HEADING, FLEXION, RATE = range(15, 19)
NUMBERS = 19

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
    stood: Array  # 2 × f: whether a foot stood, and whether firmly, in the last cycle
    last: Array  # 2 × 3: gyro and accelerometer
    numbers: Array
    told: Array


class Legs(NamedTuple):
    """What encoders and force sensors say of each foot, from the IMU."""

    E: Array  # f × 3 × 3: unbent sole to IMU
    p: Array  # f × 3: the ankle
    p_dot: Array  # f × 3
    torque: Array  # f × 2: of the ground about the ankle, in the axes of the sole
    contact: Array  # f: 0 or 1
    firm: Array  # f: 1 if the sole lies flat, 0 if it may rock on an edge


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
    _come_and_go(filter, legs)
    move_body(x, gyro, accelerometer, numbers[GRAVITY], dt, filter.F, filter.scratch[:3])
    spread(P, filter.F, filter.memory[0])
    flexing = numbers[FLEXING] if numbers[STIFFNESS] > 0 else 0.0
    move_feet(x, P, dt, flexing, numbers[CREEP], numbers[SLIP], legs.contact, legs.firm)
    standing = legs.contact.any()
    vibration = numbers[VIBRATION] ** 2 if standing else 0.0
    for k in range(3):
        # Between two readings a value may have been anything from one to the other: a variance of difference² / 12.
        turned, pushed = gyro[k] - filter.last[0, k], accelerometer[k] - filter.last[1, k]
        P[k, k] += (gyro_deviation[k] ** 2 + turned * turned / 12) * dt * dt
        P[3 + k, 3 + k] += numbers[DRIFT] ** 2 * dt
        P[6 + k, 6 + k] += (deviation * deviation + vibration + pushed * pushed / 12) * dt * dt
        filter.last[0, k], filter.last[1, k] = gyro[k], accelerometer[k]
    symmetrise(P)
    for k in range(len(error)):
        error[k] = 0.0
    filter.told[SURPRISE], filter.told[ROWS] = 0.0, 0.0
    for foot in range(len(legs.contact)):
        if legs.contact[foot] != 0.0:
            _stand(filter, legs, foot, gyro, error)
    if not standing:
        _float(filter, error)
    if up[0] * up[0] + up[1] * up[1] + up[2] * up[2] > 0.5:
        filter.told[SURPRISE] += see_up(x[:4], P, error, up, 1.0, numbers[UP] ** 2, numbers[GATE], filter.memory)
        filter.told[ROWS] += 3
    apply_error(x, error)


@compiled
def _come_and_go(filter: Filter, legs: Legs) -> None:
    """Feet that came down, lie flat by now, rock, or left."""
    x, P, numbers = filter.x, filter.P, filter.numbers
    for foot in range(len(legs.contact)):
        first = BODY_ERROR + FOOT_ERROR * foot
        if legs.contact[foot] != filter.stood[0, foot]:
            stands = legs.contact[foot] != 0.0
            tread(x, P, foot, numbers[FLEXION] if stands else 0.0, numbers[RATE] if stands else 0.0)
        if legs.firm[foot] != filter.stood[1, foot]:
            if legs.firm[foot] != 0.0:
                settle(x, P, foot, legs.E[foot], numbers[LEVEL], numbers[HEADING], filter.scratch)
            else:
                forget(x, P, -1, first + 4, 3)
        filter.stood[0, foot], filter.stood[1, foot] = legs.contact[foot], legs.firm[foot]


@compiled
def _stand(filter: Filter, legs: Legs, foot: int, gyro: Array, error: Array) -> None:
    """Believe what a foot on the ground says."""
    x, P, numbers, rows, memory = filter.x, filter.P, filter.numbers, filter.rows, filter.memory
    gate, surprise = numbers[GATE], 0.0
    firm, count = legs.firm[foot] != 0.0, 3
    if firm:
        for k, value in enumerate(sole_turn(x, foot, legs.E[foot], rows, filter.scratch)):
            surprise += believe(P, error, rows[k], -value, numbers[SOLE] ** 2, gate, memory)
        count += 3
    still = numbers[ANKLE] if firm else numbers[ROCKING]
    for k, value in enumerate(ankle_velocity(x, gyro, legs.p[foot], legs.p_dot[foot], rows)):
        surprise += believe(P, error, rows[k], -value, still * still, gate, memory)
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
