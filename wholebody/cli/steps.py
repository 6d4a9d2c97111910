"""Steps: parts of what people ask, one after the other; each says what becomes of it, as controllers report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from wholebody.behaviors.order_line import OrderLine
from wholebody.behaviors.walking_orders import Report, Stage


class Step(Protocol):
    """Something under way."""

    def reports(self) -> Sequence[Report]:
        """What became of it so far; the last is final when it is over."""


@dataclass(frozen=True)
class Told:
    """An order that a controller was given."""

    line: OrderLine
    number: int

    def reports(self) -> Sequence[Report]:
        """What the controller says of it."""
        return self.line.reports(self.number)


@dataclass(frozen=True)
class Until:
    """Waiting for something, up to an instant of the robot's time."""

    so: Callable[[], bool]
    now: Callable[[], float]
    latest: float
    complaint: Callable[[], str]

    def reports(self) -> Sequence[Report]:
        """Completed when it is so; failed if it is not in time."""
        time = self.now()
        if self.so():
            return (Report(0, Stage.COMPLETED, "", time),)
        return (Report(0, Stage.FAILED, self.complaint(), time),) if time > self.latest else ()
