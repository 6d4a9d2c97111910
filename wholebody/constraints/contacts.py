"""Contacts that do not slip: flat (a sole), along a line (an edge), at a point (a fingertip)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from wholebody.constraints import constraint as kinds
from wholebody.constraints.constraint import Constraint, ConstraintDescription
from wholebody.errors import BadConstraint
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.parameters import Bounds, Size, Unit

Vector3 = Annotated[Any, Size(3)]
"""Given as whatever people type; kept as an array."""


@dataclass(eq=False, repr=False)
class FlatContact(Constraint):
    """A surface that lies flat on something: its frame neither moves nor turns.

    λ is the wrench of the world on the robot at the frame's origin: force, then torque, in world.
    """

    frame: str
    row_count = 6

    def describe(self, model: Model) -> ConstraintDescription:
        return ConstraintDescription(kinds.FLAT, model.frame(self.frame))


@dataclass(eq=False, repr=False)
class PointContact(Constraint):
    """A point that stays where it is; its frame may turn about it. λ is the force of the world on the robot.

    point  where it is in its frame
    """

    frame: str
    point: Annotated[Vector3, Unit("m")] = 0.0
    row_count = 3

    def describe(self, model: Model) -> ConstraintDescription:
        return ConstraintDescription(kinds.POINT, model.frame(self.frame))


@dataclass(eq=False, repr=False)
class LineContact(Constraint):
    """An edge that lies on something: a point of it stays where it is, and the frame turns about the edge alone.

    λ is the force at the point, in world, then the torques about two axes of the body across the edge.

    axis   the direction of the edge in the frame
    point  a point of it in the frame
    """

    frame: str
    axis: Annotated[Vector3, Unit("1")] = (0.0, 1.0, 0.0)
    point: Annotated[Vector3, Unit("m")] = 0.0
    row_count = 5

    def prepare(self) -> None:
        self.axis = checked_direction(self.name, "the axis", self.axis)

    def describe(self, model: Model) -> ConstraintDescription:
        return ConstraintDescription(kinds.LINE, model.frame(self.frame))


def checked_direction(name: str, what: str, given: Array) -> Array:
    """A direction of unit length."""
    values = np.array(given, dtype=np.float64)
    if values.shape != (3,) or not np.isfinite(values).all() or np.linalg.norm(values) < 1e-6:
        raise BadConstraint(f"constraint '{name}': {what} must be three numbers that are not all zero, not {given!r}")
    return values / np.linalg.norm(values)


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
        self.axle = checked_direction(self.name, "the axle", self.axle)
        self.normal = checked_direction(self.name, "the normal", self.normal)
        if not self.radius > 0:
            raise BadConstraint(f"constraint '{self.name}': a wheel has a radius above 0 m, not {self.radius!r}")

    def describe(self, model: Model) -> ConstraintDescription:
        return ConstraintDescription(kinds.OMNI_WHEEL, model.frame(self.frame))


@dataclass(eq=False, repr=False)
class FixedBase(Constraint):
    """The base neither moves nor turns. λ is the wrench of the world on it, at its origin and in its own axes."""

    row_count = 6

    def describe(self, model: Model) -> ConstraintDescription:
        if not model.floating:
            raise BadConstraint(
                f"constraint '{self.name}': {model.robot.name} has no floating base; "
                "it is bolted to the world already, so leave this out"
            )
        return ConstraintDescription(kinds.FIXED_BASE)
