"""CrawlingDesk: where a crawling robot takes orders from channels, one a cycle, and says what becomes of them.

with CrawlingDesk(crawling, "robot") as desk:
    while ...:
        if desk.cycle(state, reference):
            ...    # the reference is to be followed

Orders, reports and what is being done are those of walking (walking_orders): STAND is to get on wrists and knees, from
wherever it lies or stands. Of what bears is told BOTH while all limbs do, and else the side on which both do.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from wholebody.behaviors.crawling import Crawling
from wholebody.behaviors.lying_motions import OntoLimbs
from wholebody.behaviors.movement_desk import MovementDesk, UnderWay
from wholebody.behaviors.order_desk import fitting
from wholebody.behaviors.walking_orders import (
    Bearing,
    Kind,
    Order,
    Stage,
)
from wholebody.errors import BadFootsteps, WholebodyError
from wholebody.messages import Reference, State
from wholebody.motion.capture.gait import CRAWLING

CONTROLLER = "crawl"
_BEARING = tuple(Bearing.RIGHT if part.startswith("left") else Bearing.LEFT for part in CRAWLING)
"""What bears while a limb does not."""


class CrawlingDesk(MovementDesk[UnderWay]):
    """Passes orders on to a Crawling, and tells what becomes of them, and where it is."""

    def __init__(self, crawling: Crawling, robot: str = "", controller: str = CONTROLLER) -> None:
        super().__init__(robot, controller)
        self.crawling = crawling
        self.on_limbs = False
        self._getting_there: OntoLimbs | None = None
        self._do: dict[Kind, Callable[[Order, State], None]] = {
            Kind.STAND: self._get_on_limbs,
            Kind.GO: self._go,
            Kind.VELOCITY: self._move,
            Kind.STOP: self._stop,
        }

    def cycle(self, state: State, reference: Reference) -> bool:
        """Take the next order, move, and tell; whether it moves the robot. Before its first order it does not."""
        time = state.time
        if self._orders.next():
            self._take(state, time)
        moves = self._moved(state, reference)
        self._tell(time)  # before any report, so that who hears of an end sees how it ended
        if self._now is not None:
            self._see(self._now, time)
        return moves

    @property
    def moving(self) -> bool:
        """Whether it is on its way somewhere, and has no trouble."""
        on_its_way = self.on_limbs and not self.crawling.standing and not self.crawling.trouble
        return on_its_way or self._getting_there is not None

    def end(self, time: float, why: str) -> None:
        """Rest, and say that the order under way will not be done."""
        self.crawling.stop()
        super().end(time, why)

    def _moved(self, state: State, reference: Reference) -> bool:
        if self._getting_there is not None:
            if self._getting_there.cycle(state, reference):
                self._getting_there, self.on_limbs = None, True
            return True
        if self.on_limbs:
            self.crawling.cycle(state, reference)
        return self.on_limbs

    # How an order is taken.

    def _take(self, state: State, time: float) -> None:
        number = int(self._orders.message["number"])
        try:
            order = self._checked()
            self._do[order.kind](order, state)
        except WholebodyError as error:
            self._report(number, Stage.REFUSED, time, str(error))
            return
        self._begin(UnderWay(order, time + order.lasts), time)
        self._report(number, Stage.STARTED, time)

    def _checked(self) -> Order:
        order = self._read(self._orders.message)
        if order.kind not in self._do:
            raise BadFootsteps(f"{order.kind.name.lower()} is for those who walk; give a way, a turn or a velocity")
        if order.kind in (Kind.STAND, Kind.STOP) or self.on_limbs:
            return order
        wait = "wait until it is" if self._getting_there else "tell it to stand first, which means on its limbs"
        raise BadFootsteps(f"it is not on wrists and knees yet; {wait}")

    def _get_on_limbs(self, order: Order, state: State) -> None:
        if self.on_limbs:
            self.crawling.stop()
        elif self._getting_there is None:
            self._getting_there = OntoLimbs(self.crawling.crawler, state, order.values[0])

    def _go(self, order: Order, _: State) -> None:
        forward, leftward, turn = order.values[:3]
        if leftward or (forward and turn):
            raise BadFootsteps("it crawls a way forward or backward, or turns on the spot; give one of them")
        if turn:
            self.crawling.turn(turn)
        else:
            self.crawling.crawl(distance=forward)

    def _move(self, order: Order, _: State) -> None:
        self.crawling.crawl(velocity=order.values[:3])

    def _stop(self, _: Order, __: State) -> None:
        self.crawling.stop()

    # What becomes of it.

    def _see(self, now: UnderWay, time: float) -> None:
        crawling = self.crawling
        if crawling.trouble:
            self._finish(Stage.FAILED, time, crawling.trouble)
        elif now.order.kind is Kind.VELOCITY and time >= now.until:
            crawling.stop()
            now.until = math.inf
        if self._now is not now or not crawling.standing or self._getting_there is not None:
            return
        if crawling.objection and now.order.kind in (Kind.GO, Kind.VELOCITY):
            self._finish(Stage.FAILED, time, crawling.objection)
        elif not time < now.until < math.inf:
            self._finish(Stage.COMPLETED, time)

    def _tell(self, time: float) -> None:
        message, crawling = self._doing.message, self.crawling
        message["time"], message["place"] = time, crawling.place
        message["standing"] = self.on_limbs and crawling.standing
        message["bearing"], message["order"] = self._bearing, self._number
        message["trouble"] = fitting(crawling.trouble)
        self._doing.put()

    @property
    def _bearing(self) -> Bearing:
        if not self.on_limbs:
            return Bearing.RISING if self._getting_there else Bearing.NOT_UP
        bearing = self.crawling.crawler.target.bearing
        return Bearing.BOTH if all(bearing) else _BEARING[bearing.index(False)]
