"""OrderDesk: where a behaviour is told what to do through channels, and says what becomes of it; see OrderLine."""

from __future__ import annotations

from wholebody.behaviors.walking_orders import Stage, report_record
from wholebody.drivers import Names
from wholebody.errors import LayoutMismatch, NoController, TooManyWriters
from wholebody.messages import TEXT_SIZE, Dtype
from wholebody.parameters.owned import Opened

CLIENTS = 64
"""Processes that may tell it something at the same time."""
KEPT = 256
"""Orders and reports that are not overwritten yet."""


class OrderDesk(Opened):
    """Orders in, reports and what is being done out; one controller of a name at a time."""

    def __init__(self, robot: str, controller: str, orders: Dtype, doing: Dtype) -> None:
        super().__init__()
        names = Names(robot)
        channel = self._channel(names.orders(controller), orders, KEPT, CLIENTS)
        self._orders = self._opened.enter_context(channel.reader())
        self._orders.latest()  # what was told before is for another life
        try:
            self._reports = self._writer(names.reports(controller), report_record(), KEPT, writers=1)
            self._doing = self._writer(names.doing(controller), doing, writers=1)
        except (TooManyWriters, LayoutMismatch):
            self.close()
            raise NoController(f"a controller '{controller}' runs on '{names.robot}' already; stop it first") from None

    def _report(self, number: int, stage: Stage, time: float, text: str = "") -> None:
        message = self._reports.message
        message["number"], message["stage"], message["time"], message["text"] = number, stage, time, fitting(text)
        self._reports.put()


def fitting(words: str) -> bytes:
    """So much of some words as a record has room for."""
    return words.encode()[:TEXT_SIZE].decode(errors="ignore").encode()
