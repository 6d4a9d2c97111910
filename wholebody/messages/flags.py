"""What the numbers in messages mean: modes, status flags, verbs, refusals."""

from __future__ import annotations

from enum import IntEnum, IntFlag


class Status(IntFlag):
    """What a joint's board says of it (the flags of the Hubo boards, which others map to), and the daemon."""

    DRIVER_ON = 1 << 0
    CONTROL_ON = 1 << 1
    HOMED = 1 << 2
    AT_LIMIT_SWITCH = 1 << 3
    JAMMED = 1 << 4
    SATURATED = 1 << 5
    BIG_ERROR = 1 << 6
    ENCODER_ERROR = 1 << 7
    DRIVER_FAULT = 1 << 8
    MOTOR_FAILED = 1 << 9
    POSITION_BELOW_MINIMUM = 1 << 10
    POSITION_ABOVE_MAXIMUM = 1 << 11
    VELOCITY_ERROR = 1 << 12
    ACCELERATION_ERROR = 1 << 13
    TOO_HOT = 1 << 14
    TAKEN_OVER = 1 << 15  # by the daemon: it was about to leave its range or its velocity limit
    STOP_PRESSED = 1 << 16  # a stop button at the robot, of a circuit that stops this joint: the daemon stops them all


class Mode(IntEnum):
    """Which of a reference's fields a joint follows."""

    POSITION = 0
    VELOCITY = 1
    EFFORT = 2
    IMPEDANCE = 3  # position, velocity and effort together, through stiffness and damping


READY = int(Status.DRIVER_ON | Status.CONTROL_ON)
"""Flags of a joint that follows references; one without them is off, or its board has not said yet."""


class Measured(IntFlag):
    """Which of a joint's quantities are measured, or derived from what is; the others are no more than zeros."""

    POSITION = 1 << 0
    VELOCITY = 1 << 1
    ACCELERATION = 1 << 2
    EFFORT = 1 << 3
    CURRENT = 1 << 4
    TEMPERATURE = 1 << 5


class MeasuredMotion(IntFlag):
    """Which parts an IMU measures."""

    ROLL_AND_PITCH = 1 << 0
    YAW = 1 << 1
    ANGULAR_VELOCITY_X = 1 << 2
    ANGULAR_VELOCITY_Y = 1 << 3
    ANGULAR_VELOCITY_Z = 1 << 4
    LINEAR_ACCELERATION_X = 1 << 5
    LINEAR_ACCELERATION_Y = 1 << 6
    LINEAR_ACCELERATION_Z = 1 << 7


class MeasuredWrench(IntFlag):
    """Which axes a force-torque sensor measures."""

    FORCE_X = 1 << 0
    FORCE_Y = 1 << 1
    FORCE_Z = 1 << 2
    TORQUE_X = 1 << 3
    TORQUE_Y = 1 << 4
    TORQUE_Z = 1 << 5


class Filter(IntEnum):
    """How the daemon makes a joint's command θc of its reference θr and its measured position θa (Hubo-Ach §3.5)."""

    PASS = 0  # θc = θr
    SMOOTH = 1  # θc = (θc⁻ (L − 1) + θr) / L
    COMPLIANT = 2  # θc = θr + Kc (θa − θr), Kc < 1
    FEEDBACK = 3  # θc = (θa (L − 1) + θr) / L


class Silence(IntEnum):
    """What happens to the joints of a controller that declared a period and then falls silent."""

    HOLD = 0  # they keep the command they have
    DAMP = 1  # they come to rest where they are, as softly as the robot can
    STOP = 2  # the whole robot is stopped


class Refusal(IntEnum):
    """Why the daemon's gate did not pass a reference on as it came."""

    NOT_FINITE = 0
    BELOW_MINIMUM = 1
    ABOVE_MAXIMUM = 2
    TOO_FAST = 3
    WRONG_MODE = 4
    WRONG_LAYOUT = 5
    LEASED = 6
    SILENT = 7
    STOPPED = 8
    NOT_READY = 9  # the joint is switched off, on its way home, or nobody knows where it is
    TOO_STIFF = 10  # stiffness or damping was lowered
    TOO_STRONG = 11  # an effort was saturated


class Verb(IntEnum):
    """What a console asks of the daemon and the boards (Hubo-Ach §4.3); the values that go with it in brackets."""

    STATUS = 0
    HOME = 1
    INITIALIZE = 2
    RESET = 3
    CONTROL = 4  # [1 on, 0 off]
    INITIALIZE_SENSORS = 5
    FILTER = 6  # [Filter, L or Kc]
    STEP_LIMIT = 7  # [rad per period; not above 0: the joint's velocity limit again]
    STOP = 8
    RESUME = 9
    END_LEASE = 10
    GAINS = 11  # [Kp, Ki, Kd of the board]


ALL_JOINTS = -1
"""The joint of a command to all boards."""
