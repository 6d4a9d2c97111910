"""Topics: the nine topics on which a loop tells of itself (ControlIt!, Table C.2), each on a channel of its own.

round_trip        s, from a command to its echo in the state
command           the reference that was written, as it was written
errors            what made a cycle give the last safe command again, and inputs that were refused
gravity           N·m, the efforts that gravity needs
joint_state       the state that the loop worked with
model_latency     s, how old what the model shows is
compute_latency   s, what the last cycle took
servo_frequency   Hz
warnings          commands beyond the limits of their joints, and beats that were missed
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wholebody import messages
from wholebody.channels.channel import Writer
from wholebody.channels.owned import Opened
from wholebody.control.servo import Servo
from wholebody.errors import BadProblem, WrongRecord
from wholebody.parameters.bindings import InputBinding
from wholebody.parameters.records import ControllerNames, value_record

Read = Callable[[Servo], Any]
NUMBERS: dict[str, Read] = {
    "round_trip": lambda servo: servo.echo.latency,
    "model_latency": lambda servo: servo.staleness,
    "compute_latency": lambda servo: servo.timing.last_seconds,
    "servo_frequency": lambda servo: servo.timing.last_frequency,
}
DEPTH = 1024
"""Messages that stay readable: a second, for whoever records them."""
EVENTS = ("errors", "warnings")
NAMES = (*NUMBERS, "gravity", "command", "joint_state", *EVENTS)


class Topics(Opened):
    """Puts the nine topics, after the command is written: commands and states in every cycle, the rest less often.

    every  the numbers are put in every n-th cycle
    watch  in every n-th cycle it looks for warnings
    inputs bound parameters whose refusals are errors
    """

    def __init__(
        self,
        names: ControllerNames,
        servo: Servo,
        *,
        every: int = 10,
        watch: int = 100,
        inputs: Sequence[InputBinding] = (),
    ) -> None:
        super().__init__()
        self._every, self._watch, self._inputs = every, watch, tuple(inputs)
        self._source = names.controller
        robot = servo.description
        self._numbers = [
            (self._writer(names.topic(name), value_record(1), DEPTH), read) for name, read in NUMBERS.items()
        ]
        self._gravity = self._writer(names.topic("gravity"), value_record(servo.model.nv), DEPTH)
        self._command = self._writer(names.topic("command"), robot.reference_dtype(), DEPTH)
        self._state = self._writer(names.topic("joint_state"), robot.state_dtype(), DEPTH)
        self._told = {name: self._writer(names.topic(name), messages.event(), DEPTH) for name in EVENTS}
        self._written = servo.reference.raw
        self._faults = self._missed = 0
        self._refused = [each.refused for each in self._inputs]
        self._counts = dict.fromkeys(EVENTS, 0)

    def __call__(self, servo: Servo) -> None:
        """Put what there is to tell."""
        cycle = servo.counters.cycles
        self._command.raw[:] = self._written
        self._command.put()
        self._state.raw[:] = servo.estimate.raw
        self._state.put()
        if servo.counters.faults != self._faults:
            self._faults = servo.counters.faults
            self._tell("errors", servo.time, servo.faults[-1][1])
        if cycle % self._every == 0:
            self._put_numbers(servo)
        if cycle % self._watch == 0:
            self._look_for_warnings(servo)

    def _put_numbers(self, servo: Servo) -> None:
        for writer, read in self._numbers:
            writer.message.time, writer.message.values[0] = servo.time, read(servo)
            writer.put()
        message = self._gravity.message
        message.time, message.values[:] = servo.time, servo.snapshot.gravity_compensation
        self._gravity.put()
        for index, each in enumerate(self._inputs):
            if each.refused != self._refused[index]:
                self._refused[index] = each.refused
                self._tell("errors", servo.time, each.trouble)

    def _look_for_warnings(self, servo: Servo) -> None:
        solution = getattr(servo.command, "solution", servo.command)
        for each in getattr(solution, "warnings", ()):
            self._tell("warnings", servo.time, str(each), each.value, each.limit)
        missed = servo.clock.missed
        if missed != self._missed:
            text = f"{missed - self._missed} beats of {1000 * servo.clock.period:g} ms were missed"
            self._tell("warnings", servo.time, text, missed - self._missed)
            self._missed = missed

    def _tell(self, topic: str, now: float, text: str, *values: float) -> None:
        writer = self._told[topic]
        self._counts[topic] += 1
        message = writer.message
        message.time, message.source, message.name = now, self._source, topic
        message.text, message.count = text, self._counts[topic]
        message.values[:] = 0.0
        message.values[: len(values)] = values
        writer.put()


class PublishState:
    """Puts the state that the loop worked with on a channel: joints, and where the base was taken to be (odometry).

        with Channel("hubo.odometry", robot.state_dtype()) as channel:
            Servo(..., publish=[PublishState(channel.writer(), every=10)])

    A put takes a fraction of a microsecond and never waits for who reads.
    """

    def __init__(self, writer: Writer, every: int = 1) -> None:
        if every != int(every) or every < 1:
            raise BadProblem(f"a state is published after every n-th cycle, n a whole number from 1 on, not {every!r}")
        self._writer, self.every = writer, every

    def __call__(self, servo: Servo) -> None:
        """Put the newest state."""
        raw = servo.estimate.raw
        if len(raw) != len(self._writer.raw):
            raise WrongRecord("the channel holds no states of this robot; make it with robot.state_dtype()")
        self._writer.raw[:] = raw
        self._writer.put()
