"""Fetching: what a robot with hands does with objects that it has seen, and what people decide about it.

GOTO OBJECT(antenna)    people say which of the objects seen it is; the robot walks there and looks
GRAB OBJECT(antenna)    people say with which arm; it stands before it, grasps it, and steps back
USE OBJECT(antenna)     see Using
DROP OBJECT(antenna)    on the stand that it is before, at the height at which it was taken
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from wholebody.errors import Refused
from wholebody.operator.map import Block, Map
from wholebody.operator.rcp.commands import Handle
from wholebody.operator.robot.manipulation import BACK, BEFORE, CLEAR, ArmOffer, Held, Manipulation, none_can, offers
from wholebody.operator.robot.navigation import Navigation
from wholebody.operator.robot.object_use import Using
from wholebody.operator.robot.settings import UseSettings
from wholebody.operator.robot.steps import Moved, Parts, Step
from wholebody.perception.objects import SeenObject

BESIDE = 0.015
"""m between palm and object before the hand closes."""
LIFT = 0.06
"""m"""
FEELS = 1.0
"""N that a wrist must feel more after lifting."""
UNSURE, DEVIATIONS = 0.03, 3.0
"""m of standard deviation beyond which it does not walk up to an object before it has looked from farther away, and how
many deviations farther that is."""
NEAREST, AHEAD = 0.8, math.radians(40.0)
"""m, and rad. A stand further away, or further aside, is not the one that is meant to put something on."""
GRAB = {
    "stands before it": 10.0,
    "brings the hand up": 4.0,
    "opens the hand": 0.8,
    "goes beside it": 2.0,
    "comes to it": 1.0,
    "closes the hand": 0.8,
    "lifts it": 1.0,
    "takes it along": 2.0,
    "steps back": 3.0,
}
DROP = {
    "stands before the stand": 8.0,
    "brings it over the stand": 2.0,
    "puts it down": 1.0,
    "opens the hand": 0.8,
    "leaves it": 1.0,
    "takes the hand back": 1.0,
    "lowers the arm": 4.0,
    "steps back": 3.0,
    "looks whether it is there": 1.0,
}


class Fetching:
    """Of a robot whose arms are moved by a controller of their own."""

    def __init__(self, hands: Manipulation, map: Map, use: UseSettings) -> None:
        self._hands, self._search, self._map = hands, hands.search, map
        self._remarks: list[str] = []
        self._using = Using(hands, use, self._remarks)

    @property
    def held(self) -> str:
        """The name of what is in a hand, if anything is."""
        return self._hands.held.name if self._hands.held is not None else ""

    # What people hear and decide.

    def complaint(self, order: Handle) -> str:
        """Why an order cannot be taken at all."""
        match order.verb:
            case "GOTO":
                return self._goto_complaint(order.object)
            case "GRAB":
                return self._grab_complaint(order.object)
            case "DROP":
                return self._drop_complaint(order.object)
        return self._using.complaint(order.object)

    def strategies(self, order: Handle) -> Sequence[str]:
        """The objects that could be meant, or the arms that can do it, the best first."""
        if order.verb == "GOTO" and order.object not in self._map.objects:
            known = self._search.item(order.object)
            return () if known is not None else self._search.candidates()
        if order.verb == "GRAB" and (item := self._search.item(order.object)) is not None:
            found = self._offers(item)
            self._remarks += [str(each) for each in found]
            return [f"{each.side}_arm" for each in found if each.possible]
        return self._using.strategies(order) if order.verb == "USE" else ()

    def remarks(self) -> Iterator[str]:
        """What is worth telling since it was last asked."""
        yield from self._search.remarks()
        yield from self._remarks
        self._remarks.clear()

    # What it does.

    def steps(self, order: Handle, strategy: str, navigation: Navigation) -> Iterator[Step]:
        """How an order is done, step by step."""
        match order.verb:
            case "GOTO":
                return self._goto(order.object, strategy, navigation)
            case "GRAB":
                return self._grab(order.object, strategy.removesuffix("_arm"), navigation)
            case "USE":
                return self._using.steps(order.object, strategy, navigation)
        return self._drop(order.object, navigation)

    def stop(self) -> None:
        """Hold the arms where they are, whoever has told them to move."""
        self._hands.stop()

    def close(self) -> None:
        """Let go of channels."""
        self._hands.close()

    def _goto(self, name: str, candidate: str, navigation: Navigation) -> Iterator[Step]:
        if name in self._map.objects:
            there = self._map.objects[name]
            yield from navigation.goto(there.x, there.y)
            return
        if candidate:
            self._search.call(candidate, name)
        item = self._search.must_know(name)
        if item.deviation > UNSURE:
            yield from navigation.near(*self._search.on_map(item), unsure=DEVIATIONS * item.deviation)
            yield from self._search.roughly(name, UNSURE)
            item = self._search.must_know(name)
        yield from navigation.near(*self._search.on_map(item))
        yield from self._search.at(name)

    def _grab(self, name: str, side: str, navigation: Navigation) -> Iterator[Step]:
        hands, arms, part = self._hands, self._hands.connected(), Parts(GRAB)
        hands.must_see(name)
        for step in hands.stand_before_object(name, hands.arms[side].sweet_spot, navigation):
            yield part("stands before it", step)
        item = hands.must_see(name)
        beside, place = item.radius + BESIDE, item.position
        yield part("brings the hand up", Moved(arms, arms.carry(side)))
        yield part("opens the hand", Moved(arms, arms.open_hand(side)))
        yield part("goes beside it", hands.reach(side, place, CLEAR))
        yield part("comes to it", hands.reach(side, place, beside))
        before, palm = arms.load(side), hands.beside(side, place)
        yield part("closes the hand", Moved(arms, arms.close_hand(side)))
        yield part("lifts it", hands.reach(side, place, beside, LIFT))
        yield part("takes it along", Moved(arms, arms.carry(side)))
        felt = arms.load(side) - before
        if math.isfinite(felt) and felt < FEELS:
            yield part("steps back", hands.reach(side, place, CLEAR, before=BEFORE))
            yield part("steps back", Moved(arms, arms.rest(side)))  # as after a drop: it still stands there
            yield part("steps back", navigation.go(-BACK, 0.0))
            raise Refused(f"the {side} hand came up empty: the wrist feels {felt:.1f} N; look again")
        hands.held = Held(name, side, item.position[2], beside if palm is None else palm)
        self._remarks.append(f"the {side} hand holds the {name}: the wrist feels {felt:.1f} N")
        yield part("steps back", navigation.go(-BACK, 0.0))

    def _drop(self, name: str, navigation: Navigation) -> Iterator[Step]:
        hands, stand, part = self._hands, self._stand(), Parts(DROP)
        held, arms = hands.held, hands.connected()
        if held is None or stand is None:
            raise Refused(self._drop_complaint(name))
        side, place = held.side, (*self._search.off_map(stand.x, stand.y), held.height)
        for step in hands.stand_before(place, hands.arms[side].sweet_spot, navigation):
            yield part("stands before the stand", step)
        yield part("brings it over the stand", hands.reach(side, place, held.beside, LIFT))
        yield part("puts it down", hands.reach(side, place, held.beside))
        yield part("opens the hand", Moved(arms, arms.open_hand(side)))
        hands.held = None
        self._search.forget(name)
        yield part("leaves it", hands.reach(side, place, CLEAR))
        yield part("takes the hand back", hands.reach(side, place, CLEAR, before=BEFORE))
        yield part("lowers the arm", Moved(arms, arms.rest(side)))  # a body that begins to step sways by a hand's width
        yield part("steps back", navigation.go(-BACK, 0.0))
        yield part("looks whether it is there", self._search.whether(name, place))

    # What it knows.

    def _goto_complaint(self, name: str) -> str:
        if name in self._map.objects or self._search.all():
            return ""
        known = ", ".join(self._map.objects) or "none"
        return f"nothing was seen that could be the {name}: look around; on the map there are: {known}"

    def _grab_complaint(self, name: str) -> str:
        held = self._hands.held
        if held is not None:
            return f"the {held.side} hand holds the {held.name} already"
        if complaint := self._hands.complaint(name):
            return complaint
        return none_can(f"grasp the {name}", self._offers(self._hands.must_see(name)))

    def _drop_complaint(self, name: str) -> str:
        held = self._hands.held
        if held is None or held.name != name:
            return f"no hand holds the {name}"
        stands = ", ".join(self._map.objects) or "none"
        return "" if self._stand() is not None else f"there is nothing here to put it on; GOTO one of: {stands}"

    def _offers(self, item: SeenObject) -> list[ArmOffer]:
        """How each arm can grasp an object, the best first."""
        there, beside = self._search.in_base(item.position), item.radius + BESIDE
        return offers(self._hands.arms.values(), self._hands.standing, there, lambda arm: arm.sweet_spot, beside)

    def _stand(self) -> Block | None:
        """The nearest place to put something on, if there is one ahead."""
        here = self._search.here

        def far(block: Block) -> float:
            return math.hypot(block.x - here.x, block.y - here.y)

        def aside(block: Block) -> float:
            bearing = math.atan2(block.y - here.y, block.x - here.x) - here.yaw
            return abs(math.remainder(bearing, math.tau))

        ahead = [each for each in self._map.objects.values() if aside(each) < AHEAD and far(each) < NEAREST]
        return min(ahead, key=far, default=None)
