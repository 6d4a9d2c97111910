"""The kernels that read sensors: what is not measured, or no number, is replaced by what is known, and doubted."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wholebody.estimation.rotations import matrix_of
from wholebody.estimation.support_cycle import Legs
from wholebody.messages import Measured, MeasuredMotion, MeasuredWrench
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array, Integers, values

VELOCITY = int(Measured.VELOCITY)
ROLL_AND_PITCH = int(MeasuredMotion.ROLL_AND_PITCH)
GYRO_X = int(MeasuredMotion.ANGULAR_VELOCITY_X)
GYRO = 0b111 * GYRO_X
ACCELEROMETER = int(
    MeasuredMotion.LINEAR_ACCELERATION_X | MeasuredMotion.LINEAR_ACCELERATION_Y | MeasuredMotion.LINEAR_ACCELERATION_Z
)
FORCES_ALONG = int(MeasuredWrench.FORCE_X | MeasuredWrench.FORCE_Y)
TORQUES = int(MeasuredWrench.TORQUE_X | MeasuredWrench.TORQUE_Y)

NOT_FINITE, SILENT = 1, 2
"""What was wrong with a reading, as flags."""

BLIND_GYRO = 0.2
"""rad/s: how well a standing leg's encoders stand in for an axis without a gyro."""
BLIND_ACCELEROMETER = 3.0
"""m/s²: how much a body accelerates that has no accelerometer."""
WEIGHTLESS = 0.981
"""m/s²: an accelerometer that reads less is dead, or the robot falls."""

Flags = npt.NDArray[np.uint8]


class Motion(NamedTuple):
    """What the IMU says, made fit for the filter."""

    gyro: Array
    gyro_deviation: Array
    accelerometer: Array
    up: Array  # zero if not measured
    deviation: Array  # of the accelerometer: 1 number


@compiled
def read_joints(
    position: Array, velocity: Array, measured: Flags, joints: Integers, dt: float, q: Array, v: Array
) -> int:
    """Positions and velocities in the order of the model, at the end of q and v; velocities from positions if need be.

    With a number that is none, all stay as they were.
    """
    n = len(joints)
    for k in range(n):
        if not math.isfinite(position[joints[k]] + velocity[joints[k]]):
            return NOT_FINITE
    first_q, first_v = len(q) - n, len(v) - n
    for k in range(n):
        j = joints[k]
        if measured[j] & VELOCITY:
            v[first_v + k] = velocity[j]
        elif dt > 0.0:
            v[first_v + k] = (position[j] - q[first_q + k]) / dt
        else:
            v[first_v + k] = 0.0
        q[first_q + k] = position[j]
    return 0


@compiled
def read_wrenches(
    readings: Array, measured: Integers, at_sole: Array, at_ankle: Array, lean: Array, wrench: Array, torque: Array
) -> int:
    """Wrench at each sole, and torque about each ankle, NaN if not measured; with a NaN reading, the last ones stay.

    Where horizontal forces are not measured, they are those of a pendulum: `lean`, in the axes of the sole, times the
    vertical one. The readings are changed.
    """
    wrong = 0
    for foot in range(len(readings)):
        total = 0.0
        for k in range(6):
            total += readings[foot, k]
        if not math.isfinite(total):
            wrong = NOT_FINITE
            continue
        if measured[foot] & FORCES_ALONG != FORCES_ALONG:
            M, reading = at_sole[foot], readings[foot]
            up = M[2, 0] * reading[0] + M[2, 1] * reading[1] + M[2, 2] * reading[2]
            for k in range(3):
                reading[k] += up * (M[0, k] * lean[foot, 0] + M[1, k] * lean[foot, 1])
        for i in range(6):
            wrench[foot, i] = 0.0
            for k in range(6):
                wrench[foot, i] += at_sole[foot, i, k] * readings[foot, k]
        for i in range(2):
            torque[foot, i] = 0.0
            for k in range(6):
                torque[foot, i] += at_ankle[foot, i, k] * readings[foot, k]
            if measured[foot] & TORQUES != TORQUES:
                torque[foot, i] = math.nan
    return wrong


