"""ReachingDesk: where the arms of a robot take orders from channels, one a cycle, and say what becomes of them.

with ReachingDesk(reaching, "robot") as desk:
    while ...:
        reaching.cycle(state, reference)
        desk.serve(time)
"""

from __future__ import annotations

from collections.abc import Callable

from wholebody.behaviors.arms import SIDES
from wholebody.behaviors.order_desk import OrderDesk
from wholebody.behaviors.reaching import Reaching
from wholebody.behaviors.reaching_orders import CONTROLLER, Kind, Order, doing_record, order_record, read_order
from wholebody.behaviors.walking_orders import Stage
from wholebody.errors import BadMessage, WholebodyError

LARGEST = 20.0
"""m of any place that makes sense, and N that a hand presses with at most."""


class ReachingDesk(OrderDesk):
    """Passes orders on to a Reaching; one arm can be told something while the other one moves."""

    def __init__(self, reaching: Reaching, robot: str = "", controller: str = CONTROLLER) -> None:
        super().__init__(robot, controller, order_record(), doing_record())
        self.reaching = reaching
        self._now: dict[str, Order] = {}
        self._do: dict[Kind, Callable[[Order], None]] = {
            Kind.REACH: lambda order: reaching.reach(order.side, order.values[:3], order.values[3]),
            Kind.CARRY: lambda order: reaching.carry(order.side),
            Kind.CLOSE: lambda order: reaching.close(order.side),
            Kind.OPEN: lambda order: reaching.open(order.side),
            Kind.REST: lambda order: reaching.rest(order.side),
            Kind.STOP: lambda order: reaching.stop(),
            Kind.PRESS: lambda order: reaching.press(order.side, order.values[:3], order.values[3]),
        }

    def serve(self, time: float) -> None:
        """Take the next order, if there is one, see what becomes of those under way, and say what the arms do."""
        if self._orders.next():
            self._take(time)
        for side in [side for side in self._now if not self.reaching.busy(side)]:
            self._report(self._now.pop(side).number, Stage.COMPLETED, time)
        message = self._doing.message
        message["time"], message["taken"] = time, [self.reaching.takes(side) for side in SIDES]
        for name in ("load", "pressed", "left"):
            message[name] = [getattr(self.reaching, name)(side) for side in SIDES]
        message["order"] = next((each.number for each in self._now.values()), 0)
        self._doing.put()

    def _take(self, time: float) -> None:
        message = self._orders.message
        try:
            order = read_order(message)
        except ValueError:
            wrong = f"{int(message['kind'])} is no kind of order; see Kind"
            self._report(int(message["number"]), Stage.REFUSED, time, wrong)
            return
        try:
            if not all(abs(value) < LARGEST for value in order.values):
                raise BadMessage(f"an order with {order.values}; give metres in the base, and newtons")
            self._do[order.kind](order)
        except WholebodyError as error:
            self._report(order.number, Stage.REFUSED, time, str(error))
            return
        ended = list(self._now) if order.kind is Kind.STOP else [order.side]
        for side in ended:
            if side in self._now:
                self._report(self._now.pop(side).number, Stage.INTERRUPTED, time, f"order {order.number} came after it")
        self._report(order.number, Stage.ACCEPTED, time)
        self._report(order.number, Stage.STARTED, time)
        if order.kind is Kind.STOP:
            self._report(order.number, Stage.COMPLETED, time)
        else:
            self._now[order.side] = order
