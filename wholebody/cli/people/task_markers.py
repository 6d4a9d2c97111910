"""TaskMarkers: where the tasks of running controllers want things to be and where they are, as JSON, on the map."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wholebody.cli.people.taps import Taps
from wholebody.control.markers import DIRECTION, FRAME, POINT

ENDING = ".markers"
GONE = 3.0
"""s without a word after which the markers of a controller are not shown."""

OnMap = Callable[[float, float], tuple[float, float]]


class TaskMarkers:
    """The markers of every controller of a robot that puts them on a channel (control/markers.py)."""

    def __init__(self, name: str, on_map: OnMap) -> None:
        """`on_map` says where a place of the robot's world is on the map."""
        self._taps, self._on_map = Taps(name, ENDING), on_map

    def newest(self) -> list[dict[str, Any]]:
        """All of them, as they are now."""
        found: list[dict[str, Any]] = []
        for controller, tap in self._taps.all().items():
            message = tap.take()
            if message is not None and tap.age < GONE:
                found += [self._marker(controller, each) for each in message["markers"]]
        return found

    def _marker(self, controller: str, marker: Any) -> dict[str, Any]:
        path = marker["parameter"].decode()
        return {
            "name": f"{controller}:{marker['task'].decode()}",
            "parameter": f"{controller}:{path}" if path else "",
            "enabled": bool(marker["enabled"]),
            "goal": self._place(marker, "goal_"),
            "actual": self._place(marker, ""),
            "reference": {
                "position": self._mapped(marker["reference_position"]),
                "orientation": marker["reference_orientation"].tolist(),
            },
        }

    def _place(self, marker: Any, which: str) -> dict[str, Any]:
        """A point, and which way it is turned or points, if that counts; what it is not, is null."""
        shows = int(marker["shows"])
        return {
            "position": self._mapped(marker[f"{which}position"]),
            "point": bool(shows & POINT),
            "orientation": marker[f"{which}orientation"].tolist() if shows & FRAME else None,
            "direction": marker[f"{which}direction"].tolist() if shows & DIRECTION else None,
        }

    def _mapped(self, position: Any) -> list[float]:
        x, y, z = position.tolist()
        return [*self._on_map(x, y), z]
