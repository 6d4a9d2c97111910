"""CompoundTask: tasks with priority numbers, and constraints, as a behavior; priorities can change while running."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from wholebody.constraints import Constraint
from wholebody.control.problem import Problem
from wholebody.errors import BadParameter, UnknownName
from wholebody.model.snapshot import Snapshot
from wholebody.parameters.annotations import Bounds
from wholebody.parameters.parameter import Parameter, checked
from wholebody.parameters.reflection import About, Parameters, Slot
from wholebody.tasks import Task

if TYPE_CHECKING:
    from wholebody.control.servo import Servo

HIGHEST = 1000
PRIORITY = Parameter("priority", "1", Bounds(-HIGHEST, HIGHEST), None, whole=True)
MEANING = "which tasks go first: higher numbers are more important, equal ones share a level"

Begin = Callable[[Snapshot], None]
"""What is to be done when the loop begins, with where the robot is then."""


class CompoundTask:
    """A behavior made of tasks, each with a priority: higher numbers are more important, equal ones share a level.

        reach = CompoundTask({right_hand: 2, left_hand: 2, posture: 1}, [coactuation])
        Servo(robot, clock, WBOSC(model), reach)
        reach.set_priority("posture", 3)

    begin  called once, with the first snapshot: goals that are "here" are taken from it
    """

    def __init__(
        self, priorities: Mapping[Task, int], constraints: Iterable[Constraint] = (), begin: Iterable[Begin] = ()
    ) -> None:
        self.tasks, self.constraints = tuple(priorities), tuple(constraints)
        self._numbers = np.zeros(len(self.tasks))
        self._index = {task.name: index for index, task in enumerate(self.tasks)}
        self._begin = list(begin)
        for task, priority in priorities.items():
            self._numbers[self._index[task.name]] = checked(f"priority of '{task.name}'", PRIORITY, priority, 1)[0]
        self._problems: dict[tuple[float, ...], Problem] = {}
        self._prepare: Callable[[Problem], None] | None = None
        self._next: Problem | None = None
        self.problem = self._arranged()

    def __call__(self, time: float, snapshot: Snapshot) -> Problem:
        """The problem, with levels as the priorities are now."""
        if self._begin:
            for begin in self._begin:
                begin(snapshot)
            self._begin.clear()
        return self.problem

    def priority(self, task: str) -> int:
        """The priority of a task."""
        return int(self._numbers[self._at(task)])

    def set_priority(self, task: str, priority: int) -> None:
        """Give a task another priority; its level changes with the next cycle."""
        self._numbers[self._at(task)] = checked(f"priority of '{task}'", PRIORITY, priority, 1)[0]
        if self._prepare is None:
            self.problem = self._arranged()
        else:
            self._next = self._arranged()

    def prepare_with(self, prepare: Callable[[Problem], None]) -> None:
        """From now on, levels in a new order count when they are made ready: by `settle`, with this."""
        self._prepare = prepare

    def settle(self, servo: Servo) -> None:
        """Make a new order of levels ready, at the end of a cycle, when no command waits for it."""
        if self._next is not None and self._prepare is not None:
            self._prepare(self._next)
            self.problem, self._next = self._next, None

    def describe(self, parameters: Parameters) -> None:
        """Add all parameters of tasks and constraints, and the priorities."""
        for index, task in enumerate(self.tasks):
            parameters.add("tasks", task)
            about = About(f"tasks.{task.name}.priority", "whole", "1", 1, -HIGHEST, HIGHEST, MEANING)
            parameters.add_slot(Slot(about, self._numbers[index : index + 1], self._setter(task.name)))
        for constraint in self.constraints:
            parameters.add("constraints", constraint)

    def _setter(self, task: str) -> Callable[[int], None]:
        return lambda priority: self.set_priority(task, priority)

    def _at(self, task: str) -> int:
        if task not in self._index:
            raise UnknownName("task", task, self._index)
        return self._index[task]

    def _arranged(self) -> Problem:
        """The problem of these priorities; those that were there before are kept, so that they need no preparing."""
        key = tuple(self._numbers.tolist())
        if key not in self._problems:
            if not self.tasks:
                raise BadParameter("a compound task needs a task")
            levels = sorted(set(key), reverse=True)
            arranged = [[task for task, own in zip(self.tasks, key, strict=True) if own == level] for level in levels]
            self._problems[key] = Problem(arranged, self.constraints)
        return self._problems[key]
