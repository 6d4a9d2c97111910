"""Manipulation: how hands come to an object that was seen, once the robot stands right for the arm, and go away."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from wholebody.behaviors.arms import Arm, Reach
from wholebody.behaviors.reaching import Reaching
from wholebody.behaviors.reaching_goals import ReachingClient
from wholebody.errors import NoController, Refused
from wholebody.operator.robot.navigation import Navigation
from wholebody.operator.robot.object_search import ObjectSearch, Point
from wholebody.operator.robot.steps import Moved, Step
from wholebody.perception.objects import SeenObject
from wholebody.robots.robot import Array

CLEAR = 0.10
"""m between palm and object on the way there."""
BEFORE = 0.15
"""m short of an object where a hand comes up beside it, or goes down: straight it would run into it."""
ATTEMPTS = 5
BACK = 0.35
"""m that it steps back from a stand before it turns."""


@dataclass(frozen=True)
class Held:
    """An object in a hand."""

    name: str
    side: str
    height: float  # of its middle where it was taken, m in world
    beside: float  # m from its middle to the palm


class Manipulation:
    """Of a robot whose arms are moved by a controller of their own; `held` is what is in a hand."""

    def __init__(self, name: str, search: ObjectSearch, hands: Reaching) -> None:
        self._name, self.search, self._hands = name, search, hands
        self._client: ReachingClient | None = None
        self.held: Held | None = None

    @property
    def arms(self) -> dict[str, Arm]:
        """By side."""
        return self._hands.arms

    @property
    def standing(self) -> Array:
        """Joint positions of the robot as it stands."""
        return self._hands.robot.posture("stand")

    def complaint(self, name: str) -> str:
        """Why nothing can be done with an object at all."""
        if self.search.item(name) is None:
            return f"nobody has said what the {name} is; GOTO OBJECT({name}) asks"
        try:
            self.connected()
        except NoController as error:
            return str(error)
        return ""

    def must_see(self, name: str) -> SeenObject:
        """An object that was seen."""
        item = self.search.item(name)
        if item is None:
            raise Refused(f"the {name} is not in view; look again")
        return item

    def stand_before(self, place: Point, spot: Array, navigation: Navigation) -> Iterator[Step]:
        """Walk until a place in world is where an arm wants it, x and y in the base."""
        for _ in range(ATTEMPTS):
            off = self.search.in_base(place)[:2] - spot
            if stands_well(off):
                return
            yield navigation.go(*off)

    def stand_before_object(self, name: str, spot: Array, navigation: Navigation) -> Iterator[Step]:
        """The same, with a look at it each time."""
        for _ in range(ATTEMPTS):
            yield from self.search.at(name)
            off = self.search.in_base(self.must_see(name).position)[:2] - spot
            if stands_well(off):
                return
            yield navigation.go(*off)

    def reach(self, side: str, place: Point, standoff: float, above: float = 0.0, before: float = 0.0) -> Step:
        """Bring the palm beside a place in world, as seen from where the base is now: it gives way to the arm.

        above, before  m by which it stays over the place, and short of it
        """
        x, y, z = self.search.in_base((place[0], place[1], place[2] + above))
        return Moved(self.connected(), self.connected().reach(side, (x - before, y, z), standoff))

    def beside(self, side: str, place: Point) -> float | None:
        """How far, m, a palm is beside a place in world as its joints are: an arm gives way; None if nobody knows."""
        positions = self.search.positions()
        if positions is None:
            return None
        palm = self.arms[side].palm(positions)
        return float(palm[:3, 2] @ (palm[:3, 3] - self.search.in_base(place)))

    def connected(self) -> ReachingClient:
        """The arms' controller; NoController if none runs."""
        if self._client is not None and not self._client.alive:
            self.close()
        if self._client is None:
            self._client = ReachingClient(self._name, timeout=0.0)
        return self._client

    def stop(self) -> None:
        """Hold the arms where they are, whoever has told them to move."""
        with contextlib.suppress(NoController):
            self.connected().stop()

    def close(self) -> None:
        """Let go of channels."""
        if self._client is not None:
            self._client.close()
            self._client = None


WITHIN = (0.02, 0.03)
"""m, forward and aside, by which a robot may stand otherwise than it wants to before it uses a hand."""
ALIKE = 0.02
"""m by which two ways differ that count as equally far."""


@dataclass(frozen=True)
class ArmOffer:
    """An arm, and the step for it, m forward and to the left; none if it does it from where the robot stands."""

    reach: Reach
    forward: float = 0.0
    leftward: float = 0.0

    @property
    def side(self) -> str:
        """Of the arm."""
        return self.reach.side

    @property
    def possible(self) -> bool:
        """Whether the hand gets there."""
        return self.reach.possible

    def __str__(self) -> str:
        """In words."""
        if not self.possible:
            return str(self.reach)
        steps = [
            f"{abs(far):.2f} m {ahead if far > 0 else back}"
            for far, ahead, back in (
                (self.forward, "forward", "back"),
                (self.leftward, "to the left", "to the right"),
            )
            if round(abs(far), 2)
        ]
        where = f"after {' and '.join(steps)}" if steps else "from where it stands"
        return f"{self.side}_arm {where}, {self.reach.quality}"


def offers(
    arms: Iterable[Arm], posture: Array, thing_in_base: Array, spot: Callable[[Arm], Array], standoff: float
) -> list[ArmOffer]:
    """What each arm can do with an object: the possible before the others, then the nearer, then the nimbler.

    spot  where an arm wants the object, x and y in the base
    """
    found = [_offer(arm, posture, thing_in_base, spot(arm), standoff) for arm in arms]
    return sorted(
        found,
        key=lambda each: (
            not each.possible,
            round(math.hypot(each.forward, each.leftward) / ALIKE),
            -each.reach.manipulability,
        ),
    )


def none_can(what: str, found: list[ArmOffer]) -> str:
    """A complaint, if no arm can do something."""
    able = any(each.possible for each in found)
    return "" if able else f"no arm can {what}: {'; '.join(str(each) for each in found)}"


def stands_well(off: Array) -> bool:
    """Whether a thing is near enough to where an arm wants it, m."""
    return bool((np.abs(off) < WITHIN).all())


def _offer(arm: Arm, posture: Array, thing_in_base: Array, spot: Array, standoff: float) -> ArmOffer:
    off = thing_in_base[:2] - spot
    if stands_well(off):
        return ArmOffer(arm.reach(posture, thing_in_base, standoff))
    return ArmOffer(arm.reach(posture, (*spot, thing_in_base[2]), standoff), float(off[0]), float(off[1]))
