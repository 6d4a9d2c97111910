"""The records by which other processes reach the parameters of a controller, and the names of their channels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from wholebody.messages import Floats, Integers, Record
from wholebody.services.records import AtMost, Numbers

PART = 4096
LEAST = 64
"""Numbers in a record; more, if a parameter has more."""
MOST = 256
"""Numbers of a parameter that can be set from outside."""
ABOUT, SERVICE = ".about", ".parameters"

Path = Annotated[str, AtMost(160)]


@dataclass(frozen=True)
class Get:
    """The value of a parameter."""

    path: Path


@dataclass(frozen=True)
class Set:
    """Another value for a parameter; the answer is what it is then."""

    path: Path
    values: Annotated[Numbers, AtMost(MOST)]


@dataclass(frozen=True)
class GetAll:
    """The values of all parameters, one after the other, in one cycle."""


@dataclass(frozen=True)
class GetJacobian:
    """The Jacobian of a constraint now, row by row."""

    constraint: Annotated[str, AtMost(160)]


@dataclass(frozen=True)
class Values:
    """The answer to each of them."""

    values: Numbers


@dataclass(frozen=True)
class JointOrders:
    """The joints of a controller: all of its model, those with a motor, and the orders of commands and velocities."""

    real: tuple[str, ...] = ()
    actuated: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    velocity: tuple[str, ...] = ()


@dataclass(frozen=True)
class Description:
    """What a controller tells of itself, besides its parameters; of each event, how many numbers it tells."""

    robot: str
    tasks: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    events: Mapping[str, int] = field(default_factory=dict)
    joints: JointOrders = JointOrders()
    settings: Mapping[str, Any] = field(default_factory=dict)
    bindings: tuple[str, ...] = ()
    configuration: Mapping[str, Any] = field(default_factory=dict)


class ControllerNames:
    """The channels of a controller.

    robot.controller.about                  what there is: one text, in parts
    robot.controller.parameters             the service by which others get and set them
    robot.controller.events                 what came true
    robot.controller.applied                what came in from outside, and in which cycle it counted first
    robot.controller.bound.PATH             a parameter that another transport carries
    robot.controller.TOPIC                  what the loop tells of itself (Table C.2)
    """

    def __init__(self, robot: str, controller: str) -> None:
        self.robot, self.controller = robot, controller
        self.first = first = f"{robot}.{controller}"
        self.about, self.service, self.events = f"{first}{ABOUT}", f"{first}{SERVICE}", f"{first}.events"
        self.markers, self.applied = f"{first}.markers", f"{first}.applied"

    def bound(self, path: str) -> str:
        """The channel of a parameter that another transport carries on."""
        return f"{self.first}.bound.{path}"

    def topic(self, name: str) -> str:
        """The channel of something that the loop tells of itself."""
        return f"{self.first}.{name}"


class Value(Record):
    """One value of a parameter: when (in the time of whoever sends it), and its numbers."""

    time: float
    values: Floats


def value_record(size: int) -> np.dtype[Value]:
    """The layout of a value of so many numbers."""
    return Value.of(np.dtype([("time", "<f8"), ("values", "<f8", (size,))], align=True))


class AboutPart(Record):
    """A part of a long text."""

    part: int
    parts: int
    size: int  # type: ignore[assignment]  # numpy's own `size` of a record is 1
    text: Integers


def about_record() -> np.dtype[AboutPart]:
    """The layout of a part of a long text."""
    fields: list[Any] = [("part", "<u4"), ("parts", "<u4"), ("size", "<u4"), ("text", "u1", (PART,))]
    return AboutPart.of(np.dtype(fields, align=True))


class Applied(Record):
    """A parameter that was set from outside: when, before which cycle, which, and to what."""

    time: float
    cycle: int
    index: int
    count: int
    values: Floats


def applied_record(size: int) -> np.dtype[Applied]:
    """The layout of a parameter that was set, of up to so many numbers."""
    count = max(size, LEAST)
    fields = [("time", "<f8"), ("cycle", "<u8"), ("index", "<u4"), ("count", "<u4"), ("values", "<f8", (count,))]
    return Applied.of(np.dtype(fields, align=True))
