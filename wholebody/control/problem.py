"""Problem: what the robot should do, in levels, and what must hold; plain data for any controller."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from wholebody.constraints import Coactuation, Constraint, FlatContact
from wholebody.constraints.contacts import LineContact, PointContact
from wholebody.errors import BadProblem, BadTask, UnknownName, WholebodyError
from wholebody.model.model import Model
from wholebody.tasks import CenterOfPressureTask, Task
from wholebody.tasks.kinds import Description

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
