"""WalkingDesk: where a walking robot takes orders from channels, one a cycle, and says what becomes of them.

with WalkingDesk(walking, "robot") as desk:
    while ...:
        desk.serve(time)
        if desk.moves:
            walking.cycle(state, reference)
        desk.tell(time)
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wholebody.behaviors.movement_desk import MovementDesk, UnderWay
from wholebody.behaviors.order_desk import fitting
from wholebody.behaviors.walking import Walking
from wholebody.behaviors.walking_orders import (
    CONTROLLER,
    Bearing,
    Kind,
    Order,
    Stage,
)
from wholebody.errors import BadFootsteps, VelocityClamped, WholebodyError

QUIET = 0.1
"""s. How long the robot stands, and no sensor is silent, before an order counts as completed."""
_BEARING = {"both": Bearing.BOTH, "left": Bearing.LEFT, "right": Bearing.RIGHT}


@dataclass
class _Walk(UnderWay):
    """The order that is being done, and how far it is."""

    steps: int  # of its own: when no more are to come, those before it are done, and it begins
    started: bool = False
    quiet_since: float | None = None  # when the robot came to stand, with all its senses


class WalkingDesk(MovementDesk[_Walk]):
    """Passes orders on to a Walking, and tells what becomes of them, and where it is."""

    def __init__(self, walking: Walking, robot: str = "", controller: str = CONTROLLER) -> None:
        super().__init__(robot, controller)
        self.walking = walking
        self.moves = False  # whether it was ever told to stand: before that it moves nothing
        self._do: dict[Kind, Callable[[Order], None]] = {
            Kind.STAND: self._stand,
            Kind.GO: self._go,
            Kind.VELOCITY: self._move,
            Kind.FOOTSTEPS: self._follow,
            Kind.IN_PLACE: self._step,
            Kind.STOP: self._stop,
        }

    def serve(self, time: float) -> None:
        """Take the next order, if there is one, and see what becomes of the one under way."""
        if self._orders.next():
            self._take(self._orders.message, time)
        if self._now is not None:
            self._see(self._now, time)

    def tell(self, time: float) -> None:
        """Say what the robot does now."""
        message, walking = self._doing.message, self.walking
        message["time"], message["place"], message["standing"] = time, walking.place, walking.up and walking.standing
        message["bearing"], message["order"] = self._bearing, self._number
        message["trouble"], message["left"] = fitting(walking.trouble), walking.left
        sensed, base = walking.sensed, message["base"]
        if sensed is None:
            base[:] = math.nan
        else:
            base[:3], base[3:] = sensed.base_in_world, sensed.orientation
        self._doing.put()

    @property
    def _bearing(self) -> Bearing:
        if not self.walking.up:
            return Bearing.RISING if self.walking.rising else Bearing.NOT_UP
        target = self.walking.walker.target
        return Bearing.BOTH if target is None else _BEARING[target.support]

    # How an order is taken.

    def _take(self, message: Any, time: float) -> None:
        try:
            order = self._checked(message)
            kept = self._make_room(order)
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always", VelocityClamped)
                self._do[order.kind](order)
        except WholebodyError as error:
            self._report(int(message["number"]), Stage.REFUSED, time, str(error))
            return
        clamped = "; ".join(str(each.message) for each in said)
        self._begin(_Walk(order, time + order.lasts, self._to_come - kept), time, clamped)

    def _checked(self, message: Any) -> Order:
        order = self._read(message)
        if order.kind is Kind.IN_PLACE and order.values[0] < 1:
            raise BadFootsteps(f"{order.values[0]:g} steps; give one or more")
        if order.kind in (Kind.STAND, Kind.STOP) or self.walking.up:
            return order
        wait = "wait until it does" if self.walking.rising else "tell it to stand first"
        raise BadFootsteps(f"{self.walking.trouble or 'it does not stand yet'}; {wait}")

    def _stand(self, order: Order) -> None:
        if not self.walking.rising:
            self.walking.stand(order.values[0])
        self.moves = True

    def _go(self, order: Order) -> None:
        self.walking.go(*order.values[:3])

    def _move(self, order: Order) -> None:
        self.walking.walk(velocity=order.values[:3])

    def _follow(self, order: Order) -> None:
        if not self.walking.standing:
            raise BadFootsteps("it walks, and footsteps begin where the feet stand; stop first, and wait")
        self.walking.walk(footsteps=order.footsteps)

    def _step(self, order: Order) -> None:
        self.walking.walk(steps_in_place=int(order.values[0]))

    def _stop(self, order: Order) -> None:
        if self.walking.up:
            self.walking.stop()

    def _make_room(self, order: Order) -> int:
        """Stop, if the order begins where the robot stands; how many steps are to come before its own."""
        if order.kind not in (Kind.GO, Kind.IN_PLACE):
            return 0
        self.walking.finish()
        return self._to_come

    @property
    def _to_come(self) -> int:
        return len(self.walking.walker.pattern.steps)

    # What becomes of it.

    def _see(self, now: _Walk, time: float) -> None:
        walking = self.walking
        if not now.started and self._to_come <= now.steps:
            now.started = True
            self._report(now.order.number, Stage.STARTED, time)
        if walking.trouble and (now.order.kind is not Kind.STOP or not walking.up):
            self._finish(Stage.FAILED, time, walking.trouble)
        elif walking.velocity is not None and time >= now.until:
            walking.finish()
        elif not walking.standing or walking.blind or time < now.until:
            now.quiet_since = None
        elif now.quiet_since is None:
            now.quiet_since = time
        elif time >= now.quiet_since + QUIET:
            self._finish(Stage.COMPLETED, time)
