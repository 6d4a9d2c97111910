"""The layouts of messages, built from a robot's joint list.

Units are SI (docs/conventions.md); fields are aligned as C would align them. Joint, IMU and force-torque sensor names
are labels of the dtype, so they are part of the layout's hash: a channel of one robot never opens as that of another,
and a record that changes in a later version is another layout, not a silent misreading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wholebody.errors import BadMessage
from wholebody.messages.flags import Refusal
from wholebody.messages.record import Dtype
from wholebody.messages.views import (
    BASE,
    FORCE_TORQUE,
    IMU,
    Event,
    Reference,
    Report,
    State,
    Tick,
    Timing,
)

TEXT_SIZE = 160
MAX_CONTROLLERS = 16
NAME_SIZE = 32


def state(joints: Sequence[str], imus: Sequence[str] = (), force_torques: Sequence[str] = ()) -> np.dtype[State]:
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
    fields += [("imu", IMU, (len(imus),))] if imus else []
    fields += [("force_torque", FORCE_TORQUE, (len(force_torques),))] if force_torques else []
    fields += [("base", BASE)]
    return State.of(
        _labelled(
            fields,
            joints=joints,
            imus=_names(imus, "IMU", some=False),
            force_torques=_names(force_torques, "force-torque sensor", some=False),
        )
    )


def reference(joints: Sequence[str]) -> np.dtype[Reference]:
    """Build a controller's reference: per joint what to follow, and a mask that says which joints it speaks for.

    A controller that declares its period (s) says what is to happen when it is Silent for longer; with period 0 its
    last word holds for ever. With `lease` nobody else can move the joints of the mask until it falls silent or lets go.
    """
    n = len(_names(joints, "joint"))
    fields: list[Any] = [("time", "<f8"), ("period", "<f8"), ("silence", "u1"), ("lease", "?")]
    fields += [(quantity, "<f8", (n,)) for quantity in ("position", "velocity", "effort", "stiffness", "damping")]
    fields += [("mode", "u1", (n,)), ("mask", "?", (n,))]
    return Reference.of(_labelled(fields, joints=joints))


def tick() -> np.dtype[Tick]:
    """Build the beat of a loop: its time, its number, its period, and how many beats were missed so far."""
    return Tick.of(np.dtype([("time", "<f8"), ("number", "<u8"), ("period", "<f8"), ("missed", "<u8")]))


def timing(stages: Sequence[str]) -> np.dtype[Timing]:
    """Build how long each stage of one cycle of a loop took, and how late the cycle began, in seconds."""
    n = len(_names(stages, "stage"))
    fields: list[Any] = [("number", "<u8"), ("missed", "<u8"), ("late", "<f8"), ("took", "<f8", (n,))]
    return Timing.of(_labelled(fields, stages=stages))


def report(joints: Sequence[str]) -> np.dtype[Report]:
    """Build what the daemon knows of its controllers and joints, several times a second.

    Per controller its name, how many references came, the period it declared and the seconds since its last one; per
    joint the controller it follows (−1: none), whether that one holds a lease, its Filter with L or Kc, its step
    limit, and its range; how often something was refused, by Refusal, in all and by joint.
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
        ("lower", "<f8", (n,)),
        ("upper", "<f8", (n,)),
        ("refused", "<u8", (len(Refusal),)),
        ("refused_by_joint", "<u8", (n,)),
    ]
    return Report.of(_labelled(fields, joints=joints))


def event() -> np.dtype[Event]:
    """Build something that happened once: when, where, what, and up to eight numbers that belong to it."""
    return Event.of(
        np.dtype(
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
    )


def labels(dtype: Dtype, kind: str = "joints") -> tuple[str, ...]:
    """Return the names a record was built with: joints, imus or force_torques."""
    return tuple(dtype.metadata.get(kind, ())) if dtype.metadata else ()


def offset(dtype: Dtype, *path: str) -> int:
    """Where a field begins in a record, in bytes; of a field of a record within, with the names on the way to it."""
    begin = 0
    for name in path:
        fields: Mapping[str, Any] = dtype.base.fields or {}
        dtype, begin = fields[name][0], begin + int(fields[name][1])
    return begin


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
