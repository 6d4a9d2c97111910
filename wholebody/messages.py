"""The records that processes exchange: fixed layouts, built from a robot's joint list.

Units are SI (docs/conventions.md); fields are aligned as C would align them. Joint, IMU and force-torque sensor names
are labels of the dtype, so they are part of the layout's hash: a channel of one robot never opens as that of another,
and a record that changes in a later version is another layout, not a silent misreading.

    state = messages.state(["RHY", "RHR"], imus=["pelvis"], force_torques=["right_foot"])
    with Channel("hubo.state", state) as channel: ...
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum, IntFlag
from typing import Any

import numpy as np

from wholebody.errors import BadMessage

Dtype = np.dtype[Any]
Record = np.void
"""One message: a record of `robot.state_dtype()` or `robot.reference_dtype()`, such as a channel's `message`."""


class Status(IntFlag):
    """What a joint's board says of it (the flags of the Hubo boards, which others map to)."""

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


class Mode(IntEnum):
    """Which of a reference's fields a joint follows."""

    POSITION = 0
    VELOCITY = 1
    EFFORT = 2
    IMPEDANCE = 3  # position, velocity and effort together, through stiffness and damping


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
    NOT_READY = 9  # the joint is switched off, or on its way home


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
TEXT_SIZE = 160
MAX_CONTROLLERS = 16
NAME_SIZE = 32

_IMU = np.dtype(
    [
        ("orientation", "<f8", (4,)),
        ("angular_velocity", "<f8", (3,)),
        ("linear_acceleration", "<f8", (3,)),
        ("measured", "<u2"),
    ],
    align=True,
)
_FORCE_TORQUE = np.dtype([("force", "<f8", (3,)), ("torque", "<f8", (3,)), ("measured", "<u2")], align=True)
_BASE = np.dtype(
    [
        ("position", "<f8", (3,)),
        ("orientation", "<f8", (4,)),
        ("linear_velocity", "<f8", (3,)),
        ("angular_velocity", "<f8", (3,)),
        ("known", "?"),
    ],
    align=True,
)


def state(joints: Sequence[str], imus: Sequence[str] = (), force_torques: Sequence[str] = ()) -> Dtype:
    """Build the state of a robot: what was measured in one cycle.

    Per joint position (rad or m), velocity, acceleration, effort (N·m or N), current (A), temperature (°C), the
    command in force, Status flags, and which of all that is Measured. `base` is the pose of the floating base where
    something knows it.
    """
    n = len(_names(joints, "joint"))
    per_joint = ["position", "velocity", "acceleration", "effort", "current", "temperature", "reference"]
    fields: list[Any] = [("time", "<f8"), ("tick", "<u8")]
    fields += [(quantity, "<f8", (n,)) for quantity in per_joint]
    fields += [("status", "<u4", (n,)), ("measured", "u1", (n,))]
    fields += [("imu", _IMU, (len(imus),))] if imus else []
    fields += [("force_torque", _FORCE_TORQUE, (len(force_torques),))] if force_torques else []
    fields += [("base", _BASE)]
    return _labelled(
        fields,
        joints=joints,
        imus=_names(imus, "IMU", some=False),
        force_torques=_names(force_torques, "force-torque sensor", some=False),
    )


def reference(joints: Sequence[str]) -> Dtype:
    """Build a controller's reference: per joint what to follow, and a mask that says which joints it speaks for.

    A controller that declares its period (s) says what is to happen when it is Silent for longer; with period 0 its
    last word holds for ever. With `lease` nobody else can move the joints of the mask until it falls silent or lets go.
    """
    n = len(_names(joints, "joint"))
    fields: list[Any] = [("time", "<f8"), ("period", "<f8"), ("silence", "u1"), ("lease", "?")]
    fields += [(quantity, "<f8", (n,)) for quantity in ("position", "velocity", "effort", "stiffness", "damping")]
    fields += [("mode", "u1", (n,)), ("mask", "?", (n,))]
    return _labelled(fields, joints=joints)


