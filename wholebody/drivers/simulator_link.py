"""SimulatorLink: the daemon's end of the handshake with a simulator, a process of its own (Hubo-Ach §4.6).

    simulator                                             daemon
    put robot.simulated, the state
    put robot.from_simulator, beat n         ──────────▶  tick() returns, with the state of beat n
    wait until robot.to_simulator says n                  write() puts robot.commanded
                                             ◀──────────  and then robot.to_simulator, n
    take the newest command, if there is one,
    let one period go by, n ← n + 1

The simulator chooses the numbers, and begins with one above the newest in robot.from_simulator. It goes on only when
the newest answer is its own number, and the daemon answers the newest beat, so either may be killed at any moment and
started again: a new daemon answers the beat that is there once more, which changes nothing; a new simulator puts a
beat that nobody has answered yet.
"""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Self

import numpy as np

from wholebody import messages
from wholebody.channels import Channel
from wholebody.drivers.interface import Answer
from wholebody.drivers.names import Names
from wholebody.errors import WrongRecord
from wholebody.messages import ALL_JOINTS, Mode, Record, Reference, State, Verb
from wholebody.robots.robot import Robot

SLICE = 0.1
"""Seconds after which a wait looks around."""
PATIENCE = 1.0
"""Seconds without a beat after which it is said."""
PERIODS = (1e-5, 10.0)
"""The shortest and the longest period that is believed, in seconds."""

_PER_JOINT = ("position", "velocity", "effort", "stiffness", "damping", "mode")
_OF_ALL = ("time", "period", "silence", "lease")
_DAEMON = Answer(False, "that is for the daemon, not for the boards")
_ANSWERS = {
    Verb.HOME: Answer(True, "a simulated robot is always homed"),
    Verb.INITIALIZE: Answer(True, "a simulated robot needs no initialisation"),
    Verb.RESET: Answer(True, "a simulated robot has no faults to clear"),
    Verb.INITIALIZE_SENSORS: Answer(True, "simulated sensors have no offset to take away"),
    Verb.CONTROL: Answer(False, "a simulator's joints are always under control; for a limp one command effort 0"),
    Verb.GAINS: Answer(False, "a simulator's gains are its own; give stiffness and damping in impedance mode"),
}


