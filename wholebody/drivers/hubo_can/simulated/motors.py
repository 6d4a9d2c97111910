"""Motors: what the firmware of simulated boards does with its motors between one frame and the next.

All motors of the robot at once, in the order of its joints. Angles (rad) are of the joints: an encoder counts from
where it was zeroed, so that angle = position − zero: a motor that has not found its home does not know its position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wholebody import messages
from wholebody.drivers.hubo_can.replies import HOMED, MotorStatus
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
SEARCH_SPEED, OFFSET_SPEED = 0.6, 0.3  # rad/s
FARTHEST = 4.0  # rad, after which there is no switch
SWITCH_WIDTH = 0.03  # rad for which a switch is closed
NEAR, PATIENCE = 0.002, 0.5  # rad within which an offset counts as reached; s after which it counts as reached anyway


class Injected:
    """What is broken on purpose, joint by joint."""

    def __init__(self, n: int) -> None:
        self.jammed, self.encoder, self.over_current, self.dead = np.zeros((4, n), bool)


class Outcome(NamedTuple):
    """Where the motor has to be (rad), and whether it has found its home or given up."""

    target: float
    found: bool = False
    failed: bool = False


class Homing:
    """The searches of all motors: each looks for its limit switch, goes by an offset, and calls that place zero.

    The switch closes at an angle, in the direction of the search, and stays closed for a while. A real motor that
    starts beyond it runs into its end stop and comes back; ours knows on which side it is, and looks for the edge
    either way. Without a direction a motor has no switch, and its home is where its zero is.
    """

    def __init__(self, offsets: Sequence[float], directions: Sequence[int]) -> None:
        n = len(offsets)
        self.offset = np.array(offsets, float)
        self.direction = np.array(directions, int)
        self.switch = -self.offset  # of the position: so that switch + offset is the true zero
        self.busy = np.zeros(n, bool)
        self._target = np.zeros(n)
        self._began = np.zeros(n)
        self._side = np.zeros(n, int)
        self._goal = np.full(n, np.nan)
        self._waited = np.zeros(n)

    @property
    def any(self) -> bool:
        """Whether any motor is looking."""
        return bool(self.busy.any())

    def closed(self, motor: int, position: float) -> bool:
        """Whether the switch of a motor is closed where it stands."""
        return self._beyond(motor, position) and abs(position - self.switch[motor]) <= SWITCH_WIDTH

    def _beyond(self, motor: int, position: float) -> bool:
        direction = self.direction[motor]
        return bool(direction and (position - self.switch[motor]) * direction >= 0)

    def start(self, motor: int, position: float) -> None:
        """Begin to look."""
        self.busy[motor] = True
        self._target[motor] = self._began[motor] = position
        self._goal[motor] = 0.0 if not self.direction[motor] else np.nan
        # Towards the switch, or back off from it.
        self._side[motor] = self.direction[motor] * (-1 if self._beyond(motor, position) else 1)

    def stop(self, motor: int) -> None:
        """Give up."""
        self.busy[motor] = False

    def advance(self, motor: int, position: float, seconds: float) -> Outcome:
        """Move on for a step of time."""
        if np.isnan(self._goal[motor]):
            return self._search(motor, position, seconds)
        gap = self._goal[motor] - self._target[motor]
        step = OFFSET_SPEED * seconds
        self._target[motor] += min(max(gap, -step), step)
        self._waited[motor] = self._waited[motor] + seconds if gap == 0.0 else 0.0
        found = gap == 0.0 and (abs(self._goal[motor] - position) < NEAR or self._waited[motor] > PATIENCE)
        self.busy[motor] = not found
        return Outcome(float(self._goal[motor] if found else self._target[motor]), found=found)

    def _search(self, motor: int, position: float, seconds: float) -> Outcome:
        side = self._side[motor]
        if self._beyond(motor, position) == (side == self.direction[motor]):
            self._goal[motor] = position + self.offset[motor]  # the edge was here, within a step
            self._target[motor] = position
            return Outcome(position)
        self._target[motor] += side * SEARCH_SPEED * seconds
        far = abs(self._target[motor] - self._began[motor]) > FARTHEST
        self.busy[motor] = not far
        return Outcome(float(self._target[motor]), failed=bool(far))


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
        self.injected = Injected(n)
        self.encoder = self.position - self.zero
        self.segments = Segments.at(self.encoder)
        self.current = np.zeros(n)
        self.temperature = np.full(n, AMBIENT)
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
        self.segments.turn(motor, angle, now, ends)

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
        np.copyto(self._kept, self.position, where=~self.duty_driven)
        self._kept += self.duty * self._speed * seconds
        np.maximum(self._kept, self._least, out=self._kept)
        np.minimum(self._kept, self._most, out=self._kept)
        target = np.where(self.duty_driven | ~self.control, self._kept, wanted + self.zero)
        if self.homing.any:
            self._advance_homing(seconds, target)
        broken = self.injected
        np.copyto(target, self.position, where=broken.jammed)
        powered = self.driver & (self.control | self.duty_driven) & ~broken.dead
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
            (following & (error > MAX_ERROR), Status.BIG_ERROR),
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
