"""Fixed base: a floating robot that is bolted to the world, or hangs in a frame."""

from __future__ import annotations

from dataclasses import dataclass

from wholebody.constraints import constraint as kinds
from wholebody.constraints.constraint import Constraint, ConstraintDescription
from wholebody.errors import BadConstraint
from wholebody.model.model import Model


@dataclass(eq=False, repr=False)
class FixedBase(Constraint):
    """The base neither moves nor turns. λ is the wrench of the world on it, at its origin and in its own axes."""

    row_count = 6

    def describe(self, model: Model) -> ConstraintDescription:
        """The base is there."""
        if not model.floating:
            raise BadConstraint(
                f"constraint '{self.name}': {model.robot.name} has no floating base; "
                "it is bolted to the world already, so leave this out"
            )
        return ConstraintDescription(kinds.FIXED_BASE)
