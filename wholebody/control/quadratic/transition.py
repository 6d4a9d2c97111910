"""Transition: where a change from one law to another begins, the newest command; transitions.c does the rest."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from wholebody import _kernels
from wholebody.control.problem_layout import ProblemLayout
from wholebody.control.quadratic.memory import Blend
from wholebody.control.result import Result
from wholebody.errors import BadProblem
from wholebody.model.layout import Array, Integers
from wholebody.model.snapshot import Snapshot


class Transition:
    """The newest command of a problem, and which constraints were on for it."""

    def __init__(self, table: ProblemLayout, handle: _kernels.Quadratic, blend: Blend) -> None:
        self.table, self.blend, self._handle = table, blend, handle
        self._first: Integers = np.full(len(table.problem.constraints), -1, np.int64)
        self._last: Result | None = None
        self._forces = np.zeros(0)

    def note(self, last: Result, forces: Array) -> None:
        """Note a command, and λ of all constraints that were on."""
        self._last, self._forces = last, forces
        _kernels.quadratic_constraints(self._handle, self._first)

    def blend_by(self, share: float) -> None:
        """Keep that share of the way to this problem before us; it ends with 0."""
        if self.blend.share[0] == 0.0:
            return
        if share > 0.0:
            self.blend.share[0] = share
        else:
            self.clear()

    def clear(self) -> None:
        """Forget the way to this problem."""
        for each in self.blend:
            each[:] = 0.0

    def begin(self, other: Transition, snapshot: Snapshot) -> None:
        """Write down what there is to begin with, for another problem, or for the same with other numbers."""
        if self._last is None:
            return
        borne, blend = self.blend.share[0] * self.blend.borne, other.blend
        self.clear()
        other.clear()
        blend.share[0] = blend.fresh[0] = 1.0
        blend.acceleration[:] = self._last.acceleration
        base = snapshot.model.nv - len(self._last.effort)
        blend.effort[:] = self._last.effort[snapshot.model.actuated_joints - base]
        blend.borne[:] = borne
        self._hand_over(other, snapshot)

    def _hand_over(self, other: Transition, snapshot: Snapshot) -> None:
        """Sort forces into those of constraints that go on and those of constraints that are off from now on."""
        bore = {
            each.name: (each, self._forces[first : first + each.count_rows()])
            for each, first in zip(self.table.problem.constraints, self._first, strict=True)
            if first >= 0
        }
        at = 0
        for index, each in enumerate(other.table.problem.constraints):
            if each.state != "enabled":
                continue
            rows = each.count_rows()
            if each.name in bore:
                other.blend.force[at : at + rows] = bore.pop(each.name)[1]
            else:
                other.blend.added[index] = 1.0
            at += rows
        for each, force in bore.values():
            other.blend.borne[:] += each.jacobian(snapshot).T @ force


@dataclass
class Way:
    """From one weight to another by equal factors."""

    factor: float
    left: int
    end: float


class Weights:
    """Of each task by its name; 1 unless told."""

    def __init__(self, weights: Mapping[str, float], period: float) -> None:
        self._weight: dict[str, float] = {}
        self._ways: dict[str, Way] = {}
        self._period = period
        for name, weight in weights.items():
            self.change(name, weight, 0.0)

    def of(self, task: str) -> float:
        """The weight of a task now."""
        return self._weight.get(task, 1.0)

    def change(self, task: str, weight: float, seconds: float) -> None:
        """Go to another weight, from wherever it is now."""
        if not 0 < weight < math.inf:
            raise BadProblem(f"the weight of task '{task}' must be above 0, not {weight}")
        if not 0 <= seconds < math.inf:
            raise BadProblem(f"the weight of task '{task}' must change within some seconds, or 0, not {seconds}")
        cycles = round(seconds / self._period)
        if cycles == 0:
            self._weight[task] = weight
            self._ways.pop(task, None)
        else:
            self._ways[task] = Way((weight / self.of(task)) ** (1.0 / cycles), cycles, weight)

    def advance(self) -> bool:
        """One cycle further; whether any weight changes."""
        changed = bool(self._ways)
        for task, way in list(self._ways.items()):
            way.left -= 1
            self._weight[task] = way.end if way.left == 0 else self.of(task) * way.factor
            if way.left == 0:
                del self._ways[task]
        return changed
