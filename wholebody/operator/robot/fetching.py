"""Fetching: what a robot with hands does with objects that it has seen, and what people decide about it.

GOTO OBJECT(antenna)    people say which of the objects seen it is; the robot walks there and looks
GRAB OBJECT(antenna)    people say with which arm; it stands before it, grasps it, and steps back
USE OBJECT(antenna)     see Using
DROP OBJECT(antenna)    on the stand that it is before, at the height at which it was taken
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence

import numpy as np

from wholebody.behaviors.reaching import DEEP
from wholebody.errors import OutOfReach, Refused
from wholebody.operator.map import Block, Map
from wholebody.operator.rcp.commands import Handle
from wholebody.operator.robot.manipulation import BACK, BEFORE, CLEAR, ArmOffer, Held, Manipulation, none_can, offers
from wholebody.operator.robot.navigation import Navigation
from wholebody.operator.robot.settings import UseSettings
from wholebody.operator.robot.steps import Moved, Parts, Step, Until
from wholebody.perception.objects import SeenObject
from wholebody.robots.robot import Array

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


LEAVE_IT = "leave_it"
FELT = 0.7
"""Share of the force that a wrist must feel, or it has pressed on nothing."""
AHEAD = 0.1
"""m before where objects are carried that one is held up: nearer the arm turns over sooner, and the hand leans more."""
HIGHEST, LOWER = 0.35, 0.05
"""m over where objects are carried to which one is held up at most, and by how much less if that cannot be."""
PUSH = {
    "stands before it": 10.0,
    "brings the hand up": 4.0,
    "opens the hand": 0.8,
    "goes beside it": 2.0,
    "presses on it": 5.0,
    "lets it go": 2.0,
    "takes the hand away": 2.0,
    "steps back": 3.0,
    "lowers the arm": 4.0,
}
SHOW = {"holds it up": 2.0, "waits": 3.0, "takes it down": 2.0}


class Using:
    """Of a robot with hands."""

    def __init__(self, hands: Manipulation, settings: UseSettings, remarks: list[str]) -> None:
        self._hands, self._settings, self._remarks = hands, settings, remarks

    def complaint(self, name: str) -> str:
        """Why an object cannot be used."""
        held = self._hands.held
        if held is not None and held.name == name:
            return "" if self._up(held) is not None else f"the {held.side} arm cannot hold the {name} up"
        if complaint := self._hands.complaint(name):
            return complaint
        return none_can(f"push the {name}", self._offers(self._hands.must_see(name)))

    def strategies(self, order: Handle) -> Sequence[str]:
        """The arms that could push an object, the best first, or not to; there is one way to hold something up."""
        item, held = self._hands.search.item(order.object), self._hands.held
        if item is None or (held is not None and held.name == order.object):
            return ()
        found = self._offers(item)
        self._remarks += [str(each) for each in found]
        return [*(f"push_with_{each.side}_arm" for each in found if each.possible), LEAVE_IT]

    def steps(self, name: str, strategy: str, navigation: Navigation) -> Iterator[Step]:
        """How it is done."""
        held = self._hands.held
        if held is not None and held.name == name:
            return self._show(held)
        if strategy == LEAVE_IT:
            raise Refused(f"the {name} is left alone")
        return self._push(name, strategy.removeprefix("push_with_").removesuffix("_arm"), navigation)

    def _push(self, name: str, side: str, navigation: Navigation) -> Iterator[Step]:
        hands, arms, part = self._hands, self._hands.connected(), Parts(PUSH)
        hands.must_see(name)
        for step in hands.stand_before_object(name, hands.arms[side].pressing_spot, navigation):
            yield part("stands before it", step)
        place = hands.must_see(name).position
        yield part("brings the hand up", hands.reach(side, place, CLEAR, before=BEFORE))
        yield part("opens the hand", Moved(arms, arms.open_hand(side)))
        yield part("goes beside it", hands.reach(side, place, CLEAR))
        pressing = arms.press(side, hands.search.in_base(place), self._settings.force)
        yield part("presses on it", Moved(arms, pressing))
        felt = arms.pressed(side)
        yield part("lets it go", hands.reach(side, place, CLEAR))
        yield part("takes the hand away", hands.reach(side, place, CLEAR, before=BEFORE))
        yield part("steps back", navigation.go(-BACK, 0.0))
        yield part("lowers the arm", Moved(arms, arms.rest(side)))
        if math.isfinite(felt) and felt < FELT * self._settings.force:
            raise Refused(f"the {side} hand pressed on nothing: the wrist felt {felt:.1f} N; look again")
        told = f" with {felt:.1f} N" if math.isfinite(felt) else "; nothing tells how strongly"
        self._remarks.append(f"the {side} hand pushed the {name}{told}")

    def _show(self, held: Held) -> Iterator[Step]:
        arms, part, up = self._hands.connected(), Parts(SHOW), self._up(held)
        if up is None:
            raise Refused(f"the {held.side} arm cannot hold the {held.name} up")
        yield part("holds it up", Moved(arms, arms.reach(held.side, up)))
        now = self._hands.search.now
        until = now() + self._settings.seconds
        yield part("waits", Until(lambda: now() >= until, now, math.inf, str))
        yield part("takes it down", Moved(arms, arms.carry(held.side)))
        self._remarks.append(f"the {held.side} hand held the {held.name} up for {self._settings.seconds:g} s")

    def _offers(self, item: SeenObject) -> list[ArmOffer]:
        """How each free arm can push an object, the best first."""
        hands, taken = self._hands, self._hands.held.side if self._hands.held else ""
        free = [arm for side, arm in hands.arms.items() if side != taken]
        there = hands.search.in_base(item.position)
        return offers(free, hands.standing, there, lambda arm: arm.pressing_spot, -DEEP)

    def _up(self, held: Held) -> Array | None:
        """The highest place, in the base, to which an arm can hold something up; None if there is none."""
        arm = self._hands.arms[held.side]
        carrying = arm.moved(self._hands.standing, arm.palm_at(arm.carrying))
        for over in np.arange(HIGHEST, 0.0, -LOWER):
            place = arm.carrying + np.array([AHEAD, 0.0, over])
            with contextlib.suppress(OutOfReach):
                arm.way(carrying, arm.palm_at(place), steadily=True)
                return np.asarray(place)
        return None
