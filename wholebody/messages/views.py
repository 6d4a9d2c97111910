"""The messages of a robot as typed views: State, Reference, Tick, Timing, Report, Event."""

from __future__ import annotations

import numpy as np

from wholebody.messages.record import Booleans, Floats, Integers, Record, Rows, Texts


class Imu(Record):
    """What one IMU measured: quaternion x y z w, rad/s, m/s²; `measured` says which of them (MeasuredMotion)."""

    orientation: Floats
    angular_velocity: Floats
    linear_acceleration: Floats
    measured: int


class ForceTorque(Record):
    """What one force-torque sensor measured, in N and N·m; `measured` says which axes (MeasuredWrench)."""

    force: Floats
    torque: Floats
    measured: int


class Base(Record):
    """Pose and velocity of the floating base in the world, where something knows it."""

    position: Floats
    orientation: Floats
    linear_velocity: Floats
    angular_velocity: Floats
    known: bool


IMU = np.dtype(
    [
        ("orientation", "<f8", (4,)),
        ("angular_velocity", "<f8", (3,)),
        ("linear_acceleration", "<f8", (3,)),
        ("measured", "<u2"),
    ],
    align=True,
)
FORCE_TORQUE = np.dtype([("force", "<f8", (3,)), ("torque", "<f8", (3,)), ("measured", "<u2")], align=True)
BASE = np.dtype(
    [
        ("position", "<f8", (3,)),
        ("orientation", "<f8", (4,)),
        ("linear_velocity", "<f8", (3,)),
        ("angular_velocity", "<f8", (3,)),
        ("known", "?"),
    ],
    align=True,
)


class Imus(Rows[Imu]):
    """All IMUs of a state; an attribute is the field of all of them, one row each."""

    record = Imu.of(IMU)
    orientation: Floats
    angular_velocity: Floats
    linear_acceleration: Floats
    measured: Integers


class ForceTorques(Rows[ForceTorque]):
    """All force-torque sensors of a state; an attribute is the field of all of them, one row each."""

    record = ForceTorque.of(FORCE_TORQUE)
    force: Floats
    torque: Floats
    measured: Integers


class State(Record):
    """What was measured in one cycle; a robot without IMUs or force-torque sensors has none of them to iterate over."""

    time: float
    tick: int
    position: Floats
    velocity: Floats
    acceleration: Floats
    effort: Floats
    current: Floats
    temperature: Floats
    reference: Floats
    status: Integers
    measured: Integers
    imu: Imus
    force_torque: ForceTorques
    base: Base  # type: ignore[assignment]  # numpy's own `base` of a record says nothing


class States(Rows[State]):
    """States of several cycles, one row each."""

    time: Floats
    position: Floats


class Reference(Record):
    """What a controller wants of the joints of its mask."""

    time: float
    period: float
    silence: int
    lease: bool
    position: Floats
    velocity: Floats
    effort: Floats
    stiffness: Floats
    damping: Floats
    mode: Integers
    mask: Booleans


class References(Rows[Reference]):
    """References of several controllers; an attribute is the field of all of them, one row each."""

    period: Floats
    silence: Integers
    lease: Booleans
    mask: Booleans


class Tick(Record):
    """The beat of a loop."""

    time: float
    number: int
    period: float
    missed: int


class Timing(Record):
    """How long each stage of one cycle of a loop took, and how late the cycle began, in seconds."""

    number: int
    missed: int
    late: float
    took: Floats


class Timings(Rows[Timing]):
    """Timings of several cycles, one row each."""

    late: Floats
    took: Floats


class Report(Record):
    """What the daemon knows of its controllers and joints."""

    time: float
    tick: int
    missed: int
    stopped: bool
    controller: Texts
    received: Integers
    period: Floats
    age: Floats
    owner: Integers
    leased: Booleans
    filter: Integers
    filter_value: Floats
    step_limit: Floats
    lower: Floats
    upper: Floats
    refused: Integers
    refused_by_joint: Integers


class Event(Record):
    """Something that happened once."""

    time: float
    source: str
    name: str
    text: str
    count: int
    values: Floats
