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


class Verb(IntEnum):
    """What a console asks of the boards (Hubo-Ach §4.3)."""

    STATUS = 0
    HOME = 1
    INITIALIZE = 2
    RESET = 3
    GOTO = 4
    CONTROL = 5
    INITIALIZE_SENSORS = 6


ALL_JOINTS = -1
TEXT_SIZE = 160

_IMU = np.dtype([("orientation", "<f8", (4,)), ("angular_velocity", "<f8", (3,)), ("linear_acceleration", "<f8", (3,))])
_FORCE_TORQUE = np.dtype([("force", "<f8", (3,)), ("torque", "<f8", (3,))])
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
    reference in force and Status flags. `base` is the pose of the floating base where something knows it.
    """
    n = len(_names(joints, "joint"))
    per_joint = ["position", "velocity", "acceleration", "effort", "current", "temperature", "reference"]
    fields: list[Any] = [("time", "<f8"), ("tick", "<u8")]
    fields += [(quantity, "<f8", (n,)) for quantity in per_joint]
    fields += [("status", "<u4", (n,))]
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
    """Build a controller's reference: per joint what to follow, and a mask that says which joints it speaks for."""
    n = len(_names(joints, "joint"))
    fields: list[Any] = [("time", "<f8")]
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
