"""Readings: a state that was measured, and its fields as arrays for kernels, copied once per cycle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wholebody.errors import UnknownName, WrongRecord
from wholebody.hardware import Record
from wholebody.messages import Dtype, labels
from wholebody.model.layout import Array, Integers
from wholebody.model.model import Model


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

    def take(self, state: Record) -> None:
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