@compiled
def look_at_legs(
    integers: Integers, storage: Array, imu: int, ankles: Integers, soles: Integers, legs: Legs, turns: Array
) -> None:
    """Fill in where each foot is and how it moves and turns, seen from the IMU, by the encoders."""
    now = values(integers, storage)
    here = now.placement[imu]
    for foot in range(len(ankles)):
        ankle, sole = now.placement[ankles[foot]], now.placement[soles[foot]]
        dx, dy, dz = ankle[0, 3] - here[0, 3], ankle[1, 3] - here[1, 3], ankle[2, 3] - here[2, 3]
        there, own = now.velocity[ankles[foot]], now.velocity[imu]
        vx = there[0] - own[0] - (own[4] * dz - own[5] * dy)
        vy = there[1] - own[1] - (own[5] * dx - own[3] * dz)
        vz = there[2] - own[2] - (own[3] * dy - own[4] * dx)
        wx, wy, wz = there[3] - own[3], there[4] - own[4], there[5] - own[5]
        for i in range(3):
            a, b, c = here[0, i], here[1, i], here[2, i]
            legs.p[foot, i] = a * dx + b * dy + c * dz
            legs.p_dot[foot, i] = a * vx + b * vy + c * vz
            turns[foot, i] = a * wx + b * wy + c * wz
            for k in range(3):
                legs.E[foot, i, k] = a * sole[0, k] + b * sole[1, k] + c * sole[2, k]


@compiled
def read_motion(
    reading: Array,
    measured: int,
    orientation: Array,
    contact: Array,
    turns: Array,
    noise: Array,
    motion: Motion,
    R: Array,
) -> int:
    """Make an IMU's reading fit to use: quaternion, angular velocity and acceleration; `noise` of gyro, accelerometer.

    For axes without a gyro the standing legs' encoders speak. Without an accelerometer nothing accelerates.
    """
    wrong = 0
    for k in range(3):
        value = reading[4 + k]
        seen = measured & (GYRO_X << k) != 0
        if seen and not math.isfinite(value):
            seen, wrong = False, NOT_FINITE
        motion.gyro[k] = value if seen else _by_legs(contact, turns, k)
        motion.gyro_deviation[k] = noise[0] if seen else BLIND_GYRO
    seen = measured & ACCELEROMETER == ACCELEROMETER
    ax, ay, az = reading[7], reading[8], reading[9]
    square = ax * ax + ay * ay + az * az
    if seen and not math.isfinite(square):
        seen, wrong = False, wrong | NOT_FINITE
    elif seen and square < WEIGHTLESS * WEIGHTLESS:
        seen, wrong = False, wrong | SILENT
    if not seen:
        matrix_of(orientation, R)
        ax, ay, az = 9.81 * R[2, 0], 9.81 * R[2, 1], 9.81 * R[2, 2]
    motion.accelerometer[0], motion.accelerometer[1], motion.accelerometer[2] = ax, ay, az
    motion.deviation[0] = noise[1] if seen else BLIND_ACCELEROMETER
    motion.up[0], motion.up[1], motion.up[2] = 0.0, 0.0, 0.0
    # An IMU with an accelerometer makes its angles of it: to believe both would count it twice.
    if not seen and measured & ROLL_AND_PITCH:
        size = reading[0] * reading[0] + reading[1] * reading[1] + reading[2] * reading[2] + reading[3] * reading[3]
        if abs(size - 1.0) < 1e-3:
            matrix_of(reading, R)
            motion.up[0], motion.up[1], motion.up[2] = R[2, 0], R[2, 1], R[2, 2]
        else:
            wrong |= SILENT if math.isfinite(size) else NOT_FINITE
    return wrong


@compiled
def _by_legs(contact: Array, turns: Array, axis: int) -> float:
    """The angular velocity of the IMU if the feet on the ground do not turn, about one of its axes."""
    total, count = 0.0, 0
    for foot in range(len(contact)):
        if contact[foot] != 0.0:
            total -= turns[foot, axis]
            count += 1
    return total / count if count else 0.0
