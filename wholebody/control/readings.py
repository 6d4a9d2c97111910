"""Readings: what of a running loop can be looked at by path, beside what can be set."""

from __future__ import annotations

import math
from typing import Any

from wholebody.control.compound import CompoundTask
from wholebody.control.servo import Servo
from wholebody.model.layout import Array
from wholebody.parameters.packed import DISABLED
from wholebody.parameters.parameter import in_place
from wholebody.parameters.reflection import Parameters
from wholebody.tasks import Task


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
        self._solution: Any = None
        for task in compound.tasks:
            self._add_error(parameters, task)
        add = parameters.add_reading
        add("joints.position", "rad", "where the joints of the model are", self._position, joints)
        add("joints.velocity", "rad/s", "how fast they move", self._velocity, joints)
        add("joints.effort", "N·m", "what they are commanded", self._effort, joints)
        for name, (unit, meaning, read) in self._of_the_loop().items():
            add(f"servo.{name}", unit, meaning, read)

    def look(self, servo: Servo) -> None:
        """Look at a loop's newest command; before other readings are read."""
        self.servo = servo
        self._solution = getattr(servo.command, "solution", servo.command)

    def _add_error(self, parameters: Parameters, task: Task) -> None:
        """A disabled task has no error: it is no number, so that no event takes it for a small one."""
        name, numbers = task.name, in_place(task.numbers)

        def read(into: Array) -> None:
            into[:] = math.nan if self._solution is None or numbers[0] == DISABLED else self._solution.error(name)

        def read_norm(into: Array) -> None:
            if self._solution is None or numbers[0] == DISABLED:
                into[0] = math.nan
            else:
                error = self._solution.error(name)
                into[0] = math.sqrt(error.dot(error))

        meaning = "goal minus what is, row by row; no number while the task is disabled"
        parameters.add_reading(f"tasks.{name}.error", "1", meaning, read, task.count_rows())
        parameters.add_reading(f"tasks.{name}.error_norm", "1", "length of the error", read_norm)

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
