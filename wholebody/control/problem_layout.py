"""ProblemLayout: a problem made ready for the kernels of controllers, once before the loop.

Numbers that change (states, goals, gains) are not copied: each task and constraint keeps its own in one array, which
the kernels read in every cycle. So a change counts in the next one."""

from __future__ import annotations

import numpy as np

from wholebody import _kernels
from wholebody.constraints import Constraint
from wholebody.constraints import constraint as constraint_kinds
from wholebody.control.problem import Problem
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.tasks import Task, kinds


class ProblemLayout:
    """One problem for one model.

    handle           the problem as kernels see it: problem.h
    constraint_rows  of all constraints, if all were enabled
    error_rows       of all tasks
    error_places     where among these rows the errors of each task are, by name
    parameters       how many numbers all tasks and constraints have
    own              where users' own tasks and constraints write their rows, before each cycle
    """

    def __init__(self, problem: Problem, model: Model) -> None:
        self.problem = problem
        self.own_tasks: list[tuple[Task, int, int]] = []  # with where in `own`, and how many rows
        self.own_constraints: list[tuple[Constraint, int, int]] = []
        self._owned = 0
        self.error_places: dict[str, slice] = {}
        self.error_rows = 0
        lines = [number for line in (*self._task_lines(model), *self._constraint_lines(model)) for number in line]
        self.own: Array = np.zeros(max(self._owned, 1))
        self.has_own = bool(self.own_tasks or self.own_constraints)
        self.constraint_rows = sum(each.count_rows() for each in problem.constraints)
        self.parameters = sum(len(each.numbers) for each in (*problem.tasks, *problem.constraints))
        driven = np.asarray(model.actuated_joints, np.int64)
        self.handle = _kernels.control_problem(
            model.tree,
            tuple(task.handle(model) for task in problem.tasks),
            tuple(constraint.handle(model) for constraint in problem.constraints),
            np.array(lines, np.int64),
            np.setdiff1d(np.arange(model.nv), driven),
            driven,
            self.own,
        )

    def _task_lines(self, model: Model) -> list[tuple[int, ...]]:
        """Level, contacts, and where in `own` its rows are, of each task."""
        problem = self.problem
        order = {each.name: index for index, each in enumerate(problem.constraints)}
        levels = [index for index, level in enumerate(problem.levels) for _ in level]
        lines: list[tuple[int, ...]] = []
        for task, level, told in zip(problem.tasks, levels, problem.describe(model), strict=True):
            rows = task.count_rows()
            contacts = [order[name] for name in told.contacts] + [-1, -1]
            lines.append((level, *contacts[:2], self._owned))
            if told.kind == kinds.CUSTOM:
                self.own_tasks.append((task, self._owned, rows))
                self._owned += rows * (model.nv + 3)
            self.error_places[task.name] = slice(self.error_rows, self.error_rows + rows)
            self.error_rows += rows
        return lines

    def _constraint_lines(self, model: Model) -> list[tuple[int, ...]]:
        """Where in `own` the rows of each constraint are."""
        lines: list[tuple[int, ...]] = []
        for constraint in self.problem.constraints:
            rows = constraint.count_rows()
            lines.append((self._owned,))
            if constraint.describe(model).kind == constraint_kinds.CUSTOM:
                self.own_constraints.append((constraint, self._owned, rows))
                self._owned += rows * (model.nv + 1)
        return lines
