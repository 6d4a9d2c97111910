"""Steps: parts of what people ask, one after the other; each says what becomes of it, as controllers report."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from wholebody.behaviors.behavior import GoalHandle
from wholebody.behaviors.reaching_goals import ReachingClient
from wholebody.behaviors.walking_goals import WalkingClient
from wholebody.operator.rcp.body import Underway
from wholebody.services import Report, Stage


class Step(Protocol):
    """Something under way."""

    def reports(self) -> Sequence[Report]:
        """What became of it so far; the last is final when it is over."""

    def underway(self) -> Underway:
        """What it is, and how long it will take."""


@dataclass(frozen=True)
class Walked:
    """An order that the walking controller was given."""

    client: WalkingClient
    number: int
    what: str = "walks"

    def reports(self) -> Sequence[Report]:
        """What the controller says of it."""
        return self.client.reports(self.number)

    def underway(self) -> Underway:
        """A walk at a velocity ends when people want."""
        doing = self.client.doing
        return Underway(self.what, doing.left if not doing.standing and math.isfinite(doing.left) else None)


@dataclass(frozen=True)
class Moved:
    """An order that the arms' controller was given."""

    client: ReachingClient
    number: int

    def reports(self) -> Sequence[Report]:
        """What the controller says of it."""
        return self.client.reports(self.number)

    def underway(self) -> Underway:
        """As its way is timed."""
        return Underway("moves an arm", self.client.left)


@dataclass(frozen=True)
class Told:
    """A goal that a behaviour was given."""

    handle: GoalHandle

    def reports(self) -> Sequence[Report]:
        """What the behaviour says of it; NoServer if it has ended."""
        return self.handle.reports()

    def underway(self) -> Underway:
        """As long as the rest would take at the pace so far."""
        reports = self.handle.reports()
        share = reports[-1].progress if reports else math.nan
        took = reports[-1].time - reports[0].time if reports else 0.0
        return Underway(self.handle.verb, took * (1.0 - share) / share if share > 0.0 else None)


@dataclass(frozen=True)
class Until:
    """Waiting for something, up to an instant of a clock."""

    so: Callable[[], bool]
    now: Callable[[], float]
    latest: float
    complaint: Callable[[], str]
    what: str = "looks"

    def reports(self) -> Sequence[Report]:
        """Succeeded when it is so; failed if it is not in time."""
        time = self.now()
        if self.so():
            return (Report(0, Stage.SUCCEEDED, "", time),)
        return (Report(0, Stage.FAILED, self.complaint(), time),) if time > self.latest else ()

    def underway(self) -> Underway:
        """Nobody knows when it will be so."""
        return Underway(self.what)


@dataclass(frozen=True)
class Part:
    """A step that is one of several parts of an order; what comes after it takes so many seconds, as a rule."""

    step: Step
    what: str
    number: int
    count: int
    usual: float
    after: float

    def reports(self) -> Sequence[Report]:
        """Those of the step."""
        return self.step.reports()

    def underway(self) -> Underway:
        """How long the whole order will take."""
        left = self.step.underway().left
        return Underway(self.what, (self.usual if left is None else left) + self.after, self.number, self.count)


class Parts:
    """The parts of an order by what they are, in their order, and how long each takes as a rule, s."""

    def __init__(self, usual: Mapping[str, float]) -> None:
        self._usual, self._names = usual, tuple(usual)

    def __call__(self, what: str, step: Step) -> Part:
        """A step as one of the parts."""
        number = self._names.index(what) + 1
        after = sum(self._usual[each] for each in self._names[number:])
        return Part(step, what, number, len(self._names), self._usual[what], after)
