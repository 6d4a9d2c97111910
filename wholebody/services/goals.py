"""GoalServer: a Server of goals that take time; the newest goal preempts the one before it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from wholebody.messages import Dtype
from wholebody.services.server import Asked, Cancel, Server
from wholebody.services.stage import Stage


@dataclass
class UnderWay:
    """A goal that was accepted and has not come to its end."""

    number: int
    goal: Any
    cancelled: bool = False


class GoalServer(Server):
    """Goals of the given kinds, one at a time in each slot; a robot whose arms move apart has a slot for each.

    if (asked := server.take_goal(time)) is not None:
        server.accept(asked, time)                   # or reply REJECTED, and why
    server.run(time, progress=0.5)
    server.finish(Stage.SUCCEEDED, time)
    """

    def __init__(self, name: str, goals: tuple[type, ...], doing: Dtype | None = None, about: str = "") -> None:
        self.under_way: dict[str, UnderWay] = {}  # by slot
        super().__init__(name, (*goals, Cancel), doing=doing, about=about)

    @property
    def number(self) -> int:
        """Of a goal under way; 0 if there is none."""
        return next((each.number for each in self.under_way.values()), 0)

    def take_goal(self, time: float) -> Asked | None:
        """The next goal, if somebody gave one; what is to be cancelled is given up meanwhile."""
        asked = self.take()
        if asked is None or not isinstance(asked.request, Cancel):
            return asked
        number = asked.request.number
        slot = next((slot for slot, each in self.under_way.items() if each.number == number), None)
        if slot is None:
            self.reply(asked.number, Stage.REJECTED, time, f"goal {number} is not under way")
            return None
        self.under_way[slot].cancelled = True
        self.reply(asked.number, Stage.SUCCEEDED, time)
        self.give_up(slot)
        return None

    def give_up(self, slot: str) -> None:
        """Stop what is done for a goal; it counts as cancelled when it comes to its end."""

    def accept(self, asked: Asked, time: float, text: str = "", slot: str = "") -> UnderWay:
        """Take a goal; the one before it is preempted."""
        self.preempt(time, f"order {asked.number} came after it", slot)
        self.under_way[slot] = accepted = UnderWay(asked.number, asked.request)
        self.reply(asked.number, Stage.ACCEPTED, time, text)
        return accepted

    def run(self, time: float, slot: str = "", progress: float = math.nan) -> None:
        """Say that a goal has begun, or how far it has come."""
        self.reply(self.under_way[slot].number, Stage.RUNNING, time, progress=progress)

    def finish(self, stage: Stage, time: float, text: str = "", slot: str = "") -> None:
        """Say how a goal ended; one that was given up is cancelled, however well it ended."""
        ended = self.under_way.pop(slot)
        if ended.cancelled and stage is Stage.SUCCEEDED:
            stage = Stage.CANCELLED
        self.reply(ended.number, stage, time, text)

    def preempt(self, time: float, why: str, slot: str = "") -> None:
        """Say of a goal, if there is one, that it will not be reached, and why."""
        if slot in self.under_way:
            self.finish(Stage.PREEMPTED, time, why, slot)
