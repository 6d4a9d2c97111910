"""Loop: a driver in the daemon's cycle without a daemon, beat, write, read; Verdict: whether it keeps a law."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wholebody.drivers.interface import Clock, RobotInterface, SteadyClock
from wholebody.messages import READY, Measured, MeasuredMotion, Mode, Reference, State
from wholebody.robots.robot import Array, Joint, Robot

STILL = 0.02
"""rad within which a joint is where it was."""
LISTENING = 10
"""Cycles that are only read, before anything is written."""
GRAVITY = 9.81


@dataclass(frozen=True)
class Verdict:
    """Whether a law is kept, what was seen, and what to do if it is not."""

    law: str
    passed: bool
    figure: str
    remedy: str = ""


def said(error: Exception) -> str:
    """An error as a figure."""
    return f"{type(error).__name__}: {error}"


@dataclass
class Loop:
    """A robot in the daemon's cycle, and what was seen of it."""

    interface: RobotInterface
    robot: Robot
    asked: float  # s, the period
    clock: Clock = field(init=False)
    beats: list[float] = field(default_factory=list)
    stamps: list[float] = field(default_factory=list)
    work: list[float] = field(default_factory=list)  # s of writing and reading, without what other processes took
    stops: list[float] = field(default_factory=list)
    positions: list[Array] = field(default_factory=list)
    velocities: list[Array] = field(default_factory=list)
    not_finite: list[str] = field(default_factory=list)
    implausible: dict[str, str] = field(default_factory=dict)  # what, and what was seen first
    writes: bool = False  # whether positions make sense, so that they can be written back

    def __post_init__(self) -> None:
        """Make the records, and find the beat."""
        self._states: np.ndarray[Any, Any] = np.zeros(1, self.robot.state_dtype())
        self._references: np.ndarray[Any, Any] = np.zeros(1, self.robot.reference_dtype())
        self.state: State = self._states[0]
        self.reference: Reference = self._references[0]
        self.reference.mode[:], self.reference.mask[:] = Mode.POSITION, True
        self.clock = self.interface if isinstance(self.interface, Clock) else SteadyClock(self.asked)
        self.still = np.array([_still(self.robot, joint) for joint in self.robot.moving])

    def begin(self) -> None:
        """Read for a while: where the joints are is the reference, unless they cannot be there."""
        self.interface.read(self.state)
        for _ in range(LISTENING):
            self.cycle(write=False)
        self.writes = bool(np.isfinite(self.position).all()) and "position" not in self.implausible
        self.hold()

    def hold(self) -> None:
        """Want the joints where they are."""
        self.reference.position[:] = np.nan_to_num(self.position)
        self.reference.mask[:] = True

    @property
    def position(self) -> Array:
        """Where the joints are."""
        return np.array(self.state.position)

    def cycle(self, write: bool = True, stop: bool = False) -> None:
        """Go round once."""
        beat = float(self.clock.tick())
        waits, begun, computed = _waits(), time.perf_counter(), time.thread_time()
        if write and self.writes:
            self.reference.time = beat
            self.interface.write(self.reference)
        if stop:
            self.stop()
        self.interface.read(self.state)
        if _waits() > waits:
            self.work.append(time.perf_counter() - begun)
        else:  # others may have had the processor meanwhile
            self.work.append(time.thread_time() - computed)
        self.beats.append(beat)
        self.stamps.append(self.state.time)
        self.positions.append(self.position)
        self.velocities.append(np.array(self.state.velocity))
        self._look()

    def stop(self) -> None:
        """Stop it, and note how long that takes."""
        begun = time.perf_counter()
        self.interface.stop()
        self.stops.append(time.perf_counter() - begun)

    def end(self) -> list[Verdict]:
        """Let the robot go, and stop it once more."""
        begun = time.perf_counter()
        try:
            self.interface.__exit__(None, None, None)
        except Exception as error:
            return [Verdict("lets go", False, said(error), "__exit__ stops the robot and must not raise")]
        took = time.perf_counter() - begun
        try:
            self.interface.stop()
        except Exception as error:
            why = "stop() may be called at any time, also after the end, and never raises: suppress what goes wrong"
            return [Verdict("lets go", False, f"stop() afterwards: {said(error)}", why)]
        return [Verdict("lets go", True, f"{took:.2f} s")]

    def measured(self, what: Measured = Measured.POSITION) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which joints have a quantity measured."""
        return np.asarray((self.state.measured & int(what)) > 0)

    def ready(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which joints follow references."""
        return np.asarray((self.state.status & READY) == READY)

    def _look(self) -> None:
        """Note what is no number, and what no robot of this kind can show."""
        for field_name, values in _numbers(self._states):
            if not np.isfinite(values).all():
                self.not_finite.append(self._where(field_name, values, ~np.isfinite(values)))
        for what, values, low, high in self._plausible():
            outside = (values < low) | (values > high)
            if outside.any():
                index = int(np.flatnonzero(outside)[0])
                low, high = np.broadcast_to(low, values.shape)[index], np.broadcast_to(high, values.shape)[index]
                seen = f"{self._where(what, values, outside)} = {values[index]:.4g}, plausible {low:.3g} … {high:.3g}"
                self.implausible.setdefault(what, seen)

    def _plausible(self) -> Iterator[tuple[str, Array, Any, Any]]:
        """Quantities with the range that they can be in."""
        state, moving = self.state, self.robot.moving
        lower, upper = (np.array([getattr(joint, side) for joint in moving]) for side in ("lower", "upper"))
        margin = 0.1 + 0.05 * np.nan_to_num(upper - lower, posinf=0.0)
        yield from self._of_joints("position", Measured.POSITION, lower - margin, upper + margin)
        for quantity, kind, limit in (
            ("velocity", Measured.VELOCITY, [2.0 * joint.velocity + 0.5 for joint in moving]),
            ("effort", Measured.EFFORT, [2.0 * joint.effort + 1.0 for joint in moving]),
        ):
            yield from self._of_joints(quantity, kind, -np.array(limit), np.array(limit))
        everything = np.full(len(moving), 1.0)
        yield from self._of_joints("temperature", Measured.TEMPERATURE, -40.0 * everything, 150.0 * everything)
        imus = state.imu
        for imu, sensor in zip(imus, self.robot.sensors_of("imu"), strict=True):
            if imu.measured & MeasuredMotion.ROLL_AND_PITCH:
                yield f"length of the quaternion of {sensor.name}", _length(imu.orientation), 0.99, 1.01
            accelerations = sum(each for each in MeasuredMotion if "ACCELERATION" in str(each.name))
            if imu.measured & accelerations == accelerations:
                yield f"acceleration of {sensor.name}", _length(imu.linear_acceleration), 0.3 * GRAVITY, 3 * GRAVITY
            yield f"angular velocity of {sensor.name}", _length(imu.angular_velocity), 0.0, 35.0

    def _of_joints(
        self, what: str, kind: Measured, low: Array, high: Array
    ) -> Iterator[tuple[str, Array, Array, Array]]:
        values = np.where(self.measured(kind), np.nan_to_num(getattr(self.state, what)), np.clip(0.0, low, high))
        yield what, values, low, high

    def _where(self, what: str, values: Array, wrong: Any) -> str:
        index = int(np.flatnonzero(np.ravel(wrong))[0])
        names = self.robot.joint_names
        return f"{what} of {names[index]}" if values.shape == (len(names),) else what


def worst(loop: Loop, moved: Array) -> tuple[str, bool]:
    """By how much which joint has moved most for what it may, and whether it is still."""
    joint = int(np.argmax(moved / loop.still))
    return f"{moved[joint]:.4f} rad ({loop.robot.joint_names[joint]})", bool(moved[joint] <= loop.still[joint])


def _still(robot: Robot, joint: Joint) -> float:
    """By how much a joint that is held may differ: a soft one gives way to a fifth of its greatest torque."""
    gain = robot.gains.get(joint.name)
    soft = 0.2 * joint.effort / gain.stiffness if gain is not None and gain.stiffness > 0 else 0.0
    return STILL + min(soft, 0.1)


def _numbers(records: np.ndarray[Any, Any], above: str = "") -> Iterator[tuple[str, Array]]:
    """Every field of numbers of records, by name."""
    for name in records.dtype.names or ():
        values = np.ravel(records[name])
        if values.dtype.names:
            yield from _numbers(values, f"{name} ")
        elif np.issubdtype(values.dtype, np.floating):
            yield f"{above}{name}", values


def _waits() -> int:
    """How often this thread has gone to sleep by itself so far."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw


def _length(vector: Any) -> Array:
    return np.array([float(np.linalg.norm(vector))])
