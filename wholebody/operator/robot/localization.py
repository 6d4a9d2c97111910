"""Localization: where a running robot is on the map, from what is known best, and how sure that is."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from wholebody.channels.subscription import Subscription
from wholebody.drivers import Names
from wholebody.estimation.base_pose import BasePose
from wholebody.locomotion.walking.footsteps import Place
from wholebody.messages import State
from wholebody.operator.rcp.commands import Position
from wholebody.robots.robot import Array

HALF_AS_SURE = 5.0
"""m of walking after which one is half as sure."""

FRESH = 0.005
"""s"""
AVERAGED = 1.6
"""s: two steps of a robot that is as tall as a child."""


class PlaceEstimate(NamedTuple):
    """Where the robot is, m, m, rad; how fast it goes, m/s; how sure that is, 0 to 1."""

    place: Place
    speed: float
    confidence: float


class Pace:
    """How fast a place moves, over the last moments of the robot's time: a body sways with every step."""

    def __init__(self) -> None:
        self._places: deque[tuple[float, Place]] = deque()

    def at(self, time: float, place: Place) -> float:
        """Take the place at a time, s; m/s."""
        places = self._places
        if places and not places[-1][0] <= time < places[-1][0] + AVERAGED:
            places.clear()
        places.append((time, place))
        while len(places) > 1 and places[0][0] < time - AVERAGED:
            places.popleft()
        since, before = places[0]
        return math.dist(before[:2], place[:2]) / (time - since) if time > since else 0.0


class Localization:
    """The base's pose where the state knows it, or else the legs; failing that, what they have walked by plan.

    What somebody says who knows better shifts it; one is less sure the further the robot walks after that.
    """

    def __init__(self, name: str, planned: Callable[[], Place | None]) -> None:
        self._state, self._pose = Subscription(Names(name).state, State), BasePose(name)
        self._planned = planned
        self._shift = 0.0, 0.0
        self._told = 1.0
        self._walked = 0.0
        self._last: Place | None = None
        self._seen: PlaceEstimate | None = None
        self._looked = 0.0
        self._pace = Pace()

    def state(self) -> State | None:
        """The newest state; None if there is none."""
        return self._state.take()

    def estimate(self) -> PlaceEstimate:
        """Where it is now, or was a few milliseconds ago: people ask often."""
        now = time.monotonic()
        if self._seen is None or now > self._looked + FRESH:
            self._seen, self._looked = self._look(), now
        return self._seen

    def _look(self) -> PlaceEstimate:
        state, base = self.state(), self.base()
        known = state is not None and state.base.known
        if base is None:
            place = self._planned() or Place(0.0, 0.0, 0.0)
        else:
            place = Place(float(base[0, 3]), float(base[1, 3]), math.atan2(base[1, 0], base[0, 0]))
        speed = 0.0 if state is None else self._pace.at(state.time, place)
        self._walk(place)
        sure = self._told if known else self._told * 0.5 ** (self._walked / HALF_AS_SURE)
        return PlaceEstimate(Place(place.x + self._shift[0], place.y + self._shift[1], place.yaw), speed, sure)

    def base(self) -> Array | None:
        """The base's 4 × 4 frame in the state's world, or the legs'; None if neither knows."""
        state = self.state()
        return None if state is None else self._pose.of(state)

    def base_on_map(self) -> Array | None:
        """The same on the map."""
        base = self.base()
        if base is not None:
            base = base.copy()
            base[:2, 3] = self.on_map(base[0, 3], base[1, 3])
        return base

    def correct(self, position: Position) -> None:
        """Somebody knows better."""
        here = self.estimate().place
        self._shift = self._shift[0] + position.x - here.x, self._shift[1] + position.y - here.y
        self._told, self._walked, self._seen = position.confidence, 0.0, None

    def on_map(self, x: float, y: float) -> tuple[float, float]:
        """A place of the state's world on the map, m."""
        return x + self._shift[0], y + self._shift[1]

    def _walk(self, place: Place) -> None:
        if self._last is not None:
            self._walked += math.hypot(place.x - self._last.x, place.y - self._last.y)
        self._last = place
