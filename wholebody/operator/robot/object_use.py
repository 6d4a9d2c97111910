"""Using: USE OBJECT(<id>). What is in a hand is held up; what is not is pushed with a hand until the wrist feels it.

How a thing is to be used nobody but people knows, so they say whether it shall be pushed, and with which arm.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence

import numpy as np

from wholebody.behaviors.reaching import DEEP
from wholebody.errors import OutOfReach, Refused
from wholebody.operator.rcp.commands import Handle
from wholebody.operator.robot.manipulation import BACK, BEFORE, CLEAR, ArmOffer, Held, Manipulation, none_can, offers
from wholebody.operator.robot.navigation import Navigation
from wholebody.operator.robot.settings import UseSettings
from wholebody.operator.robot.steps import Moved, Parts, Step, Until
from wholebody.perception.objects import SeenObject
from wholebody.robots.robot import Array

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
