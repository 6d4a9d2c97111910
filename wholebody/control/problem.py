"""Problem: what the robot should do, in levels, and what must hold; plain data for any controller."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from wholebody.constraints import Coactuation, Constraint, FlatContact
from wholebody.constraints.contacts import LineContact, PointContact
from wholebody.errors import BadParameter, BadProblem, BadTask, UnknownName, WholebodyError
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.parameters.parameter import Bounds, Parameter, checked
from wholebody.parameters.reflection import About, Parameters, Slot
from wholebody.tasks import CenterOfPressureTask, Task
from wholebody.tasks.kinds import Description

if TYPE_CHECKING:
    from wholebody.control.servo import Servo

Named = TypeVar("Named", Task, Constraint)


@dataclass(frozen=True, init=False, eq=False)
class Problem:
    """Levels of tasks, the most important first, and constraints, which stand above all of them.

        Problem(
            [[com, left_hand], [posture]],
            [FlatContact("left_foot", "left_sole"), FlatContact("right_foot", "right_sole")],
        )

    Tasks of one level are stacked and share what they cannot all have; a lower level has what the upper ones leave. A
    level of one task may be that task. Goals, gains and states of its tasks and constraints change while running; which
    there are, and at which level, does not: another Problem with the same tasks says otherwise.
    """

    levels: tuple[tuple[Task, ...], ...]
    constraints: tuple[Constraint, ...]

    def __init__(self, levels: Iterable[Task | Iterable[Task]], constraints: Iterable[Constraint] = ()) -> None:
        stacked = tuple((level,) if isinstance(level, Task) else tuple(level) for level in levels)
        object.__setattr__(self, "levels", tuple(level for level in stacked if level))
        object.__setattr__(self, "constraints", tuple(constraints))
        self._check()

    @property
    def tasks(self) -> Iterator[Task]:
        """All tasks, the most important first."""
        return (task for level in self.levels for task in level)

    def task(self, name: str) -> Task:
        """The task of that name."""
        return _named("task", name, list(self.tasks))

    def constraint(self, name: str) -> Constraint:
        """The constraint of that name."""
        return _named("constraint", name, self.constraints)

    def _check(self) -> None:
        for each in self.tasks:
            if not isinstance(each, Task):
                raise BadProblem(f"a level holds {each!r}, which is no task")
        for one in self.constraints:
            if not isinstance(one, Constraint):
                raise BadProblem(f"{one!r} stands among the constraints and is none")
        if not self.levels:
            raise BadProblem("a problem needs a task: without one, there is nothing to do but fall; hold a posture")
        names = [each.name for each in (*self.tasks, *self.constraints)]
        twice = sorted(name for name, count in Counter(names).items() if count > 1)
        if twice:
            raise BadProblem(f"the name '{twice[0]}' is there twice; tasks and constraints need names of their own")

    def describe(self, model: Model) -> list[Description]:
        """Check everything against a robot, before any loop; what the tasks are in its terms, in their order."""
        descriptions = []
        for task in self.tasks:
            try:
                descriptions.append(task.describe(model))
            except UnknownName as error:
                raise _named_in(error, f"task '{task.name}'") from None
        for constraint in self.constraints:
            try:
                constraint.describe(model)
            except UnknownName as error:
                raise _named_in(error, f"constraint '{constraint.name}'") from None
        for task, description in zip(self.tasks, descriptions, strict=True):
            self._check_contacts(task, description)
        self._refuse_contradictions(model)
        return descriptions

    def _check_contacts(self, task: Task, description: Description) -> None:
        fitting = (FlatContact,) if isinstance(task, CenterOfPressureTask) else (FlatContact, PointContact, LineContact)
        for name in description.contacts:
            if not any(each.name == name for each in self.constraints):
                known = [each.name for each in self.constraints if isinstance(each, fitting)]
                raise _named_in(UnknownName("contact", name, known), f"task '{task.name}'")
            if not isinstance(self.constraint(name), fitting):
                kinds = " or ".join(kind.__name__ for kind in fitting)
                raise BadTask(f"task '{task.name}': constraint '{name}' is no {kinds}, so it has no such force")

    def _refuse_contradictions(self, model: Model) -> None:
        """Two contacts of one frame, or a joint that follows two others, or itself."""
        held: dict[int, str] = {}
        followed: dict[str, str] = {}
        for each in self.constraints:
            if isinstance(each, FlatContact):
                frame = model.frame(each.frame)
                if frame in held:
                    raise BadProblem(f"constraints '{held[frame]}' and '{each.name}' both hold frame '{each.frame}'")
                held[frame] = each.name
            if isinstance(each, Coactuation):
                for slave in each.slaves:
                    if slave in followed:
                        raise BadProblem(
                            f"joint '{slave}' cannot follow both '{followed[slave]}' and '{each.master}' "
                            f"(constraint '{each.name}'); leave one out"
                        )
                    followed[slave] = each.master
        for slave in followed:
            leader, seen = followed[slave], {slave}
            while leader in followed and leader not in seen:
                seen.add(leader)
                leader = followed[leader]
            if leader in seen:
                raise BadProblem(f"joint '{slave}' follows itself by way of others; co-actuation goes one way")


def _named(what: str, name: str, among: Sequence[Named]) -> Named:
    for each in among:
        if each.name == name:
            return each
    raise UnknownName(what, name, [each.name for each in among])


def _named_in(error: UnknownName, where: str) -> WholebodyError:
    """The same error, with whose it is in front."""
    error.args = (f"{where}: {error}",)
    return error


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
