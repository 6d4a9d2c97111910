"""The memory that filters share with their kernels in C: records of named numbers, in the order of `estimation.h`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from wholebody.errors import UnknownName, WrongRecord
from wholebody.messages import Dtype, Floats, ForceTorques, Record, State, labels, offset
from wholebody.model.layout import Array, Integers
from wholebody.model.model import Model


def _record(*fields: tuple[str, int | tuple[int, ...]]) -> np.dtype[np.void]:
    return np.dtype([(name, "f8", () if shape == 1 else shape) for name, shape in fields])


class AttitudeMemory(Record):
    """Of the attitude filter."""

    orientation: Floats
    gyro_bias: Floats
    covariance: Floats
    gyro: Floats
    accelerometer: Floats
    angular_velocity: Floats
    innovation: float
    started: float
    gyro_deviation: float
    bias_drift: float
    accelerometer_deviation: float
    gravity: float
    gate: float


ATTITUDE = AttitudeMemory.of(_record(
    ("orientation", 4), ("gyro_bias", 3), ("covariance", (6, 6)), ("gyro", 3), ("accelerometer", 3),
    ("angular_velocity", 3), ("innovation", 1), ("started", 1), ("gyro_deviation", 1), ("bias_drift", 1),
    ("accelerometer_deviation", 1), ("gravity", 1), ("gate", 1),
))  # fmt: skip


class Body(Record):
    """Of the support filter, about the IMU."""

    orientation: Floats
    gyro_bias: Floats
    velocity: Floats


class SupportMemory(Record):
    """Of the support filter, from one cycle to the next."""

    gyro: Floats
    accelerometer: Floats
    surprise: float
    rows: float


class BalanceMemory(Record):
    """Of the balance estimator."""

    least: float
    gyro_deviation: float
    accelerometer_deviation: float
    unwatched: float
    found_frozen: float
    place: Floats


BODY = Body.of(_record(("orientation", 4), ("gyro_bias", 3), ("velocity", 3)))
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
SUPPORT_MEMORY = SupportMemory.of(_record(("gyro", 3), ("accelerometer", 3), ("surprise", 1), ("rows", 1)))
CONTACT_SETTINGS = ("touches", "leaves", "debounce", "settles", "loaded", "deviation", "changes")
FOOT_GEOMETRY = _record(("at_sole", (6, 6)), ("at_ankle", (2, 6)), ("sole_from_ankle", 3))


class Odometry(NamedTuple):
    """Where feet stand and lean, one row each."""

    anchor: Floats
    stands: Floats
    lean: Floats


FOOT_ODOMETRY = _record(("anchor", 3), ("stands", 1), ("lean", 2))
BALANCE_MEMORY = BalanceMemory.of(_record(
    ("least", 1), ("gyro_deviation", 1), ("accelerometer_deviation", 1), ("unwatched", 1), ("found_frozen", 1),
    ("place", 3),
))  # fmt: skip

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
        memory = np.zeros(1, State.of(layout))
        self._state: State = memory[0]
        self.bytes = memory.view(np.uint8)
        self.joints = _columns(model, layout)
        self.motion: Array = floats_of(memory, "imu", 10)[0] if self._state.imu else np.zeros(10)
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
        return self._state.time


def floats_of(memory: npt.NDArray[Any], name: str, size: int) -> Array:
    """The first numbers of each record of a field, as rows."""
    field = memory[name]
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
    joints = (offset(layout, name) for name in ("position", "velocity", "reference", "measured"))
    imu, wrench = offset(layout, "imu") if "imu" in (layout.names or ()) else -1, offset(layout, "force_torque")
    imu_measured = offset(layout, "imu", "measured") - imu if imu >= 0 else 0
    wrench_measured = offset(layout, "force_torque", "measured") - wrench
    return np.array([*joints, imu, imu_measured, wrench, ForceTorques.record.itemsize, wrench_measured], np.int64)
