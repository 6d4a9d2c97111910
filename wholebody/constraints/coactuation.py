"""Co-actuation: joints that a transmission makes follow another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from wholebody.constraints import constraint as kinds
from wholebody.constraints.constraint import Constraint, ConstraintDescription
from wholebody.errors import BadConstraint
from wholebody.model.model import Model
from wholebody.parameters import OneForEachRow, Unit


@dataclass(eq=False, repr=False)
class Coactuation(Constraint):
    """Joints that follow a master: v_slave − ratio · v_master = 0, a row for each slave.

        Coactuation("torso", "torso_lower_pitch", ["torso_upper_pitch"])

    λ is the effort of the transmission on each slave. `Coactuation.of(model)` takes the robot's own couplings.

    ratios  how far each slave goes for one of the master
    """

    master: str
    slaves: Sequence[str]
    ratios: Annotated[Any, OneForEachRow(), Unit("1")] = 1.0

    @classmethod
    def of(cls, model: Model) -> list[Coactuation]:
        """One for each master among the robot's couplings."""
        couplings = model.robot.couplings
        masters = dict.fromkeys(each.master for each in couplings)
        return [
            cls(
                f"coactuation of {master}",
                master,
                [each.slave for each in couplings if each.master == master],
                np.array([each.ratio for each in couplings if each.master == master]),
            )
            for master in masters
        ]

    def prepare(self) -> None:
        """Slaves as a tuple, each once and not the master; ratios that are not zero."""
        self.slaves = (self.slaves,) if isinstance(self.slaves, str) else tuple(self.slaves)
        if not self.slaves or self.master in self.slaves or len(set(self.slaves)) < len(self.slaves):
            raise BadConstraint(
                f"constraint '{self.name}': '{self.master}' needs slaves, each once, other than itself: {self.slaves}"
            )
        self._refuse_zero(self.ratios)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a parameter; a ratio of zero would be no transmission."""
        if name == "ratios":
            self._refuse_zero(value)
        super().__setattr__(name, value)

    def _refuse_zero(self, ratios: Any) -> None:
        if np.any(np.asarray(ratios) == 0):
            raise BadConstraint(f"constraint '{self.name}': a ratio of 0 ties a slave to nothing; ratios: {ratios}")

    def count_rows(self) -> int:
        return len(self.slaves)

    def describe(self, model: Model) -> ConstraintDescription:
        return ConstraintDescription(
            kinds.COACTUATION, joints=tuple(model.column(name) for name in (self.master, *self.slaves))
        )
