"""What a controller with inequalities says beside its command: limits that were reached, tasks that lost by them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from wholebody.control.result import Fault, Result
from wholebody.errors import Infeasible
from wholebody.model.layout import Array
from wholebody.model.model import Model


@dataclass(frozen=True)
class Limit:
    """One limit: of a joint, a contact, or a pair of links.

    "motion" keeps a joint within its positions and velocities, "acceleration" within what brakes assume.
    """

    quantity: str  # motion, effort, pull, slip, tip, spin, acceleration or distance
    of: str
    unit: str

    def __str__(self) -> str:
        """In words."""
        return f"{self.quantity} of {self.of}"


UNITS = {"pull": "N", "slip": "N", "tip": "N·m", "spin": "N·m"}


def limits_of(model: Model, contacts: Iterable[tuple[str, str]]) -> tuple[Limit, ...]:
    """The names of all rows of limits but those of distances; of contacts it is told what each row keeps them from."""
    units = {"motion": ("rad/s²", "m/s²"), "effort": ("N·m", "N"), "acceleration": ("rad/s²", "m/s²")}
    of_joints = {
        quantity: [
            Limit(quantity, f"joint '{each.name}'", sliding if each.kind == "prismatic" else turning)
            for each in model.robot.moving
            if quantity != "effort" or each.actuated
        ]
        for quantity, (turning, sliding) in units.items()
    }
    of_contacts = [Limit(what, f"contact '{who}'", UNITS[what]) for what, who in contacts]
    return (*of_joints["motion"], *of_joints["effort"], *of_contacts, *of_joints["acceleration"])


@dataclass(frozen=True)
class Loss:
    """A task that did not get all it asked for; `residual` is the length of what is missing, over its rows."""

    task: str
    residual: float


@dataclass(frozen=True)
class InfeasibleFault(Fault):
    """The limits contradict each other; the last safe command was given instead."""

    error: Infeasible


class QuadraticResult(Result):
    """A command that keeps all limits."""

    __slots__ = ("_names", "_residual", "_slack", "steps")

    _names: tuple[Limit, ...]
    _slack: Array
    _residual: Array
    steps: int
    """How many sets of active limits were tried: none as long as WBOSC's answer keeps all limits."""

    def explain(self, names: tuple[Limit, ...], slack: Array, residual: Array, steps: int) -> None:
        """Note what `active`, `losses` and `steps` are told from."""
        self._names, self._slack, self._residual, self.steps = names, slack, residual, steps

    def instead(self, fault: Fault) -> QuadraticResult:
        again = QuadraticResult(self._model, self._table, self._shown, self._limits, fault)
        again.explain(self._names, self._slack, self._residual, 0)
        return again

    ACTIVE = 1e-4
    LOST = 1e-5

    @property
    def active(self) -> tuple[Limit, ...]:
        """The limits that are reached."""
        return tuple(self._names[row] for row in np.flatnonzero(self._slack < self.ACTIVE))

    @property
    def relaxed(self) -> tuple[Limit, ...]:
        """Accelerations that exceed their bound, because contacts and dynamics leave no other motion."""
        return tuple(self._names[row] for row in np.flatnonzero(self._slack < -self.LOST))

    @property
    def losses(self) -> tuple[Loss, ...]:
        """Tasks on motion that did not get all they asked for, be it for limits or for the levels above."""
        tasks = list(self._table.problem.tasks)
        lost = np.flatnonzero(self._residual > self.LOST)
        return tuple(Loss(tasks[index].name, float(self._residual[index])) for index in lost)
