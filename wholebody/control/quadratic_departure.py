"""Departure: where a way from one law to another begins, the newest command; see `quadratic_fading`."""

from __future__ import annotations

import numpy as np

from wholebody.control.quadratic_fading import Fading
from wholebody.control.result import Result
from wholebody.control.table import Table
from wholebody.model.layout import Array, Integers
from wholebody.model.snapshot import Snapshot


class Departure:
    """The newest command of a problem, and which constraints were on for it."""

    def __init__(self, table: Table, fading: Fading, first_of_constraint: Integers) -> None:
        self.table, self.fading = table, fading
        self._first_now = first_of_constraint
        self._first = first_of_constraint.copy()
        self._last: Result | None = None
        self._forces = np.zeros(0)

    def note(self, last: Result, forces: Array) -> None:
        """Note a command, and λ of all constraints that were on."""
        self._last, self._forces = last, forces
        self._first[:] = self._first_now

    def fade(self, share: float) -> None:
        """Keep that share of the way to this problem before us; it ends with 0."""
        if self.fading.share[0] == 0.0:
            return
        if share > 0.0:
            self.fading.share[0] = share
        else:
            self.clear()

    def clear(self) -> None:
        """Forget the way to this problem."""
        for each in self.fading:
            each[:] = 0.0

    def leave_for(self, other: Departure, snapshot: Snapshot) -> None:
        """Write down what there is to begin with, for another problem, or for the same with other numbers."""
        if self._last is None:
            return
        borne, fading = self.fading.share[0] * self.fading.borne, other.fading
        self.clear()
        other.clear()
        fading.share[0] = fading.fresh[0] = 1.0
        fading.acceleration[:] = self._last.acceleration
        base = snapshot.model.nv - len(self._last.effort)
        fading.effort[:] = self._last.effort[snapshot.model.actuated_joints - base]
        fading.borne[:] = borne
        self._hand_over(other, snapshot)

    def _hand_over(self, other: Departure, snapshot: Snapshot) -> None:
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
                other.fading.force[at : at + rows] = bore.pop(each.name)[1]
            else:
                other.fading.new[index] = 1.0
            at += rows
        for each, force in bore.values():
            other.fading.borne[:] += each.jacobian(snapshot).T @ force