class SimulatorLink:
    """A RobotInterface, its Boards and its Clock: the robot is in whatever simulator joins under its name.

    Entering it waits for the first beat, so that there is a state to begin with; the first tick() returns that beat. A
    cycle is tick() → write() → read(): the state read is the one that came with the tick, though the simulator may be a
    period ahead by then. A beat that nobody wrote a command for is answered by the next tick(), and the simulator goes
    on with the command it has.

    Time is the simulator's, and never runs backwards: when another simulator begins at zero it goes on from where it
    was, and `restarts` counts it, because the joints are elsewhere now.

    `say` is told once when no beat comes, and once when they come again; `idle` is called about ten times a second
    while tick() waits, so that a daemon can listen to its console meanwhile.
    """

    simulated = True
    watchdog = "the simulated world stands still until the daemon answers"
    servo_period = 0.0  # s: a simulator integrates the stiffness and damping of its joints with its physics
    modes = frozenset(Mode)
    publishes_command = True  # write() puts robot.commanded itself, because the simulator takes it from there

    def __init__(
        self,
        robot: Robot,
        name: str = "",
        say: Callable[[str], None] | None = None,
        idle: Callable[[], None] | None = None,
    ) -> None:
        self.robot = robot
        self.names = Names(name)
        self.period = 0.005  # until the first beat tells
        self.missed = 0  # beats of a simulator that did not wait for their answer
        self.late = 0.0
        self.restarts = 0
        self.waiting = False  # whether beats have been missing for longer than PATIENCE
        self._say, self._idle = say, idle
        self._state_layout, self._reference_layout = robot.state_dtype(), robot.reference_dtype()
        self._now, self._shift, self._number, self._sender = 0.0, 0.0, 0, 0
        self._looked = self._to_return = self._to_answer = False
        with contextlib.ExitStack() as stack:
            self._trigger = stack.enter_context(Channel(self.names.from_simulator, messages.tick(), keep=True))
            self._beats = stack.enter_context(self._trigger.reader())
            self._states = stack.enter_context(Channel(self.names.simulated, self._state_layout, keep=True).reader())
            self._commands = stack.enter_context(Channel(self.names.commanded, self._reference_layout).writer())
            self._answers = stack.enter_context(Channel(self.names.to_simulator, messages.tick()).writer())
            self._stack = stack.pop_all()

    # The clock.

    @property
    def simulator(self) -> int | None:
        """The process of the simulator; None if there is none."""
        return next(iter(self._trigger.writer_processes()), None)

    def tick(self) -> float:
        """Wait for the simulator's next beat, for as long as it takes; return its time, in simulated seconds.

        Signals get in meanwhile: to end the wait, let their handler raise.
        """
        if not self._to_return:
            if self._to_answer:
                self._answer()
            self._wait()
            self._take_beat()
        self._to_return = False
        return self._now

    def _wait(self) -> None:
        if not self._looked:
            # A beat that was left behind by a simulator that has gone is no beat. Look first, then ask: a simulator
            # that comes in between puts another one.
            self._looked = True
            if self._beats.latest() and self.simulator is not None:
                return
        begin = 0.0
        while not self._beats.wait(SLICE):
            begin = begin or time.monotonic() - SLICE
            if not self.waiting and time.monotonic() - begin > PATIENCE:
                self.waiting = True
                self._tell(self._what_is_missing())
            if self._idle is not None:
                self._idle()
        if self.waiting:
            self.waiting = False
            self._tell(f"the simulator of '{self.names.robot}' is there")

    def _what_is_missing(self) -> str:
        process = self.simulator
        if process is None:
            return f"no simulator of '{self.names.robot}' is there yet: waiting for one"
        return f"the simulator of '{self.names.robot}', process {process}, is silent: waiting for it"

    def _tell(self, text: str) -> None:
        if self._say is not None:
            self._say(text)

    def _take_beat(self) -> None:
        beat, sender = self._beats.message, self._beats.process
        number, told, period = beat.number, beat.time, beat.period
        now = told + self._shift
        if self._sender == 0:
            now = told if math.isfinite(told) else 0.0
            self.period = period if PERIODS[0] <= period <= PERIODS[1] else self.period
        else:
            if sender != self._sender or now < self._now:
                self._note_restart(period)
            elif number > self._number + 1:
                self.missed += number - self._number - 1
            if not self._now < now < math.inf:
                now = self._now + self.period
                self._shift = now - told
        self._now, self._number, self._sender = now, number, sender
        self._states.latest()
        self._to_answer = True

    def _note_restart(self, period: float) -> None:
        self.restarts += 1
        if period != self.period:
            self._tell(
                f"the new simulator of '{self.names.robot}' has a period of {period} s, and the loop was set up for "
                f"{self.period} s: start the daemon again, or the simulator with that period"
            )

    def _answer(self) -> None:
        answer = self._answers.message
        answer.time, answer.number = self._now, self._number
        answer.period, answer.missed = self.period, self.missed
        self._answers.put()
        self._to_answer = False

    # The robot.

    def write(self, reference: Reference) -> None:
        """Put the command, with what it does not speak of as it was, and then the answer to the beat."""
        self._check(reference, self._reference_layout, "reference")
        command, mask = self._commands.message, reference.mask
        if mask.all():
            command.copy_from(reference)
        else:
            for field in _OF_ALL:
                setattr(command, field, getattr(reference, field))
            for field in _PER_JOINT:
                np.copyto(getattr(command, field), getattr(reference, field), where=mask)
            command.mask |= mask
        self._commands.put()
        if self._to_answer:
            self._answer()

    def read(self, state: State) -> None:
        """Fill in the state that came with the last tick(); all zeros before the first."""
        self._check(state, self._state_layout, "state")
        state.copy_from(self._states.message)
        state.time = self._now

    def stop(self) -> None:
        """Command every joint to hold where it was last; before there is a state, nothing."""
        with contextlib.suppress(Exception):
            if self._states.sequence:
                hold = messages.new(self._reference_layout)
                hold.position[:], hold.mode[:], hold.mask[:] = self._states.message.position, Mode.POSITION, True
                hold.time = self._now
                self.write(hold)

    def command(self, verb: Verb, joint: int, values: Sequence[float]) -> Answer:
        """Say what boards would: there is little that a simulated one needs."""
        if verb == Verb.STATUS:
            flags = self._states.message.status
            flags = flags if joint == ALL_JOINTS else flags[joint : joint + 1]
            process = self.simulator
            there = "there is no simulator" if process is None else f"simulated by process {process}"
            return Answer(True, there, status=int(np.bitwise_or.reduce(flags)))
        return _ANSWERS.get(verb, _DAEMON)

    def _check(self, record: Record, layout: messages.Dtype, what: str) -> None:
        """Refuse a record of another robot or kind."""
        if record.dtype is not layout and (record.dtype != layout or record.dtype.metadata != layout.metadata):
            raise WrongRecord(f"this record is no {what} of '{self.robot.name}'; make it with robot.{what}_dtype()")

    def close(self) -> None:
        """Stop, and let go of the channels."""
        self.stop()
        self._stack.close()

    def __enter__(self) -> Self:
        """Take the robot: wait until there is a simulator."""
        if self._sender == 0:
            self._wait()
            self._take_beat()
            self._to_return = True
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it, and let it go."""
        self.close()


def simulator(robot: Robot, name: str) -> SimulatorLink:
    """A simulator in another process, in lock step with the loop: ours (MuJoCo), or one of your own."""
    return SimulatorLink(robot, name, say=partial(print, file=sys.stderr, flush=True))
