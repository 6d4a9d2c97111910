"""Constraint: rows that must hold, J v̇ + J̇ v = 0, because the world or a transmission sees to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wholebody import _kernels
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.parameters import Packed

CUSTOM, FLAT, POINT, LINE, OMNI_WHEEL, COACTUATION, FIXED_BASE = 0, 1, 2, 3, 4, 5, 6
"""The kinds of constraints the kernels know."""


@dataclass(frozen=True)
class ConstraintRows:
    """What must hold at one instant: jacobian · v̇ + bias = 0. The effort jacobianᵀ λ sees to it."""

    jacobian: Array
    bias: Array


@dataclass(frozen=True)
class ConstraintDescription:
    """What a kernel must know of a constraint besides its numbers: all of it fixed."""

    kind: int
    frame: int = -1
    joints: tuple[int, ...] = ()  # columns of v


@dataclass(eq=False, repr=False, kw_only=True)
class Constraint(Packed):
    """Something that must hold, above all tasks: J v = 0. It can be enabled and disabled while running.

    Your own is one class with `jacobian`, `bias` if the Jacobian changes, and `row_count`. The rows of a contact begin
    with its linear velocity in the world's axes, so that λ begins with the force of the world on the robot.
    """

    states: ClassVar[tuple[str, ...]] = ("disabled", "enabled")

    def jacobian(self, snapshot: Snapshot) -> Array:
        """J, with J v = 0."""
        if self._is_own(snapshot.model):
            raise NotImplementedError(f"{type(self).__name__} needs a method jacobian(self, snapshot)")
        return self._evaluated(snapshot).jacobian

    def bias(self, snapshot: Snapshot) -> Array:
        """J̇ v. Of your own constraint zero, unless told: right for Jacobians that never change."""
        if self._is_own(snapshot.model):
            return np.zeros(len(self.jacobian(snapshot)))
        return self._evaluated(snapshot).bias

    def rows(self, snapshot: Snapshot) -> ConstraintRows:
        """What must hold: J v̇ + J̇ v = 0."""
        return ConstraintRows(self.jacobian(snapshot), self.bias(snapshot))

    def describe(self, model: Model) -> ConstraintDescription:
        """Look up everything that has a name; UnknownName if the robot does not have it."""
        return ConstraintDescription(CUSTOM)

    def handle(self, model: Model) -> _kernels.Constraint:
        """The constraint for the kernels: what describes it, and where its parameters are."""
        return self._known(model)[1]

    def _known(self, model: Model) -> tuple[Model, _kernels.Constraint, int]:
        known: tuple[Model, _kernels.Constraint, int] | None = self.__dict__.get("_handle")
        if known is None or known[0] is not model:
            told = self.describe(model)
            fixed = np.array([told.kind, told.frame, self.count_rows(), *told.joints], np.int64)
            known = self.__dict__["_handle"] = (model, _kernels.constraints_constraint(fixed, self.numbers), told.kind)
        return known

    def _is_own(self, model: Model) -> bool:
        """Whether it is a user's own constraint."""
        return self._known(model)[2] == CUSTOM

    def _evaluated(self, snapshot: Snapshot) -> ConstraintRows:
        """Its rows by the kernels."""
        model, rows = snapshot.model, self.count_rows()
        jacobian, bias = np.empty((model.nv, rows)), np.empty(rows)
        _kernels.constraints_rows(self.handle(model), model.tree, snapshot.handle, jacobian, bias)
        return ConstraintRows(jacobian.T, bias)
