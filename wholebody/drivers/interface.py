"""RobotInterface and Clock: all that a control loop knows of a robot, be it real, miniature or simulated.

with robot:
    while running:
        clock.tick()
        robot.read(state)
        controller(state, reference)
        robot.write(reference)
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadPeriod
from wholebody.messages import Mode, Reference, State, Verb
from wholebody.realtime import sleep_until


@runtime_checkable
class RobotInterface(Protocol):
    """A robot that can be read, commanded and stopped. Leaving its `with` block stops it.

    A driver may say its `modes` (all, if it does not) and its `servo_period`: how often (s) its joints compute the
    effort of an impedance command, 0 for continuously; the daemon's period, if it does not. Gains are bounded by it.
    Its class may say `watchdog`: what the device does by itself when nobody commands it any more, in words. If it says
    none, the guard (`wholebody process guard`) opens the driver and calls `stop()` when the daemon hangs or dies.
    """

    def read(self, state: State) -> None:
        """Fill in what was measured last. It does not wait."""

    def write(self, reference: Reference) -> None:
        """Command the joints of the reference's mask; the others go on with what they had."""

    def stop(self) -> None:
        """Hold every joint where it is. It never raises and may be called at any time."""

    def __enter__(self) -> Self:
        """Take the robot."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it and let it go."""


@dataclass(frozen=True)
class Answer:
    """What became of a request to the boards."""

    accepted: bool
    text: str
    status: int = 0  # Status flags
    values: tuple[float, ...] = ()


@runtime_checkable
class Boards(Protocol):
    """What a RobotInterface also is if a console can ask something of its joints' boards."""

    simulated: bool
    """Whether nothing can be broken: only then may a step limit be opened."""
    modes: frozenset[Mode]
    """The modes that its joints can follow."""

    def command(self, verb: Verb, joint: int, values: Sequence[float]) -> Answer:
        """Begin what is asked, for a joint or for ALL_JOINTS, and return at once; the state shows how it goes on."""


@runtime_checkable
class Clock(Protocol):
    """What a control loop waits for: the beat of real time, or the simulator's next period in simulated time."""

    @property
    def period(self) -> float:
        """Seconds from one beat to the next."""

    @property
    def missed(self) -> int:
        """How many beats went by unused so far, because the loop took too long."""

    def tick(self) -> float:
        """Wait for the next beat, and return its time in seconds: what the loop takes for now."""


def check_period(who: str, period: float, asked: float) -> None:
    """Raise an error if a robot that beats by itself does not beat as its controller does."""
    if abs(period - asked) > 0.01 * asked:
        raise BadPeriod(
            f"{who} beats at {1 / period:g} Hz, this controller at {1 / asked:g}: set servo_frequency: {1 / period:g}, "
            f"or start the robot with --period {asked:g}"
        )


class SteadyClock:
    """Beats every `period` seconds of CLOCK_MONOTONIC. Beats missed are counted and skipped, never replayed."""

    def __init__(self, period: float) -> None:
        if not 1e-5 <= period <= 10:
            raise BadPeriod(f"a period of {period} s; give 0.00001 to 10 seconds")
        self.period = float(period)
        self.missed = 0
        self.late = 0.0
        self._next = 0.0

    def tick(self) -> float:
        """Sleep until the next beat; return its time, by time.monotonic()."""
        now = time.monotonic()
        if self._next == 0.0:
            self._next = now
        self._next += self.period
        if now > self._next:
            skipped = int((now - self._next) / self.period) + 1
            self.missed += skipped
            self._next += skipped * self.period
        self.late = sleep_until(self._next)
        return self._next


class Plant(Protocol):
    """Joints that motors drive to targets, and what sensors on them would read if they were perfect."""

    def advance(self, seconds: float, target: npt.NDArray[np.float64], powered: npt.NDArray[np.bool_]) -> None:
        """Let time go by with each powered joint driven to its target (rad); the others are limp."""

    def read(self, state: State) -> None:
        """Fill in a state of the robot: positions, velocities, efforts, IMUs, force-torque sensors."""
