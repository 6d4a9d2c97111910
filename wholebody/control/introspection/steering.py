"""Steering: what other processes can do with a running loop; Topics, PublishState: what they hear from it.

servo = Servo(robot, clock, controller, compound)
with Steering(names, parameters, compound, readings, model, bindings=…, events=…) as steering:
    steering.attach(servo)
    servo.run()
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from wholebody import messages
from wholebody.channels import Channel
from wholebody.channels.channel import Writer
from wholebody.channels.owned import Opened
from wholebody.constraints import Constraint
from wholebody.control.problem import CompoundTask
from wholebody.control.servo import Servo
from wholebody.errors import BadProblem, WrongRecord
from wholebody.model.layout import Array, Integers
from wholebody.model.model import Model
from wholebody.parameters.bindings import Binding, Bindings, InputBinding
from wholebody.parameters.events import Events
from wholebody.parameters.packed import DISABLED
from wholebody.parameters.records import ControllerNames, Description, JointOrders, value_record
from wholebody.parameters.reflection import About, Parameters, Slot
from wholebody.parameters.server import Journal, Matrix, ParameterServer
from wholebody.robots.robot import Robot


class Steering(Opened):
    """The two points at which a loop and the world of other processes meet.

    `apply` takes bound inputs and answers one request, before the behavior; `emit` tells of events and puts bound
    outputs, after the command is written. Everything it opens is closed when its `with` block ends.
    """

    def __init__(
        self,
        names: ControllerNames,
        parameters: Parameters,
        compound: CompoundTask,
        readings: Readings,
        model: Model,
        *,
        description: Robot | None = None,
        bindings: Sequence[Binding] = (),
        events: Mapping[str, str] | None = None,
        frequency: float = 1000.0,
        settings: Mapping[str, Any] | None = None,
        configuration: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.names, self.parameters, self.readings = names, parameters, readings
        self._compound, self._model = compound, model
        with contextlib.ExitStack() as opening:
            self.events = Events(parameters, events or {}, source=names.controller)
            self.journal = opening.enter_context(Journal(names, parameters))
            self.bindings = Bindings(bindings, parameters, names, frequency, self.journal.note)
            opening.callback(self.bindings.close)
            robot = model.robot if description is None else description
            largest = max((each.count_rows() for each in compound.constraints), default=1) * model.nv
            told = self._description(robot, bindings, settings or {}, configuration or {})
            channel = opening.enter_context(Channel(names.events, messages.event(), depth=256))
            self.events.bind(opening.enter_context(channel.writer()))
            server = ParameterServer(names, parameters, told, self._jacobians(), largest, self.journal.note)
            self._serve = opening.enter_context(server).serve
            self._opened = opening.pop_all()

    def attach(self, servo: Servo) -> None:
        """Make a loop meet the others: its inputs and what it publishes begin with ours."""
        self.readings.look(servo)
        self.journal.now = lambda: (servo.time, servo.counters.cycles)
        servo.inputs, servo.publish = (self.apply, *servo.inputs), (self.emit, *servo.publish)

    def apply(self, servo: Servo) -> None:
        """Take what came from outside."""
        if self.bindings.inputs:
            self.bindings.apply()
        self._serve(servo.time)

    def emit(self, servo: Servo) -> None:
        """Tell what came true, and put what is bound to go out."""
        now = servo.time
        if self.events.events:
            self.events.emit(now)
        if self.bindings.outputs:
            self.bindings.put(now, servo.counters.cycles)

    def _description(
        self,
        robot: Robot,
        bindings: Sequence[Binding],
        settings: Mapping[str, Any],
        configuration: Mapping[str, Any],
    ) -> Description:
        model = self._model
        base = ["base_x", "base_y", "base_z", "base_rx", "base_ry", "base_rz"] if model.floating else []
        actuated = tuple(each.name for each in model.robot.moving if each.actuated)
        return Description(
            robot.name,
            tuple(each.name for each in self._compound.tasks),
            tuple(each.name for each in self._compound.constraints),
            {each.name: len(each.expression.operands) for each in self.events.events},
            JointOrders(tuple(model.joint_names), actuated, robot.joint_names, (*base, *model.joint_names)),
            dict(settings),
            tuple(str(each) for each in bindings),
            dict(configuration),
        )

    def _jacobians(self) -> dict[str, Matrix]:
        def jacobian(constraint: Constraint) -> Array:
            servo = self.readings.servo
            return constraint.jacobian(self._model.at(self._model.neutral()) if servo is None else servo.snapshot)

        return {each.name: partial(jacobian, each) for each in self._compound.constraints}


class Readings:
    """Adds readings to parameters: errors of tasks, joints, and how the loop is doing. They are zero until it runs.

        readings = Readings(parameters, compound, joints=22)
        readings.servo = servo

    tasks.NAME.error, tasks.NAME.error_norm   the error of a task that is enabled or sensing
    joints.position, velocity, effort         as measured, and as commanded, in the order of the model
    servo.time, compute_time, frequency, …    see Table C.2 of ControlIt!
    """

    def __init__(self, parameters: Parameters, compound: CompoundTask, joints: int) -> None:
        self.servo: Servo | None = None
        self._cycle = -1
        self._tasks = compound.tasks
        self._numbers = [task.numbers for task in self._tasks]
        rows = [task.count_rows() for task in self._tasks]
        self._first = np.concatenate([[0], np.cumsum(rows)]).astype(np.int64)
        self._errors, self._norms = np.full(sum(rows), math.nan), np.full(len(rows), math.nan)
        self._places: dict[str, slice] | None = None
        self._order: Integers = np.zeros(sum(rows), np.int64)  # where in the errors of a command each row is
        self._task_of_row = np.repeat(np.arange(len(rows)), rows)
        self._add_errors(parameters, rows)
        add = parameters.add_reading
        add("joints.position", "rad", "where the joints of the model are", self._position, joints)
        add("joints.velocity", "rad/s", "how fast they move", self._velocity, joints)
        add("joints.effort", "N·m", "what they are commanded", self._effort, joints)
        for name, (unit, meaning, read) in self._of_the_loop().items():
            add(f"servo.{name}", unit, meaning, read)

    def look(self, servo: Servo) -> None:
        """Look at a loop's newest command; before other readings are read."""
        self.servo = servo

    def _add_errors(self, parameters: Parameters, rows: list[int]) -> None:
        """A disabled task has no error: it is no number, so that no event takes it for a small one."""
        bring, infinite = self._bring, (-math.inf, math.inf)
        meaning = "goal minus what is, row by row; no number while the task is disabled"
        for index, (task, first, count) in enumerate(zip(self._tasks, self._first, rows, strict=False)):
            path = f"tasks.{task.name}.error"
            about = About(path, "vector", "1", count, *infinite, meaning, writable=False, saved=False)
            parameters.add_slot(Slot(about, self._errors[first : first + count], None, bring))
            about = About(f"{path}_norm", "number", "1", 1, *infinite, "length of the error", False, False)
            parameters.add_slot(Slot(about, self._norms[index : index + 1], None, bring))

    def _bring(self) -> None:
        """Take the errors of all tasks from the newest command, once a cycle."""
        servo = self.servo
        if servo is None or servo.command is None or servo.counters.cycles == self._cycle:
            return
        self._cycle = servo.counters.cycles
        solution: Any = getattr(servo.command, "solution", servo.command)
        if solution.error_places is not self._places:
            self._places = solution.error_places
            self._order[:] = [row for task in self._tasks for row in _rows(self._places[task.name])]
        disabled = np.array([numbers[0] == DISABLED for numbers in self._numbers])
        self._errors[:] = np.where(disabled[self._task_of_row], math.nan, solution.errors[self._order])
        self._norms[:] = np.sqrt(np.bincount(self._task_of_row, self._errors**2, len(self._tasks)))

    def _position(self, into: Array) -> None:
        if self.servo is not None:
            into[:] = self.servo.estimate.q[-len(into) :]

    def _velocity(self, into: Array) -> None:
        if self.servo is not None:
            into[:] = self.servo.estimate.v[-len(into) :]

    def _effort(self, into: Array) -> None:
        if self.servo is not None and self.servo.command is not None:
            into[:] = self.servo.command.effort

    def _of_the_loop(self) -> dict[str, tuple[str, str, Any]]:
        def reads(what: Any) -> Any:
            def read(into: Array) -> None:
                if self.servo is not None:
                    into[0] = what(self.servo)

            return read

        return {
            "time": ("s", "by the loop's clock", reads(lambda servo: servo.time)),
            "cycles": ("1", "how many there were", reads(lambda servo: servo.counters.cycles)),
            "faults": ("1", "cycles that gave the last safe command again", reads(lambda servo: servo.counters.faults)),
            "missed": ("1", "beats that went by unused", reads(lambda servo: servo.clock.missed)),
            "model_latency": ("s", "how old what the model shows is", reads(lambda servo: servo.staleness)),
            "round_trip": ("s", "from a command to its echo in the state", reads(lambda servo: servo.echo.latency)),
            "compute_latency": ("s", "what the last cycle took", reads(lambda servo: servo.timing.last_seconds)),
            "frequency": ("Hz", "cycles a second of real time", reads(lambda servo: servo.timing.last_frequency)),
        }


def _rows(place: slice) -> range:
    return range(place.start, place.stop)


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
TOPICS = (*NUMBERS, "gravity", "command", "joint_state", *EVENTS)


class Topics(Opened):
    """The nine topics on which a loop tells of itself (ControlIt!, Table C.2), each on a channel of its own.

    round_trip        s, from a command to its echo in the state
    command           the reference that was written, as it was written
    errors            what made a cycle give the last safe command again, and inputs that were refused
    gravity           N·m, the efforts that gravity needs
    joint_state       the state that the loop worked with
    model_latency     s, how old what the model shows is
    compute_latency   s, what the last cycle took
    servo_frequency   Hz
    warnings          commands beyond the limits of their joints, and beats that were missed

    They are put after the command is written: commands and states in every cycle, the rest less often.

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
