"""Readings: a state that was measured, and its fields as arrays for kernels, copied once per cycle."""

from __future__ import annotations

from typing import Any

import numpy as np

from wholebody.errors import UnknownName, WrongRecord
from wholebody.estimation.feet import Feet
from wholebody.hardware import Record
from wholebody.messages import Dtype, labels
from wholebody.model.layout import Array, Integers
from wholebody.model.model import Model


class Readings:
    """A state, and its fields as arrays for kernels."""

    def __init__(self, model: Model, layout: Dtype, feet: Feet) -> None:
        self.layout = self._accepted = layout
        self._memory = np.zeros(1, layout)
        self._bytes = self._memory.view(np.uint8)
        self.position: Array = self._memory["position"][0]
        self.velocity: Array = self._memory["velocity"][0]
        self._reference: Array = self._memory["reference"][0]
        self.measured = self._memory["measured"][0]
        self._time = self._memory["time"]
        self.joints = _columns(model, layout)
        self._sensors = feet.sensors
        self._forces = floats_of(self._memory["force_torque"], 6)
        self._force_flags = self._memory["force_torque"]["measured"][0]
        has_imu = "imu" in (layout.names or ())
        self.motion = floats_of(self._memory["imu"], 10)[0] if has_imu else np.zeros(10)
        self._motion_flags = self._memory["imu"]["measured"][0] if has_imu else np.zeros(1, np.uint16)

    def take(self, state: Record) -> None:
        """Copy a state of the same layout."""
        if state.dtype is not self._accepted:
            if state.dtype != self.layout or labels(state.dtype) != labels(self.layout):
                raise WrongRecord("this state is of another robot, or another kind, than the estimator was made for")
            self._accepted = state.dtype
        self._bytes[:] = np.frombuffer(state, np.uint8)

    @property
    def time(self) -> float:
        """When it was measured."""
        return float(self._time[0])

    def references(self) -> Array:
        """Where the joints were told to be, in the order of the model."""
        return self._reference[self.joints]

    def wrenches(self) -> Array:
        """Of the feet, in their sensors: f × 6."""
        return self._forces[self._sensors]

    def wrench_flags(self) -> Integers:
        """What of them is measured."""
        return self._force_flags[self._sensors].astype(np.int64)  # type: ignore[no-any-return]

    def motion_flags(self) -> int:
        """What the IMU measures."""
        return int(self._motion_flags[0])


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
