"""Picture: what a person wants to know of a running robot, as plain data; tables and JSON are made of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wholebody.messages import (
    Filter,
    ForceTorque,
    Imu,
    Measured,
    MeasuredMotion,
    MeasuredWrench,
    Reference,
    Report,
    State,
    Status,
    labels,
)
from wholebody.processes.silence import SILENT
from wholebody.rotations import roll_pitch_yaw

FAULTS = (
    Status.JAMMED
    | Status.SATURATED
    | Status.BIG_ERROR
    | Status.ENCODER_ERROR
    | Status.DRIVER_FAULT
    | Status.MOTOR_FAILED
    | Status.POSITION_BELOW_MINIMUM
    | Status.POSITION_ABOVE_MAXIMUM
    | Status.VELOCITY_ERROR
    | Status.ACCELERATION_ERROR
    | Status.TOO_HOT
    | Status.TAKEN_OVER
    | Status.STOP_PRESSED
)
"""The flags that somebody has to do something about."""


@dataclass(frozen=True)
class JointView:
    """One joint: rad, rad/s, N·m, A, °C (m and N where it slides); None for what is not measured or not there."""

    name: str
    group: str
    command: float | None  # what the daemon wrote
    reference: float | None  # what the controller it follows wants
    position: float | None  # what the encoder says
    velocity: float | None
    effort: float | None
    current: float | None
    temperature: float | None
    on: bool  # driver and controller
    homed: bool
    faults: tuple[str, ...]
    controller: str  # the one it follows; empty: none
    leased: bool
    filter: str
    refused: int

    @property
    def flags(self) -> str:
        """What its board says of it, in a few words; the least interesting ones are left out."""
        words = [] if self.on else ["off"]
        words += [] if self.homed else ["not homed"]
        return ", ".join([*self.faults, *words])


@dataclass(frozen=True)
class SensorView:
    """An IMU (rad, rad/s, m/s²) or a force-torque sensor (N, N·m): each axis, None where it measures nothing."""

    name: str
    kind: str
    axes: dict[str, float | None]


@dataclass(frozen=True)
class ControllerView:
    """Somebody who puts references."""

    name: str
    received: int
    rate: float  # Hz, over its last references
    period: float  # declared, s; 0: none
    age: float | None  # s since its last one; None: it has not said anything yet
    joints: tuple[str, ...]  # those that follow it
    silent: str = ""  # why, if it has declared a period and says nothing


@dataclass(frozen=True)
class StageView:
    """How long a stage of the cycle took, in seconds, over the last cycles."""

    name: str
    mean: float
    deviation: float
    p99: float
    worst: float


@dataclass(frozen=True)
class EventView:
    """Something that happened once."""

    name: str
    text: str
    age: float  # s


@dataclass(frozen=True)
class Picture:
    """A running robot, or one that ran."""

    name: str
    robot: str  # empty if its daemon was not started by us
    behind: str  # what stands behind the daemon: simulator, loopback, simulated hubo_can …
    process: int | None  # of the daemon; None: it is not running
    uptime: float  # s
    silent: float  # s since the last state
    time: float
    tick: int
    rate: float  # states a second, of real time
    speed: float  # seconds of the robot's time in one of ours
    period: float
    missed: int
    stopped: bool
    joints: tuple[JointView, ...]
    fallen: str = ""  # what shows that it has; empty if nothing does
    sensors: tuple[SensorView, ...] = ()
    controllers: tuple[ControllerView, ...] = ()
    refusals: dict[str, int] = field(default_factory=dict)
    stages: tuple[StageView, ...] = ()
    events: tuple[EventView, ...] = ()  # of this daemon, the last few
    troubles: tuple[str, ...] = ()  # all that is wrong with it as a whole, and what to do

    @property
    def faults(self) -> tuple[tuple[str, str], ...]:
        """The joints with faults, and which."""
        return tuple((joint.name, ", ".join(joint.faults)) for joint in self.joints if joint.faults)

    @property
    def condition(self) -> str:
        """How it is, in a few words."""
        if self.process is None:
            return f"not running, silent for {seconds(self.silent)}"
        if self.silent > SILENT:
            return f"silent for {seconds(self.silent)}"
        if self.fallen:
            return "fallen"
        return "stopped" if self.stopped else "running"


def seconds(value: float) -> str:
    """A span of time as people say it."""
    if value < 60:
        return f"{value:.1f} s"
    minutes = int(value // 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def words(flags: Status) -> tuple[str, ...]:
    """The names of some flags, as words."""
    return tuple(str(flag.name).lower().replace("_", " ") for flag in flags)


def filter_words(kind: int, value: float) -> str:
    """A filter as one types it: pass, smooth 20, compliant 0.5, feedback 20."""
    name = Filter(kind).name.lower()
    return name if kind == Filter.PASS else f"{name} {value:g}"


def joint_views(
    state: State, report: Report | None, wanted: dict[str, Reference], groups: dict[str, str]
) -> tuple[JointView, ...]:
    """Every joint of a state; `wanted` has the newest reference of each controller."""
    views = []
    measured = {flag: (state.measured & flag) != 0 for flag in Measured}
    for i, name in enumerate(labels(state.dtype)):
        flags = Status(int(state.status[i]))
        controller, reference = "", None
        if report is not None and report.owner[i] >= 0:
            controller = text(report.controller[report.owner[i]])
            theirs = wanted.get(controller)
            reference = float(theirs.position[i]) if theirs is not None and theirs.mask[i] else None
        views.append(
            JointView(
                name=name,
                group=groups.get(name, ""),
                command=float(state.reference[i]),
                reference=reference,
                **{flag.name.lower(): _value(state, flag, i, measured) for flag in _SHOWN},  # type: ignore[union-attr]
                on=Status.CONTROL_ON in flags,
                homed=Status.HOMED in flags,
                faults=words(flags & FAULTS),
                controller=controller,
                leased=report is not None and bool(report.leased[i]),
                filter="" if report is None else filter_words(int(report.filter[i]), report.filter_value[i]),
                refused=0 if report is None else int(report.refused_by_joint[i]),
            )
        )
    return tuple(views)


_SHOWN = (Measured.POSITION, Measured.VELOCITY, Measured.EFFORT, Measured.CURRENT, Measured.TEMPERATURE)


def _value(state: State, flag: Measured, joint: int, measured: dict[Measured, Any]) -> float | None:
    return float(getattr(state, str(flag.name).lower())[joint]) if measured[flag][joint] else None


def sensor_views(state: State) -> tuple[SensorView, ...]:
    """Every sensor of a state."""
    imus = zip(labels(state.dtype, "imus"), state.imu, strict=True)
    wrenches = zip(labels(state.dtype, "force_torques"), state.force_torque, strict=True)
    return tuple(
        [SensorView(name, "imu", _motion(record)) for name, record in imus]
        + [SensorView(name, "force_torque", _wrench(record)) for name, record in wrenches]
    )


def _motion(imu: Imu) -> dict[str, float | None]:
    roll, pitch, yaw = roll_pitch_yaw(imu.orientation)
    flags = MeasuredMotion(imu.measured)
    tilts, turns = MeasuredMotion.ROLL_AND_PITCH in flags, MeasuredMotion.YAW in flags
    axes = {"roll": roll if tilts else None, "pitch": pitch if tilts else None, "yaw": yaw if turns else None}
    for prefix, quantity in (("w", "angular_velocity"), ("a", "linear_acceleration")):
        for axis, value in zip("xyz", getattr(imu, quantity), strict=True):
            axes[prefix + axis] = float(value) if MeasuredMotion[f"{quantity}_{axis}".upper()] in flags else None
    return axes


def _wrench(sensor: ForceTorque) -> dict[str, float | None]:
    flags = MeasuredWrench(sensor.measured)
    axes: dict[str, float | None] = {}
    for prefix, quantity in (("F", "force"), ("M", "torque")):
        for axis, value in zip("xyz", getattr(sensor, quantity), strict=True):
            axes[prefix + axis] = float(value) if MeasuredWrench[f"{quantity}_{axis}".upper()] in flags else None
    return axes


def stage_views(names: tuple[str, ...], took: Any) -> tuple[StageView, ...]:
    """The stages of a cycle, from rows of how long each took."""
    return tuple(
        StageView(name, *(float(value) for value in (x.mean(), x.std(), np.percentile(x, 99), x.max())))
        for name, x in zip(names, took.T, strict=True)
    )


def text(raw: bytes) -> str:
    """What a record's text says."""
    return bytes(raw).decode(errors="replace")
