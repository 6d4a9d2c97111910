"""Taps: the channels of a robot whose names end alike, as they come."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from wholebody.behaviors.state_machine import ENDING, MachineMessage
from wholebody.channels import directory
from wholebody.channels.subscription import Subscription
from wholebody.control.introspection.markers import DIRECTION, FRAME, POINT, Marker, MarkerMessage
from wholebody.drivers import Names
from wholebody.messages import Record

LOOK_EVERY = 1.0
"""s from one look for new channels to the next."""


M = TypeVar("M", bound=Record)


class Taps(Generic[M]):
    """ROBOT.NAME.ENDING, by NAME."""

    def __init__(self, robot: str, ending: str, kind: type[M]) -> None:
        self._first, self._ending, self._kind = f"{Names(robot).robot}.", ending, kind
        self._taps: dict[str, Subscription[M]] = {}
        self._looked = float("-inf")

    def all(self) -> dict[str, Subscription[M]]:
        """All that there were, in the order in which they came."""
        if time.monotonic() > self._looked + LOOK_EVERY:
            self._looked = time.monotonic()
            for name in sorted(directory.names()):
                if name.startswith(self._first) and name.endswith(self._ending):
                    short = name[len(self._first) : -len(self._ending)]
                    self._taps.setdefault(short, Subscription(name, self._kind))
        return self._taps


class StateMachines:
    """Those of programs that run (behaviors/state_machine_channel.py)."""

    def __init__(self, name: str) -> None:
        self._taps = Taps(name, ENDING, MachineMessage)

    def newest(self) -> list[dict[str, Any]]:
        """Each machine with its states, transitions and current state; those inside states come after theirs."""
        found: list[dict[str, Any]] = []
        for tap in self._taps.all().values():
            message = tap.take()
            if message is not None and tap.writers:
                found += json.loads(bytes(message.text[: message.size]))["machines"]
        return found


MARKERS_ENDING = ".markers"
GONE = 3.0
"""s without a word after which the markers of a controller are not shown."""

OnMap = Callable[[float, float], tuple[float, float]]


class TaskMarkers:
    """The markers of every controller of a robot that puts them on a channel (control/markers.py)."""

    def __init__(self, name: str, on_map: OnMap) -> None:
        """`on_map` says where a place of the robot's world is on the map."""
        self._taps, self._on_map = Taps(name, MARKERS_ENDING, MarkerMessage), on_map

    def newest(self) -> list[dict[str, Any]]:
        """All of them, as they are now."""
        found: list[dict[str, Any]] = []
        for controller, tap in self._taps.all().items():
            message = tap.take()
            if message is not None and tap.age < GONE:
                found += [self._marker(controller, each) for each in message.markers]
        return found

    def _marker(self, controller: str, marker: Marker) -> dict[str, Any]:
        path = marker.parameter
        return {
            "name": f"{controller}:{marker.task}",
            "parameter": f"{controller}:{path}" if path else "",
            "enabled": marker.enabled,
            "goal": self._place(marker, "goal_"),
            "actual": self._place(marker, ""),
            "reference": {
                "position": self._mapped(marker.reference_position),
                "orientation": marker.reference_orientation.tolist(),
            },
        }

    def _place(self, marker: Marker, which: str) -> dict[str, Any]:
        """A point, and which way it is turned or points, if that counts; what it is not, is null."""
        shows = marker.shows
        return {
            "position": self._mapped(getattr(marker, f"{which}position")),
            "point": bool(shows & POINT),
            "orientation": getattr(marker, f"{which}orientation").tolist() if shows & FRAME else None,
            "direction": getattr(marker, f"{which}direction").tolist() if shows & DIRECTION else None,
        }

    def _mapped(self, position: Any) -> list[float]:
        x, y, z = position.tolist()
        return [*self._on_map(x, y), z]
