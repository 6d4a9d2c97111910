"""Whereabouts: where a running robot is on the map, from what is known best, and how sure that is."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

from wholebody.cli.picture import roll_pitch_yaw
from wholebody.cli.watching import Tap
from wholebody.collaboration.rcp.commands import Position
from wholebody.hardware import Names, Record
from wholebody.locomotion.footsteps import Place
from wholebody.robots.robot import Array, Placement

HALF_AS_SURE = 5.0
"""m of walking after which one is half as sure."""

FRESH = 0.005
"""s"""


def base_of(state: Record) -> Array:
    """The base's 4 × 4 frame in world."""
    x, y, z = (float(each) for each in state["base"]["position"])
    return Placement((x, y, z), roll_pitch_yaw(state["base"]["orientation"])).matrix


class Sighting(NamedTuple):
    """Where the robot is, m, m, rad; how fast it goes, m/s; how sure that is, 0 to 1."""

    place: Place
    speed: float
    confidence: float


class Whereabouts:
    """The base's pose where the state knows it, else what the walking controller has walked by plan.

    What somebody says who knows better shifts it; one is less sure the further the robot walks after that.
    """

    def __init__(self, name: str, planned: Callable[[], Place | None]) -> None:
        self._state = Tap(Names(name).state)
        self._planned = planned
        self._shift = 0.0, 0.0
        self._told = 1.0
        self._walked = 0.0
        self._last: Place | None = None
        self._seen: Sighting | None = None
        self._looked = 0.0

    def state(self) -> Record | None:
        """The newest state; None if there is none."""
        return self._state.take()

    def sight(self) -> Sighting:
        """Where it is now, or was a few milliseconds ago: people ask often."""
        now = time.monotonic()
        if self._seen is None or now > self._looked + FRESH:
            self._seen, self._looked = self._look(), now
        return self._seen

    def _look(self) -> Sighting:
        state = self.state()
        known = state is not None and bool(state["base"]["known"])
        place, speed = Place(0.0, 0.0, 0.0), 0.0
        if state is not None and known:
            base = state["base"]
            yaw = roll_pitch_yaw(base["orientation"])[2]
            place = Place(float(base["position"][0]), float(base["position"][1]), yaw)
            speed = math.hypot(*(float(each) for each in base["linear_velocity"][:2]))
        else:
            place = self._planned() or place
        self._walk(place)
        sure = self._told if known else self._told * 0.5 ** (self._walked / HALF_AS_SURE)
        return Sighting(Place(place.x + self._shift[0], place.y + self._shift[1], place.yaw), speed, sure)

    def correct(self, position: Position) -> None:
        """Somebody knows better."""
        here = self.sight().place
        self._shift = self._shift[0] + position.x - here.x, self._shift[1] + position.y - here.y
        self._told, self._walked, self._seen = position.confidence, 0.0, None

    def on_map(self, x: float, y: float) -> tuple[float, float]:
        """A place of the state's world on the map, m."""
        return x + self._shift[0], y + self._shift[1]

    def _walk(self, place: Place) -> None:
        if self._last is not None:
            self._walked += math.hypot(place.x - self._last.x, place.y - self._last.y)
        self._last = place
