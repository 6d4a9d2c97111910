"""Navigation: movements and places as goals of the walking controller, one after the other; each is yielded when given.

for step in Navigation(...).goto(2.0, 1.0):
    wait until step.reports() has a final one
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator

from wholebody.behaviors.walking_goals import Bearing, Doing, WalkingClient
from wholebody.errors import NoController, Refused, WholebodyError
from wholebody.locomotion.walking.footsteps import Place
from wholebody.operator.map import Map, Way
from wholebody.operator.rcp.commands import Drive, Move
from wholebody.operator.robot.localization import Localization
from wholebody.operator.robot.settings import BodySettings
from wholebody.operator.robot.steps import Step, Walked

NEAR = 0.3
"""m. Nearer places are gone to without turning."""
STRAIGHT = math.radians(3.0)
ATTEMPTS = 4
"""How often it looks whether it has come to a place."""

_WALKING = {"FORWARD": (1.0, 0.0), "BACKWARD": (-1.0, 0.0), "LEFT": (0.0, 1.0), "RIGHT": (0.0, -1.0)}


class Navigation:
    """Of a robot whose walking controller runs."""

    def __init__(self, client: WalkingClient, where: Localization, map: Map, settings: BodySettings) -> None:
        self._client, self._where, self._map, self._settings = client, where, map, settings

    def move(self, move: Move) -> Iterator[Step]:
        """Walk so many steps, or turn by so many degrees."""
        yield from self._stand()
        if move.movement == "TURNING":
            yield self._turn(math.radians(move.count) * (1.0 if move.direction == "LEFT" else -1.0))
            return
        forward, leftward = (share * move.count for share in _WALKING[move.direction])
        walking = self._settings.walking
        yield self.go(forward * walking.step, leftward * walking.aside)

    def goto(self, x: float, y: float, short: float = 0.0) -> Iterator[Step]:
        """Face the place, walk there straight, or to that far short of it, m, and look whether one has come there."""
        yield from self._stand()
        for _ in range(ATTEMPTS):
            way, goal = self._way(x, y, short)
            if way.distance <= self._settings.goto.tolerance:
                self._refuse_if_blocked(way)
                return
            if way.distance > NEAR and abs(bearing := math.atan2(goal.y, goal.x)) > STRAIGHT:
                yield self._turn(bearing)
                way, goal = self._way(x, y, short)
            yield self.go(goal.x, goal.y)

    def near(self, x: float, y: float, unsure: float = 0.0) -> Iterator[Step]:
        """Walk up to something at a place, as near as one goes to anything; it may be that far from there, m."""
        yield from self.goto(x, y, self._settings.goto.range + unsure)

    def drive(self, drive: Drive) -> Step:
        """Walk on at a velocity, or stop if there is none."""
        if not (drive.forward or drive.leftward or drive.turn):
            return self.stop()
        return Walked(self._client, self._client.walk(velocity=(drive.forward, drive.leftward, drive.turn)))

    def go(self, forward: float, leftward: float) -> Step:
        """Walk to a place seen from where the robot stands, m, without turning."""
        return Walked(self._client, self._client.go(forward, leftward))

    def stop(self) -> Step:
        """Stand, after the steps that cannot be taken back."""
        return Walked(self._client, self._client.stop(), "stops")

    def way(self, x: float, y: float) -> Way:
        """What one meets on the straight way to a place."""
        here = self._where.estimate().place
        return self._map.way(here.x, here.y, x, y, self._settings.goto.range)

    def stand(self) -> Iterator[Step]:
        """Stand up, if it does not stand."""
        yield from self._stand()

    def _refuse_if_blocked(self, way: Way) -> None:
        if way.block is not None and not way.occupied:
            raise Refused(f"{way.block.name} is in the way")

    def _turn(self, angle: float) -> Step:
        return Walked(self._client, self._client.turn(angle), "turns")

    def _stand(self) -> Iterator[Step]:
        if self._client.doing.bearing in (Bearing.NOT_UP, Bearing.RISING):
            yield Walked(self._client, self._client.stand(), "stands up")

    def _way(self, x: float, y: float, short: float) -> tuple[Way, Place]:
        """The way to a place, or short of it, as far as it is free, and where that ends, seen from the robot."""
        here, way = self._where.estimate().place, self.way(x, y)
        if (far := math.dist(here[:2], (x, y)) - short) < way.distance:
            way = Way(far)
        heading = math.atan2(y - here.y, x - here.x)
        end = Place(here.x + way.distance * math.cos(heading), here.y + way.distance * math.sin(heading), here.yaw)
        return way, end.seen_from(here)


LOOK_EVERY = 0.2
"""s"""


class Legs:
    """Of the robot of a name; whether its controller lives is looked up a few times a second, which takes a while."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._client: WalkingClient | None = None
        self._looked = 0.0

    def connected(self) -> WalkingClient:
        """The controller's client; NoController if none runs."""
        if time.monotonic() > self._looked + LOOK_EVERY:
            self._looked = time.monotonic()
            if self._client is not None and not self._client.alive:
                self.close()
            if self._client is None:
                with contextlib.suppress(NoController):
                    self._client = WalkingClient(self._name, timeout=0.0)
        if self._client is None:
            raise NoController("no walking controller runs, or it has ended")
        return self._client

    def doing(self) -> Doing | None:
        """What the controller does; None if none runs."""
        try:
            return self.connected().doing
        except WholebodyError:
            return None

    def place(self) -> Place | None:
        """Where it has walked by plan."""
        doing = self.doing()
        return None if doing is None else doing.place

    def close(self) -> None:
        """Let go of channels."""
        if self._client is not None:
            self._client.close()
            self._client = None
