"""Fetching: what a robot with hands does with things that it has seen, and what people decide about it.

GOTO OBJECT(antenna)    people say which of the things seen it is; the robot walks there and looks
GRAB OBJECT(antenna)    people say with which arm; it stands before it, grasps it, and steps back
DROP OBJECT(antenna)    on the stand that it is before, at the height at which it was taken
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from wholebody.behaviors.arms import Reach
from wholebody.behaviors.reaching import Reaching
from wholebody.behaviors.reaching_client import ReachingClient
from wholebody.cli.errands import Errands
from wholebody.cli.looking import Looking
from wholebody.cli.steps import Step, Told
from wholebody.collaboration.map import Block, Map
from wholebody.collaboration.rcp.commands import Handle
from wholebody.errors import NoController, Refused
from wholebody.perception.seen_channel import Sighted

BESIDE, CLEAR = 0.015, 0.10
"""m between palm and thing before the hand closes, and on the way there."""
LIFT = 0.06
"""m"""
FEELS = 1.0
"""N that a wrist must feel more after lifting."""
WITHIN = (0.02, 0.03)
"""m, forward and aside, by which a robot may stand otherwise than it wants to before it grasps."""
ATTEMPTS = 5
BACK = 0.35
"""m that it steps back from a stand before it turns."""
NEAREST, AHEAD = 0.8, math.radians(40.0)
"""m, and rad. A stand further away, or further aside, is not the one that is meant to put something on."""


@dataclass(frozen=True)
class Held:
    """A thing in a hand."""

    name: str
    side: str
    height: float  # of its middle where it was taken, m in world
    beside: float  # m from its middle to the palm


class Fetching:
    """Of a robot whose arms are moved by a controller of their own."""

    def __init__(self, name: str, looking: Looking, map: Map, hands: Reaching) -> None:
        self._name, self._looking, self._map, self._hands = name, looking, map, hands
        self._client: ReachingClient | None = None
        self._remarks: list[str] = []
        self.held: Held | None = None

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
        return f"there is nothing to use the {order.object} for"

    def strategies(self, order: Handle) -> Sequence[str]:
        """The things that could be meant, or the arms that can do it, the best first."""
        if order.verb == "GOTO" and order.object not in self._map.objects:
            known = self._looking.thing(order.object)
            return () if known is not None else self._looking.candidates()
        if order.verb == "GRAB" and (thing := self._looking.thing(order.object)) is not None:
            reaches = self._reaches(thing)
            self._remarks += [str(each) for each in reaches]
            return [f"{each.side}_arm" for each in reaches if each.possible]
        return ()

    def remarks(self) -> Iterator[str]:
        """What is worth telling since it was last asked."""
        yield from self._looking.remarks()
        remarks, self._remarks = self._remarks, []
        yield from remarks

    # What it does.

    def steps(self, order: Handle, strategy: str, errands: Errands) -> Iterator[Step]:
        """How an order is done, step by step."""
        match order.verb:
            case "GOTO":
                return self._goto(order.object, strategy, errands)
            case "GRAB":
                return self._grab(order.object, strategy.removesuffix("_arm"), errands)
        return self._drop(errands)

    def stop(self) -> None:
        """Hold the arms where they are, whoever has told them to move."""
        with contextlib.suppress(NoController):
            self._connected().stop()

    def close(self) -> None:
        """Let go of channels."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _goto(self, name: str, candidate: str, errands: Errands) -> Iterator[Step]:
        if name in self._map.objects:
            there = self._map.objects[name]
            yield from errands.goto(there.x, there.y)
            return
        if candidate:
            self._looking.call(candidate, name)
        thing = self._looking.thing(name)
        if thing is None:
            raise Refused(f"the {name} is not where it was; look around")
        yield from errands.goto(*self._looking.on_map(thing))
        yield from self._looking.at(name)

    def _grab(self, name: str, side: str, errands: Errands) -> Iterator[Step]:
        arms, spot = self._connected(), self._hands.arms[side].sweet_spot
        for _ in range(ATTEMPTS):
            yield from self._looking.at(name)
            thing = self._must_see(name)
            off = self._looking.in_base(thing.position)[:2] - spot
            if (np.abs(off) < WITHIN).all():
                break
            yield errands.go(*off)
        beside, place = thing.radius + BESIDE, thing.position
        yield Told(arms, arms.carry(side))
        yield Told(arms, arms.open_hand(side))
        yield self._reach(side, place, CLEAR)
        yield self._reach(side, place, beside)
        before = arms.load(side)
        yield Told(arms, arms.close_hand(side))
        yield self._reach(side, place, beside, LIFT)
        yield Told(arms, arms.carry(side))
        felt = arms.load(side) - before
        if math.isfinite(felt) and felt < FEELS:
            yield errands.go(-BACK, 0.0)
            yield Told(arms, arms.rest(side))
            raise Refused(f"the {side} hand came up empty: the wrist feels {felt:.1f} N; look again")
        self.held = Held(name, side, thing.position[2], beside)
        self._remarks.append(f"the {side} hand holds the {name}: the wrist feels {felt:.1f} N")
        yield errands.go(-BACK, 0.0)

    def _drop(self, errands: Errands) -> Iterator[Step]:
        held, stand, arms = self.held, self._stand(), self._connected()
        assert held is not None
        assert stand is not None
        side, spot = held.side, self._hands.arms[held.side].sweet_spot
        place = (*self._looking.off_map(stand.x, stand.y), held.height)
        for _ in range(ATTEMPTS):
            off = self._looking.in_base(place)[:2] - spot
            if (np.abs(off) < WITHIN).all():
                break
            yield errands.go(*off)
        yield self._reach(side, place, held.beside, LIFT)
        yield self._reach(side, place, held.beside)
        yield Told(arms, arms.open_hand(side))
        self.held = None
        yield self._reach(side, place, CLEAR)
        yield Told(arms, arms.carry(side))
        yield errands.go(-BACK, 0.0)
        yield Told(arms, arms.rest(side))

    def _reach(self, side: str, place: tuple[float, float, float], standoff: float, above: float = 0.0) -> Step:
        """Bring the palm beside a place in world, as seen from where the base is now: it gives way to the arm."""
        point = self._looking.in_base((place[0], place[1], place[2] + above))
        return Told(self._connected(), self._connected().reach(side, point, standoff))

    # What it knows.

    def _goto_complaint(self, name: str) -> str:
        if name in self._map.objects or self._looking.all():
            return ""
        known = ", ".join(self._map.objects) or "none"
        return f"nothing was seen that could be the {name}: look around; on the map there are: {known}"

    def _grab_complaint(self, name: str) -> str:
        if self.held is not None:
            return f"the {self.held.side} hand holds the {self.held.name} already"
        if self._looking.thing(name) is None:
            return f"nobody has said what the {name} is; GOTO OBJECT({name}) asks"
        try:
            self._connected()
        except NoController as error:
            return str(error)
        reaches = self._reaches(self._must_see(name))
        able = any(each.possible for each in reaches)
        return "" if able else f"no arm can grasp the {name}: {'; '.join(str(each) for each in reaches)}"

    def _drop_complaint(self, name: str) -> str:
        if self.held is None or self.held.name != name:
            return f"no hand holds the {name}"
        stands = ", ".join(self._map.objects) or "none"
        return "" if self._stand() is not None else f"there is nothing here to put it on; GOTO one of: {stands}"

    def _reaches(self, thing: Sighted) -> list[Reach]:
        """How each arm can grasp a thing once the robot stands as that arm wants it, the best first."""
        height, standing = float(self._looking.in_base(thing.position)[2]), self._hands.robot.posture("stand")
        found = [
            arm.reach(standing, (*arm.sweet_spot, height), thing.radius + BESIDE) for arm in self._hands.arms.values()
        ]
        return sorted(found, key=lambda each: (not each.possible, -each.manipulability))

    def _stand(self) -> Block | None:
        """The nearest place to put something on, if there is one ahead."""
        here = self._looking.here

        def far(block: Block) -> float:
            return math.hypot(block.x - here.x, block.y - here.y)

        def aside(block: Block) -> float:
            bearing = math.atan2(block.y - here.y, block.x - here.x) - here.yaw
            return abs(math.remainder(bearing, math.tau))

        ahead = [each for each in self._map.objects.values() if aside(each) < AHEAD and far(each) < NEAREST]
        return min(ahead, key=far, default=None)

    def _must_see(self, name: str) -> Sighted:
        thing = self._looking.thing(name)
        if thing is None:
            raise Refused(f"the {name} is not in view; look again")
        return thing

    def _connected(self) -> ReachingClient:
        if self._client is not None and not self._client.alive:
            self.close()
        if self._client is None:
            self._client = ReachingClient(self._name, timeout=0.0)
        return self._client
