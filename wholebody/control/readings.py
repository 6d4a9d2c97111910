"""Readings: what of a running loop can be looked at by path, beside what can be set."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from wholebody.control.compound import CompoundTask
from wholebody.control.servo import Servo
from wholebody.model.compiled import compiled
from wholebody.model.cut import at_address
from wholebody.model.layout import Array, Integers
from wholebody.parameters.packed import DISABLED
from wholebody.parameters.reflection import About, Parameters, Slot


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
        rows = [task.count_rows() for task in self._tasks]
        self._first = np.concatenate([[0], np.cumsum(rows)]).astype(np.int64)
        self._shown = np.full(sum(rows) + len(rows), math.nan)
        self._errors, self._norms = self._shown[: sum(rows)], self._shown[sum(rows) :]
        self._places: dict[str, slice] | None = None
        plan = [(task.numbers.ctypes.data, count) for task, count in zip(self._tasks, rows, strict=True)]
        into = (self._shown.ctypes.data, len(rows), sum(rows))
        self._plan: Integers = np.array([*into, *itertools.chain(*plan), *[0] * sum(rows)], np.int64)
        """Where errors and lengths go; where each task has its state, and how many rows; where each row's error is."""
        self._plan_at = self._plan.ctypes.data
        none = np.full(sum(rows), math.nan)
        none.flags.writeable = False  # as are those of commands
        gather(none, self._plan_at)  # if it must be compiled, that is done now
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
            order = [row for task in self._tasks for row in _rows(self._places[task.name])]
            self._plan[-len(order) :] = order
        gather(solution.errors, self._plan_at)

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


@compiled
def gather(errors: Array, plan_at: int) -> None:
    """Copy errors, task by task, and take their lengths; those of disabled tasks are no numbers.

    The plan is told by its address: for so few numbers, to hand an array over costs as much as the work.
    """
    into, tasks, rows = at_address(plan_at, 3).view(np.int64)
    plan = at_address(plan_at + 24, 2 * tasks + rows).view(np.int64)
    shown = at_address(into, rows + tasks)
    row = 0
    for i in range(tasks):
        disabled = at_address(plan[2 * i], 1)[0] == DISABLED
        total = 0.0
        for _ in range(plan[2 * i + 1]):
            error = math.nan if disabled else errors[plan[2 * tasks + row]]
            shown[row] = error
            total += error * error
            row += 1
        shown[rows + i] = math.sqrt(total)


def _rows(place: slice) -> range:
    return range(place.start, place.stop)
