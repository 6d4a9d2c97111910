"""The table: a problem as plain arrays for the kernels, made once before the loop.

Numbers that change (states, goals, gains) are not in it: each task and constraint keeps its own in one array, and the
table has the address. So nothing is copied, and a change counts in the next cycle.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wholebody.constraints import Constraint
from wholebody.constraints import constraint as constraint_kinds
from wholebody.control.problem import Problem
from wholebody.model.compiled import inlined
from wholebody.model.layout import Array, Integers
from wholebody.model.model import Model
from wholebody.tasks import Task, kinds
from wholebody.tasks.kinds import FIRST_OF_CONTACTS

HEADER = 12
TASK = 14
CONSTRAINT = 8


class TaskLine(NamedTuple):
    """One task in the table."""

    kind: int
    level: int
    frame: int
    reference: int
    mask: int
    rows: int
    address: int
    length: int
    joints: int  # where in the table its columns of v stand
    joint_count: int
    own: int  # where a user's own rows stand, in the array for them
    shown: int  # where in the output its error goes
    contact_a: int
    contact_b: int


class ConstraintLine(NamedTuple):
    """One constraint in the table."""

    kind: int
    frame: int
    rows: int
    address: int
    length: int
    joints: int
    joint_count: int
    own: int


class Sizes(NamedTuple):
    """The greatest sizes there can be, with everything enabled; the header of the table."""

    tasks: int
    constraints: int
    levels: int
    held: int  # rows of constraints
    asked: int  # rows of tasks on motion
    pressed: int  # rows of tasks on forces
    passive: int  # columns of v without a motor
    driven: int  # columns of v with one
    shown: int  # numbers of errors in the output
    owned: int  # numbers in the array of users' own rows
    passive_at: int  # where in the table those columns stand
    driven_at: int


class Table:
    """The arrays of one problem for one model, and where users' own tasks and constraints write their rows."""

    def __init__(self, problem: Problem, model: Model) -> None:
        self.problem = problem
        self.own_tasks: list[tuple[Task, int, int]] = []  # with where in `own`, and how many rows
        self.own_constraints: list[tuple[Constraint, int, int]] = []
        self._tail: list[int] = []
        self._tail_at = HEADER + TASK * len(list(problem.tasks)) + CONSTRAINT * len(problem.constraints)
        self._owned = 0
        tasks = self._task_lines(model)
        constraints = self._constraint_lines(model)
        driven = model.actuated_joints
        passive = np.setdiff1d(np.arange(model.nv), driven)
        end = self._tail_at + len(self._tail)
        self.sizes = Sizes(
            tasks=len(tasks),
            constraints=len(constraints),
            levels=len(problem.levels),
            held=sum(line.rows for line in constraints),
            asked=sum(line.rows for line in tasks if line.kind <= kinds.CENTER_OF_PRESSURE),
            pressed=sum(line.rows for line in tasks if line.kind >= FIRST_OF_CONTACTS),
            passive=len(passive),
            driven=len(driven),
            shown=sum(line.rows for line in tasks),
            owned=self._owned,
            passive_at=end,
            driven_at=end + len(passive),
        )
        lines = [number for line in (*tasks, *constraints) for number in line]
        self.integers: Integers = np.array([*self.sizes, *lines, *self._tail, *passive, *driven], np.int64)
        self.own: Array = np.zeros(max(self._owned, 1))
        self.has_own = bool(self.own_tasks or self.own_constraints)
        self.shown = {
            task.name: slice(line.shown, line.shown + line.rows)
            for task, line in zip(problem.tasks, tasks, strict=True)
        }

    def _task_lines(self, model: Model) -> list[TaskLine]:
        problem = self.problem
        order = {each.name: index for index, each in enumerate(problem.constraints)}
        levels = [index for index, level in enumerate(problem.levels) for _ in level]
        lines: list[TaskLine] = []
        shown = 0
        for task, level, told in zip(problem.tasks, levels, problem.describe(model), strict=True):
            rows = task.count_rows()
            contacts = [order[name] for name in told.contacts] + [-1, -1]
            address, length = task.numbers.ctypes.data, len(task.numbers)
            joints, own = self._keep(told.joints), self._owned
            what = (told.kind, level, told.frame, told.reference, told.mask, rows)
            lines.append(TaskLine(*what, address, length, *joints, own, shown, *contacts[:2]))
            if told.kind == kinds.CUSTOM:
                self.own_tasks.append((task, own, rows))
                self._owned += rows * (model.nv + 3)
            shown += rows
        return lines

    def _constraint_lines(self, model: Model) -> list[ConstraintLine]:
        lines: list[ConstraintLine] = []
        for constraint in self.problem.constraints:
            told, rows = constraint.describe(model), constraint.count_rows()
            address, length = constraint.numbers.ctypes.data, len(constraint.numbers)
            joints, own = self._keep(told.joints), self._owned
            lines.append(ConstraintLine(told.kind, told.frame, rows, address, length, *joints, own))
            if told.kind == constraint_kinds.CUSTOM:
                self.own_constraints.append((constraint, own, rows))
                self._owned += rows * (model.nv + 1)
        return lines

    def _keep(self, joints: tuple[int, ...]) -> tuple[int, int]:
        """Put columns of v at the end of the table; where, and how many."""
        at = self._tail_at + len(self._tail)
        self._tail += joints
        return at, len(joints)


@inlined
def sizes_of(table: Integers) -> Sizes:
    """The header of a table."""
    return Sizes(
        table[0], table[1], table[2], table[3], table[4], table[5], table[6], table[7], table[8], table[9], table[10],
        table[11],
    )  # fmt: skip


@inlined
def task_line(table: Integers, index: int) -> TaskLine:
    """One task of a table."""
    i = HEADER + TASK * index
    return TaskLine(
        table[i], table[i + 1], table[i + 2], table[i + 3], table[i + 4], table[i + 5], table[i + 6], table[i + 7],
        table[i + 8], table[i + 9], table[i + 10], table[i + 11], table[i + 12], table[i + 13],
    )  # fmt: skip


@inlined
def constraint_line(table: Integers, index: int) -> ConstraintLine:
    """One constraint of a table."""
    i = HEADER + TASK * table[0] + CONSTRAINT * index
    return ConstraintLine(
        table[i], table[i + 1], table[i + 2], table[i + 3], table[i + 4], table[i + 5], table[i + 6], table[i + 7]
    )
