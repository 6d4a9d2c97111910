"""What was seen, on a channel: up to eight things, each with its place, how sure that is, and whether it is in view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wholebody.channels import Channel, Reader
from wholebody.errors import ChannelError
from wholebody.hardware import Names
from wholebody.messages import Dtype
from wholebody.perception.memory import Seen

MOST = 8
OLD = 5.0
"""s without a word after which nobody looks any more, and what was seen counts for nothing."""
ACCURATE = 0.008
"""m, the standard deviation up to which a hand finds a thing."""


class Sighted(NamedTuple):
    """A thing that was seen; place and deviation in m, in world."""

    name: str
    position: tuple[float, float, float]
    deviation: float
    radius: float
    visible: bool

    @property
    def accurate(self) -> bool:
        """Whether that is good enough to grasp it, or one has to look again."""
        return self.deviation <= ACCURATE


def seen_channel(name: str) -> str:
    """Where it is told what a robot has seen."""
    return f"{Names(name).robot}.seen"


def seen_record() -> Dtype:
    """Build what was seen."""
    thing = [("name", "S24"), ("position", "<f8", (3,)), ("deviation", "<f8"), ("radius", "<f8"), ("visible", "?")]
    return np.dtype([("time", "<f8"), ("count", "u1"), ("things", thing, (MOST,))], align=True)


def write_seen(time: float, things: Sequence[Seen], message: Any) -> None:
    """Fill in a record; if there are too many, with those that one is surest of."""
    told = sorted(things, key=lambda each: each.deviation)[:MOST]
    message["time"], message["count"] = time, len(told)
    for row, each in zip(message["things"], sorted(told, key=lambda each: each.number), strict=False):
        row["name"], row["position"], row["radius"] = each.name.encode(), each.position_in_world, each.radius
        row["deviation"], row["visible"] = each.deviation, each.visible


class Sightings:
    """What was seen by now, from whoever looks."""

    def __init__(self, name: str) -> None:
        self._name = seen_channel(name)
        self._reader: Reader | None = None
        self.time = 0.0
        self._known: tuple[Sighted, ...] = ()

    def newest(self) -> tuple[Sighted, ...]:
        """All that is known; `time` is when it was told, in the robot's time."""
        try:
            if self._reader is None:
                self._reader = Channel(self._name).reader()
            if self._reader.latest():
                self._take(self._reader.message)
            return self._known if self._reader.age < OLD else ()
        except ChannelError:
            self._reader = None
            return ()

    def _take(self, message: Any) -> None:
        self.time = float(message["time"])
        self._known = tuple(
            Sighted(
                bytes(row["name"]).decode(),
                tuple(float(each) for each in row["position"]),  # type: ignore[arg-type]
                float(row["deviation"]),
                float(row["radius"]),
                bool(row["visible"]),
            )
            for row in message["things"][: int(message["count"])]
        )
