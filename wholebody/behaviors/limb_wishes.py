"""What sources wish limbs to do: a record, on a channel of each source's own, put at any rate and any time.

with LimbSource("hubo", robot, "hand_waver", rank=2) as source:
    source.wish({"LSP": -0.4, "LEB": -1.0})
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Self

import numpy as np

from wholebody.channels import Channel
from wholebody.errors import BadReference, UnknownName
from wholebody.messages import Dtype
from wholebody.robots.robot import Robot

MIDDLE, END = ".limbs.", ".wish"
HIGHEST = 100
"""Ranks are from 0 to this; of two sources that wish for the same joint, the higher is followed."""


def wish_dtype(joints: tuple[str, ...]) -> Dtype:
    """rank; mask, which joints are wished for; position of each, rad or m."""
    count = len(joints)
    return np.dtype([("rank", "i4"), ("mask", "?", (count,)), ("position", "f8", (count,))])


def wish_channel(name: str, source: str) -> str:
    """The channel of a source for the robot of a name."""
    return f"{name}{MIDDLE}{source}{END}"


def source_of(name: str, channel: str) -> str | None:
    """The source whose channel this is; None if it is none of this robot's."""
    start = f"{name}{MIDDLE}"
    inner = channel[len(start) : -len(END)]
    return inner if channel.startswith(start) and channel.endswith(END) and inner else None


class LimbSource:
    """One that wishes: its joints are followed until it withdraws, falls silent or dies."""

    def __init__(self, name: str, robot: Robot, source: str, rank: int = 1) -> None:
        if not 0 <= rank <= HIGHEST:
            raise BadReference(f"a rank of {rank}; give 0 to {HIGHEST}")
        self._robot = robot
        self._channel = Channel(wish_channel(name, source), wish_dtype(robot.joint_names), writers=4)
        self._writer = self._channel.writer()
        self._writer.message["rank"] = rank

    def wish(self, positions: Mapping[str, float]) -> None:
        """Wish for joints to be somewhere, and for no others any more."""
        message = self._writer.message
        for joint, position in positions.items():
            if joint not in self._robot.index:
                raise UnknownName("joint", joint, self._robot.joint_names)
            if not np.isfinite(position):
                raise BadReference(f"joint {joint} is wished at {position}, which is no position")
        message["mask"] = False
        for joint, position in positions.items():
            message["mask"][self._robot.index[joint]] = True
            message["position"][self._robot.index[joint]] = position
        self._writer.put()

    def withdraw(self) -> None:
        """Wish for nothing."""
        self.wish({})

    def __enter__(self) -> Self:
        """Return the source."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Withdraw and close."""
        self.withdraw()
        self._writer.close()
        self._channel.close()
