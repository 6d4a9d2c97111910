"""Handwork: what hands do before a thing that was seen: stand as an arm wants it, come to the thing, and go away."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from wholebody.behaviors.arms import Arm
from wholebody.behaviors.reaching import Reaching
from wholebody.behaviors.reaching_client import ReachingClient
from wholebody.cli.people.arm_offers import stands_well
from wholebody.cli.people.errands import Errands
from wholebody.cli.people.looking import Looking, Point
from wholebody.cli.people.steps import Moved, Step
from wholebody.errors import NoController, Refused
from wholebody.perception.seen_channel import Sighted
from wholebody.robots.robot import Array

CLEAR = 0.10
"""m between palm and thing on the way there."""
BEFORE = 0.15
"""m short of a thing where a hand comes up beside it, or goes down: straight it would run into it."""
ATTEMPTS = 5
BACK = 0.35
"""m that it steps back from a stand before it turns."""


@dataclass(frozen=True)
class Held:
    """A thing in a hand."""

    name: str
    side: str
    height: float  # of its middle where it was taken, m in world
    beside: float  # m from its middle to the palm


class Handwork:
    """Of a robot whose arms are moved by a controller of their own; `held` is what is in a hand."""

    def __init__(self, name: str, looking: Looking, hands: Reaching) -> None:
        self._name, self.looking, self._hands = name, looking, hands
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
        """Why nothing can be done with a thing at all."""
        if self.looking.thing(name) is None:
            return f"nobody has said what the {name} is; GOTO OBJECT({name}) asks"
        try:
            self.connected()
        except NoController as error:
            return str(error)
        return ""

    def must_see(self, name: str) -> Sighted:
        """A thing that was seen."""
        thing = self.looking.thing(name)
        if thing is None:
            raise Refused(f"the {name} is not in view; look again")
        return thing

    def stand_before(self, place: Point, spot: Array, errands: Errands) -> Iterator[Step]:
        """Walk until a place in world is where an arm wants it, x and y in the base."""
        for _ in range(ATTEMPTS):
            off = self.looking.in_base(place)[:2] - spot
            if stands_well(off):
                return
            yield errands.go(*off)

    def stand_before_thing(self, name: str, spot: Array, errands: Errands) -> Iterator[Step]:
        """The same, with a look at it each time."""
        for _ in range(ATTEMPTS):
            yield from self.looking.at(name)
            off = self.looking.in_base(self.must_see(name).position)[:2] - spot
            if stands_well(off):
                return
            yield errands.go(*off)

    def reach(self, side: str, place: Point, standoff: float, above: float = 0.0, before: float = 0.0) -> Step:
        """Bring the palm beside a place in world, as seen from where the base is now: it gives way to the arm.

        above, before  m by which it stays over the place, and short of it
        """
        x, y, z = self.looking.in_base((place[0], place[1], place[2] + above))
        return Moved(self.connected(), self.connected().reach(side, (x - before, y, z), standoff))

    def beside(self, side: str, place: Point) -> float | None:
        """How far, m, a palm is beside a place in world as its joints are: an arm gives way; None if nobody knows."""
        positions = self.looking.positions()
        if positions is None:
            return None
        palm = self.arms[side].palm(positions)
        return float(palm[:3, 2] @ (palm[:3, 3] - self.looking.in_base(place)))

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
