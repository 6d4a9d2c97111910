"""Motors: what the firmware of simulated boards does with its motors between one frame and the next.

All motors of the robot at once, in the order of its joints. Angles (rad) are of the joints: an encoder counts from
where it was zeroed, so that angle = position − zero: a motor that has not found its home does not know its position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wholebody import messages
from wholebody.drivers.hubo_can.replies import HOMED, MotorStatus
from wholebody.drivers.hubo_can.simulated.homing import Homing
from wholebody.drivers.interface import Plant
from wholebody.messages import Status
from wholebody.robots.robot import Robot

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

OBSERVE_EVERY = 0.0045  # s between two looks for faults
JAM_TIME = 0.2  # s without motion against an error before a motor counts as jammed
JAM_ERROR = 0.1  # rad, more than a joint gives way by under its load
MAX_ERROR = 0.8  # rad between reference and encoder
MAX_CURRENT = 10.0  # A at the joint's largest torque: an estimate, for all motors
MOST_CURRENT = 10.23  # A, which is all that a frame can say
OVER_CURRENT, OVER_TIME = 10.2, 0.2  # A, and s of it after which the driver gives up: a jerk alone is no fault
AMBIENT, HOT = 25.0, 80.0  # °C
HEATING, COOLING = 0.02, 0.01  # K/s per A², 1/s: estimates


@dataclass
class Injected:
    """What is broken on purpose, joint by joint."""

    jammed: Flags
    encoder: Flags
    over_current: Flags
    dead: Flags

    @classmethod
    def nothing(cls, n: int) -> Injected:
        """Nothing is broken."""
        return cls(*(np.zeros(n, bool) for _ in range(4)))


@dataclass
class Segments:
    """The line on which each motor goes from one reference to the next."""

    goal: Array
    slope: Array  # rad/s
    ends: Array

    @classmethod
    def at(cls, angles: Array) -> Segments:
        """Every motor stays where it is."""
        return cls(angles.copy(), np.zeros(len(angles)), np.zeros(len(angles)))

    def value(self, time: float) -> Array:
        """Where the motors have to be at a time: goal − slope × the time that is left."""
        left = self.ends - time
        np.maximum(left, 0.0, out=left)
        left *= self.slope
        line: Array = np.subtract(self.goal, left, out=left)
        return line

    def turn(self, motor: int, goal: float, now: float, ends: float) -> None:
        """Head for a new reference from where the line is now."""
        here = float(self.goal[motor]) - float(self.slope[motor]) * max(float(self.ends[motor]) - now, 0.0)
        self.goal[motor], self.slope[motor], self.ends[motor] = goal, (goal - here) / (ends - now), ends

    def rest(self, motor: int, angle: float) -> None:
        """Stay at an angle."""
        self.goal[motor], self.slope[motor], self.ends[motor] = angle, 0.0, 0.0


class Motors:
    """Everything that the boards know of their motors, and the plant that these drive.

    Switched on, they know nothing and have control off; `homed` ones were on before, and hold where they stand.
    """

    def __init__(
        self, robot: Robot, plant: Plant, counts_per_radian: Array, duty_driven: Flags, homing: Homing, homed: bool
    ) -> None:
        n = len(robot.joint_names)
        self.plant, self.counts_per_radian, self.homing = plant, counts_per_radian, homing
        self.duty_driven = duty_driven
        self.time = 0.0
        self.state = messages.new(robot.state_dtype())
        self.plant.read(self.state)
        self.position = self.state.position
        self.velocity = self.state.velocity
        self.effort = self.state.effort
        self.zero = np.zeros(n) if homed else self.position.copy()
        self.home = np.full(n, HOMED if homed else 0)
        self.flags: npt.NDArray[np.uint32] = np.zeros(n, np.uint32)
        self.driver = np.ones(n, bool)
        self.control = np.full(n, homed)
        self.duty = np.zeros(n)
        self.injected = Injected.nothing(n)
        self.encoder = self.position - self.zero
        self.segments = Segments.at(self.encoder)
        self.current = np.zeros(n)
        self.temperature = np.full(n, AMBIENT)
        self.lower = np.full(n, -np.inf)
        self.upper = np.full(n, np.inf)
        self.max_error = np.full(n, MAX_ERROR)
        self._stuck, self._strained = np.zeros(n), np.zeros(n)
        self._unobserved = 0.0
        self._counts: list[int] | None = None
        self._kept = self.position.copy()  # where a duty has driven to
        moving = robot.moving
        self._least, self._most = (np.array([getattr(j, side) for j in moving]) for side in ("lower", "upper"))
        self._speed = np.array([joint.velocity if 0 < joint.velocity < np.inf else 6.0 for joint in moving])
        effort = np.array([joint.effort for joint in moving])
        self._amperes = np.where((effort > 0) & np.isfinite(effort), MAX_CURRENT / np.maximum(effort, 1e-9), 0.0)

    def follow(self, motor: int, angle: float, now: float, ends: float) -> None:
        """Take a new reference, to be reached at `ends`."""
        if self.homing.busy[motor] or not self.control[motor]:
            return
        inside = min(max(angle, self.lower[motor]), self.upper[motor])
        beyond = Status.POSITION_BELOW_MINIMUM | Status.POSITION_ABOVE_MAXIMUM
        self.flags[motor] &= ~np.uint32(beyond)
        if inside != angle:
            low = angle < inside
            self.flags[motor] |= Status.POSITION_BELOW_MINIMUM if low else Status.POSITION_ABOVE_MAXIMUM
        self.segments.turn(motor, inside, now, ends)

    def set_control(self, motors: Sequence[int], on: bool) -> None:
        """Switch control on, which begins by holding still, or off."""
        for motor in motors:
            self.control[motor] = on
            self.duty[motor] = 0.0
            self.segments.rest(motor, self.encoder[motor])
            if not on:
                self.homing.stop(motor)

    def reset(self, motors: Sequence[int]) -> None:
        """Clear faults, and call the place where the motor is zero."""
        for motor in motors:
            self.flags[motor] = 0
            self._stuck[motor] = self._strained[motor] = 0.0
            self.zero[motor] = self.position[motor]
            self.home[motor] = 0
            self.encoder[motor] = 0.0
            self._counts = None
            self.segments.rest(motor, 0.0)

    def go_home(self, motor: int) -> None:
        """Begin to look for the limit switch."""
        self.flags[motor] = 0
        self.home[motor] = 1
        self.driver[motor] = self.control[motor] = True
        self.homing.start(motor, self.position[motor])

    def status(self, motor: int) -> MotorStatus:
        """What a board says of a motor."""
        flags = Status(int(self.flags[motor]))
        flags |= Status.DRIVER_ON if self.driver[motor] else Status(0)
        flags |= Status.CONTROL_ON if self.control[motor] else Status(0)
        flags |= Status.AT_LIMIT_SWITCH if self.homing.closed(motor, self.position[motor]) else Status(0)
        return MotorStatus(flags, home=int(self.home[motor]))

    def counts(self, motors: Sequence[int]) -> list[int]:
        """What the encoders of motors read."""
        if self._counts is None:
            self._counts = np.rint(self.encoder * self.counts_per_radian).astype(np.int64).tolist()
        return [self._counts[motor] for motor in motors]

    def advance(self, seconds: float) -> None:
        """Let a step of time go by: references, homing, the plant, then what the boards see of it."""
        self.time += seconds
        wanted = self.segments.value(self.time)
        np.copyto(self._kept, self.position, where=~self.duty_driven & (self.duty == 0.0))
        self._kept += self.duty * self._speed * seconds
        np.maximum(self._kept, self._least, out=self._kept)
        np.minimum(self._kept, self._most, out=self._kept)
        target = np.where(self.duty_driven | ~self.control, self._kept, wanted + self.zero)
        if self.homing.any:
            self._advance_homing(seconds, target)
        broken = self.injected
        np.copyto(target, self.position, where=broken.jammed)
        powered = self.driver & (self.control | self.duty_driven | (self.duty != 0.0)) & ~broken.dead
        self.plant.advance(seconds, target, powered)
        self.plant.read(self.state)
        np.subtract(self.position, self.zero, out=self.encoder, where=~broken.encoder)
        self._counts = None
        self._unobserved += seconds
        if self._unobserved > OBSERVE_EVERY:
            self._observe(self._unobserved, wanted, powered)
            self._unobserved = 0.0

    def _advance_homing(self, seconds: float, target: Array) -> None:
        for motor in np.flatnonzero(self.homing.busy).tolist():
            outcome = self.homing.advance(motor, self.position[motor], seconds)
            target[motor] = outcome.target
            if outcome.found:
                self.zero[motor] = outcome.target
                self.home[motor] = HOMED
                self.segments.rest(motor, 0.0)
            if outcome.failed:
                self.home[motor] = 0
                self._trip(motor, Status.JAMMED)

    def _observe(self, seconds: float, wanted: Array, powered: Flags) -> None:
        """Look at errors, currents and temperatures, and switch off what goes wrong."""
        broken = self.injected
        following = powered & self.control & ~self.homing.busy & ~self.duty_driven
        error = np.abs(wanted - self.encoder)
        still = following & (error > JAM_ERROR) & (np.abs(self.velocity) < 1e-3)
        self._stuck = np.where(still, self._stuck + seconds, 0.0)
        np.copyto(self.current, np.minimum(np.abs(self.effort) * self._amperes, MOST_CURRENT))
        self.current[broken.over_current] = MOST_CURRENT
        self._strained = np.where(powered & (self.current > OVER_CURRENT), self._strained + seconds, 0.0)
        heat = HEATING * self.current**2 - COOLING * (self.temperature - AMBIENT)
        self.temperature += seconds * heat
        for trouble, flag in (
            (following & (error > self.max_error), Status.BIG_ERROR),
            (self._stuck > JAM_TIME, Status.JAMMED | Status.SATURATED),
            (following & broken.encoder, Status.ENCODER_ERROR),
            (self._strained > OVER_TIME, Status.DRIVER_FAULT),
            (self.temperature > HOT, Status.TOO_HOT),
        ):
            if trouble.any():
                for motor in np.flatnonzero(trouble):
                    self._trip(int(motor), flag)

    def _trip(self, motor: int, flag: Status) -> None:
        self.flags[motor] |= flag
        if flag & Status.TOO_HOT:
            return
        self.set_control((motor,), False)
        if flag & Status.DRIVER_FAULT:
            self.driver[motor] = False


KP, KI = 0.2, 0.02
OUT_OF_STEP = 0.45
"""The share of a period beyond which a reference is no longer early or late, but of another beat."""
LONGEST, SHORTEST = 0.1, 0.0005  # s


class Lock:
    """The beat of one board."""

    def __init__(self, period: float = 0.005) -> None:
        self.period = period
        self.beats = 0  # in step, in a row
        self._tick = self._last = self._interval = float("-inf")

    @property
    def locked(self) -> bool:
        """Whether the board has been in step for a while."""
        return self.beats >= 10

    def arrive(self, now: float) -> float:
        """Take note of a reference that arrives now; return when it is to be reached."""
        before, self._interval, self._last = self._interval, now - self._last, now
        error = now - (self._tick + self.period)
        if abs(error) <= OUT_OF_STEP * self.period:
            self._tick += self.period + KP * error
            self.period += KI * error
            self.beats += 1
        else:
            twice = abs(self._interval - before) < 0.1 * self._interval
            if twice and SHORTEST <= self._interval <= LONGEST:
                self.period = self._interval
            self._tick = now
            self.beats = 0
        return max(self._tick + self.period, now + 0.1 * self.period)
