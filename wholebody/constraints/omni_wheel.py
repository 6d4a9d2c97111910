"""Omni wheel: a wheel whose rim is made of rollers: it drives one way and slides freely along its axle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from wholebody.constraints import constraint as kinds
from wholebody.constraints.constraint import Constraint, ConstraintDescription
from wholebody.constraints.contacts import Vector3, checked_direction
from wholebody.errors import BadConstraint
from wholebody.model.model import Model
from wholebody.parameters import Bounds, Unit


@dataclass(eq=False, repr=False)
class OmniWheelContact(Constraint):
    """A wheel that neither leaves the ground nor slips where it rolls: n · v = 0 and t · (v + ω × r) = 0.

    v is the velocity of the hub, n up from the ground, r = −radius · n to where it touches, and t = axle × n the way it
    rolls. Along the axle the rollers let it slide. λ is the force along n, and along t.

    frame   the link that is the wheel, its origin in the hub
    radius  of the wheel
    axle    the direction of the axle in the frame
    normal  up from the ground, in world
    """

    frame: str
    radius: Annotated[float, Unit("m"), Bounds(0, 10)]
    axle: Annotated[Vector3, Unit("1")] = (1.0, 0.0, 0.0)
    normal: Annotated[Vector3, Unit("1")] = (0.0, 0.0, 1.0)
    row_count = 2

    def prepare(self) -> None:
        """Bring both directions to unit length."""
        self.axle = checked_direction(self.name, "the axle", self.axle)
        self.normal = checked_direction(self.name, "the normal", self.normal)
        if not self.radius > 0:
            raise BadConstraint(f"constraint '{self.name}': a wheel has a radius above 0 m, not {self.radius!r}")

    def describe(self, model: Model) -> ConstraintDescription:
        """The frame."""
        return ConstraintDescription(kinds.OMNI_WHEEL, model.frame(self.frame))
