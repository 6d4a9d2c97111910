"""MovementDesk: orders that move a robot about, one at a time; a new one takes the place of the one before it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from wholebody.behaviors.order_desk import OrderDesk
from wholebody.behaviors.walking_orders import LONGEST, Kind, Order, Stage, doing_record, order_record, read_order
from wholebody.errors import BadFootsteps


@dataclass
class UnderWay:
    """The order that is being done, and when its velocity ends."""

    order: Order
    until: float


Movement = TypeVar("Movement", bound=UnderWay)


class MovementDesk(OrderDesk, Generic[Movement]):
    """Reads orders, and reports the beginning and the end of each; how it is done is for who walks or crawls."""

    def __init__(self, robot: str, controller: str) -> None:
        super().__init__(robot, controller, order_record(), doing_record())
        self._now: Movement | None = None

    def end(self, time: float, why: str) -> None:
        """Say that the order under way will not be done."""
        self._interrupt(time, why)

    def _read(self, message: Any) -> Order:
        try:
            order = read_order(message)
        except ValueError:
            raise BadFootsteps(f"{int(message['kind'])} is no kind of order; see Kind") from None
        if not all(math.isfinite(value) for value in order.values):
            raise BadFootsteps(f"an order with {order.values}; give finite numbers")
        if order.kind is Kind.VELOCITY and not 0.0 < order.lasts <= LONGEST:
            raise BadFootsteps(f"a velocity for {order.lasts} s; give up to {LONGEST:g} s, and repeat it")
        return order

    def _begin(self, now: Movement, time: float, text: str = "") -> None:
        self._interrupt(time, f"order {now.order.number} came after it")
        self._now = now
        self._report(now.order.number, Stage.ACCEPTED, time, text)

    def _interrupt(self, time: float, why: str) -> None:
        if self._now is not None:
            self._finish(Stage.INTERRUPTED, time, why)

    def _finish(self, stage: Stage, time: float, text: str = "") -> None:
        assert self._now is not None
        number, self._now = self._now.order.number, None
        self._report(number, stage, time, text)

    @property
    def _number(self) -> int:
        return 0 if self._now is None else self._now.order.number
