"""The memory that filters share with their kernels in C: records of named numbers, in the order of `estimation.h`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from wholebody.errors import UnknownName, WrongRecord
from wholebody.messages import Dtype, State, labels
from wholebody.model.layout import Array, Integers
from wholebody.model.model import Model


def _record(*fields: tuple[str, int | tuple[int, ...]]) -> np.dtype[np.void]:
    return np.dtype([(name, "f8", () if shape == 1 else shape) for name, shape in fields])


ATTITUDE = _record(
    ("orientation", 4), ("gyro_bias", 3), ("covariance", (6, 6)), ("gyro", 3), ("accelerometer", 3),
    ("angular_velocity", 3), ("innovation", 1), ("started", 1), ("gyro_deviation", 1), ("bias_drift", 1),
    ("accelerometer_deviation", 1), ("gravity", 1), ("gate", 1),
)  # fmt: skip
BODY = _record(("orientation", 4), ("gyro_bias", 3), ("velocity", 3))
FOOT = _record(("flexion", 2), ("flexion_rate", 2), ("ground", 4))
BODY_ERROR, FOOT_ERROR = 9, 7
"""Numbers of an error: quaternions are off by rotation vectors."""
LEG = _record(
    ("E", (3, 3)), ("p", 3), ("p_dot", 3), ("turn", 3), ("torque", 2), ("contact", 1), ("firm", 1), ("stood", 1),
    ("lay_flat", 1),
)  # fmt: skip
SUPPORT_SETTINGS = (
    *("bias_drift", "inclinometer", "sole", "ankle", "rocking", "torque", "free_velocity", "vibration", "flexing"),
    *("creep", "slip", "level", "heading", "flexion", "flexion_rate", "stiffness", "damping", "gravity", "gate"),
)
MOTION = _record(
    ("gyro", 3), ("gyro_deviation", 3), ("accelerometer", 3), ("accelerometer_deviation", 1), ("up", 3)
)  # fmt: skip
SUPPORT_MEMORY = _record(("gyro", 3), ("accelerometer", 3), ("surprise", 1), ("rows", 1))
CONTACT_SETTINGS = ("touches", "leaves", "debounce", "settles", "loaded", "deviation", "changes")
FOOT_GEOMETRY = _record(("at_sole", (6, 6)), ("at_ankle", (2, 6)), ("sole_from_ankle", 3))
FOOT_ODOMETRY = _record(("anchor", 3), ("stands", 1), ("lean", 2))
BALANCE_MEMORY = _record(
    ("least", 1), ("gyro_deviation", 1), ("accelerometer_deviation", 1), ("unwatched", 1), ("found_frozen", 1),
    ("place", 3),
)  # fmt: skip

NOT_FINITE, SILENT, ENCODER_FAULT, FORCE_FAULT, FROZEN_FAULT, STATE_FAULT = (1 << bit for bit in range(6))
"""What kernels say was wrong with readings, as flags."""


def numbers_of(records: npt.NDArray[Any]) -> Array:
    """All numbers of records in one row, in the same memory."""
    return records.reshape(-1).view(np.float64)


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same memory, not to be written by who gets it."""
    view = array.view()
    view.flags.writeable = False
    return view


class Readings:
    """A state, and its fields as arrays for kernels."""

    def __init__(self, model: Model, layout: Dtype) -> None:
        self.layout = self._accepted = layout
        memory = np.zeros(1, layout)
        self.bytes = memory.view(np.uint8)
        self._time = memory["time"]
        self.joints = _columns(model, layout)
        has_imu = "imu" in (layout.names or ())
        self.motion: Array = floats_of(memory["imu"], 10)[0] if has_imu else np.zeros(10)
        """Quaternion, angular velocity and acceleration of the IMU."""
        self.places = _places(layout)

    def take(self, state: State) -> None:
        """Copy a state of the same layout."""
        if state.dtype is not self._accepted:
            if state.dtype != self.layout or labels(state.dtype) != labels(self.layout):
                raise WrongRecord("this state is of another robot, or another kind, than the estimator was made for")
            self._accepted = state.dtype
        self.bytes[:] = np.frombuffer(state, np.uint8)

    @property
    def time(self) -> float:
        """When it was measured."""
        return float(self._time[0])


def floats_of(field: Any, size: int) -> Array:
    """The first numbers of each record of a field, as rows."""
    dtype = field.dtype
    rows = field.reshape(-1, 1).view(np.uint8).reshape(-1, dtype.itemsize)
    numbers: Array = rows[:, : 8 * size].view(np.float64)
    return numbers


def _columns(model: Model, layout: Dtype) -> Integers:
    """Where each joint of the model stands in a state."""
    names = labels(layout)
    for name in model.joint_names:
        if name not in names:
            raise UnknownName("joint of the state", name, names)
    return np.array([names.index(name) for name in model.joint_names], np.int64)


def _places(layout: Dtype) -> Integers:
    """Where the kernel finds fields in a state, in bytes, in the order of `StateLayout`; no IMU is at −1."""
    fields: Mapping[str, Any] = layout.fields or {}
    imu, wrench = fields.get("imu"), fields["force_torque"]
    force = wrench[0].base
    return np.array(
        [
            *(fields[name][1] for name in ("position", "velocity", "reference", "measured")),
            *((imu[1], _offset(imu[0].base, "measured")) if imu else (-1, 0)),
            *(wrench[1], force.itemsize, _offset(force, "measured")),
        ],
        np.int64,
    )


def _offset(record: Dtype, name: str) -> int:
    fields: Mapping[str, Any] = record.fields or {}
    return int(fields[name][1])