def board_command(joints: Sequence[str]) -> Dtype:
    """Build a console's request to the boards: a Verb for one joint, or for ALL_JOINTS, with up to four numbers."""
    fields = [("number", "<u8"), ("verb", "<u2"), ("joint", "<i2"), ("values", "<f8", (4,))]
    return _labelled(fields, joints=_names(joints, "joint"))


def board_reply(joints: Sequence[str]) -> Dtype:
    """Build the answer to the request of the same number."""
    fields = [
        ("number", "<u8"),
        ("verb", "<u2"),
        ("joint", "<i2"),
        ("accepted", "?"),
        ("status", "<u4"),
        ("values", "<f8", (4,)),
        ("text", f"S{TEXT_SIZE}"),
    ]
    return _labelled(fields, joints=_names(joints, "joint"))


def tick() -> Dtype:
    """Build the beat of a loop: its time, its number, its period, and how many beats were missed so far."""
    return np.dtype([("time", "<f8"), ("number", "<u8"), ("period", "<f8"), ("missed", "<u8")])


def timing(stages: Sequence[str]) -> Dtype:
    """Build how long each stage of one cycle of a loop took, and how late the cycle began, in seconds."""
    n = len(_names(stages, "stage"))
    fields: list[Any] = [("number", "<u8"), ("missed", "<u8"), ("late", "<f8"), ("took", "<f8", (n,))]
    return _labelled(fields, stages=stages)


def report(joints: Sequence[str]) -> Dtype:
    """Build what the daemon knows of its controllers and joints, several times a second.

    Per controller its name, how many references came, the period it declared and the seconds since its last one; per
    joint the controller it follows (−1: none), whether that one holds a lease, its Filter with L or Kc, and its step
    limit; how often something was refused, by Refusal, in all and by joint.
    """
    n = len(_names(joints, "joint"))
    fields: list[Any] = [
        ("time", "<f8"),
        ("tick", "<u8"),
        ("missed", "<u8"),
        ("stopped", "?"),
        ("controller", f"S{NAME_SIZE}", (MAX_CONTROLLERS,)),
        ("received", "<u8", (MAX_CONTROLLERS,)),
        ("period", "<f8", (MAX_CONTROLLERS,)),
        ("age", "<f8", (MAX_CONTROLLERS,)),
        ("owner", "i1", (n,)),
        ("leased", "?", (n,)),
        ("filter", "u1", (n,)),
        ("filter_value", "<f8", (n,)),
        ("step_limit", "<f8", (n,)),
        ("refused", "<u8", (len(Refusal),)),
        ("refused_by_joint", "<u8", (n,)),
    ]
    return _labelled(fields, joints=joints)


def event() -> Dtype:
    """Build something that happened once: when, where, what, and up to eight numbers that belong to it."""
    return np.dtype(
        [
            ("time", "<f8"),
            ("source", "S64"),
            ("name", "S64"),
            ("text", f"S{TEXT_SIZE}"),
            ("count", "<u8"),
            ("values", "<f8", (8,)),
        ],
        align=True,
    )


def labels(dtype: Dtype, kind: str = "joints") -> tuple[str, ...]:
    """Return the names a record was built with: joints, imus or force_torques."""
    return tuple(dtype.metadata.get(kind, ())) if dtype.metadata else ()


def _labelled(fields: list[Any], **names: Sequence[str]) -> Dtype:
    return np.dtype(fields, align=True, metadata={kind: tuple(given) for kind, given in names.items() if given})


def _names(names: Sequence[str], what: str, some: bool = True) -> Sequence[str]:
    if isinstance(names, str):
        raise BadMessage(f"{what} names are a list of text, not one text: {names!r}")
    if some and not names:
        raise BadMessage(f"a record needs at least one {what} name")
    for name in names:
        if not isinstance(name, str) or not name:
            raise BadMessage(f"{name!r} is no {what} name")
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise BadMessage(f"{what} names given twice: {', '.join(twice)}")
    return names
