"""Body: what the protocol needs of a robot, whoever moves it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from wholebody.operator.rcp.commands import Movement, Order, Position
from wholebody.parameters.verbs import Verb


class Stage(Enum):
    """How far an order has come."""

    QUEUED = "QUEUED"
    STARTED = "STARTED"
    COMPLETED = "COMPLETED"
    INTERRUPTED = "INTERRUPTEDBY"
    FAILED = "FAILED"


@dataclass(frozen=True)
class Progress:
    """News of an order."""

    order: int
    stage: Stage
    text: str = ""


@dataclass(frozen=True)
class Underway:
    """What is being done for an order, which part of it that is, and seconds until all of it is done, if known."""

    what: str
    left: float | None = None
    part: int = 1
    parts: int = 1

    def __str__(self) -> str:
        """In words."""
        counted = f"{self.part} of {self.parts}: " if self.parts > 1 else ""
        return f"{counted}{self.what}" + ("" if self.left is None else f", {math.ceil(self.left)} s left")


class Body(Protocol):
    """A robot that does one order at a time; nothing here waits."""

    movements: Mapping[str, Movement]

    def verbs(self) -> Mapping[str, Verb]:
        """What its running behaviours can be told, by name, in small letters."""

    def complaint(self, order: Order) -> str:
        """Why an order cannot be taken at all, such as an object that nobody has seen; or nothing."""

    def strategies(self, order: Order) -> Sequence[str]:
        """The ways to do an order among which a person decides; none if there is nothing to decide."""

    def begin(self, number: int, order: Order, strategy: str) -> None:
        """Begin an order; of the one before there is no more news. A Drive that goes on is begun again and again."""

    def stop(self, number: int) -> None:
        """Go to the nearest stable posture; its COMPLETED is news of this number."""

    def resume(self) -> Future[str]:
        """Go on after a stop that holds every joint; what comes of it, in words, comes when others have answered."""

    def news(self) -> Iterator[Progress]:
        """What happened since it was last asked."""

    def underway(self) -> Underway | None:
        """What it does for the order that it has begun; None if there is none."""

    def remarks(self) -> Iterator[str]:
        """What it has noticed since it was last asked, for whoever wants to hear of events."""

    def troubles(self) -> Sequence[str]:
        """What is wrong now; each is told once, when it begins, to whoever wants to hear warnings."""

    def sensors(self) -> Mapping[str, str]:
        """Every reading, by label."""

    def parameters(self) -> Mapping[str, str]:
        """Every parameter, by name."""

    def set_parameter(self, name: str, value: str) -> Future[None] | None:
        """Set one; BadParameter says why not. If others have to be asked, what comes of it comes later."""

    def position(self) -> Position:
        """Where the robot believes it is."""

    def correct(self, position: Position) -> None:
        """Somebody knows better."""
