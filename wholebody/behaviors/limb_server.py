"""LimbServer: one smooth motion of what several sources request for different limbs, each at its own rate.

Every joint follows the living source of highest rank that requests it; of two of the same rank, whichever it already
follows. However requests jump, the motion keeps bounds of velocity and acceleration (OnlineProfile). A source that has
been silent for too long is dropped; a joint that nobody requests any more comes to rest on the shortest way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from wholebody.channels import Channel, Reader, directory
from wholebody.errors import BadPeriod, BadReference, ChannelError, UnknownName, WrongRecord
from wholebody.messages import Booleans, Floats, Record
from wholebody.motion.profile import OnlineProfile
from wholebody.motion.trajectory import Array
from wholebody.robots.robot import Robot

PATIENCE = 0.5
"""s without a word after which a source is dropped."""
SPEED, ACCELERATION = 0.2, 4.0
"""A share of the velocity limits, and rad/s² (m/s²)."""
NOBODY = -1


class LimbRequest(Record):
    """What a source requests: its rank; mask, which joints it speaks for; position of each, rad or m."""

    rank: int
    mask: Booleans
    position: Floats


class LimbServer:
    """The arbitration and the motion, without channels: tell() what sources request, step() once a period."""

    def __init__(
        self,
        robot: Robot,
        position: npt.ArrayLike,
        period: float,
        *,
        speed: float = SPEED,
        acceleration: float = ACCELERATION,
        patience: float = PATIENCE,
    ) -> None:
        if not 0 < patience < np.inf:
            raise BadPeriod(f"sources are dropped after {patience} s; give a positive number of seconds")
        limits = np.array([joint.velocity for joint in robot.moving])
        fastest = np.where(np.isfinite(limits), speed * limits, speed)
        self.robot, self.patience = robot, patience
        self.profile = OnlineProfile(fastest, acceleration, period, position=position, names=robot.joint_names)
        self._lower, self._upper = (
            np.array([getattr(joint, end) for joint in robot.moving]) for end in ("lower", "upper")
        )
        self.sources: list[str] = []
        self._heard: list[float] = []
        self._requested: list[LimbRequest] = []
        self.follows = np.full(len(robot.joint_names), NOBODY)
        self._rest = self.profile.position.copy()

    def tell(self, source: str, request: LimbRequest, now: float) -> None:
        """A source's newest request; one with positions that are no numbers does not count."""
        if not np.isfinite(request.position[request.mask]).all():
            return
        if source not in self.sources:
            self.sources.append(source)
            self._heard.append(now)
            self._requested.append(request.copy())
        row = self.sources.index(source)
        self._heard[row], self._requested[row] = now, request.copy()

    def step(self, now: float) -> Array:
        """The next reference: positions of all joints."""
        before = self.follows
        self.follows = self._arbitrated(now, before)
        released = (self.follows == NOBODY) & (before != NOBODY)
        self._rest[released] = self._stopping_place()[released]
        goal = self._rest.copy()
        for row in range(len(self.sources)):
            mine = self.follows == row
            goal[mine] = self._requested[row].position[mine]
        return self.profile.step(np.clip(goal, self._lower, self._upper))

    def leader(self, joint: str) -> str:
        """The source that a joint follows; none: an empty text."""
        row = int(self.follows[self.robot.index[joint]])
        return "" if row == NOBODY else self.sources[row]

    def _arbitrated(self, now: float, before: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        follows = np.full(len(before), NOBODY)
        best = np.full(len(before), -1.0)
        for row, (request, heard) in enumerate(zip(self._requested, self._heard, strict=True)):
            if now - heard > self.patience:
                continue
            rank = request.rank + np.where(before == row, 0.5, 0.0)
            wins = request.mask & (rank > best)
            follows[wins], best[wins] = row, rank[wins]
        return follows

    def _stopping_place(self) -> Array:
        """x + v|v|/2a: where joints come to rest if they brake now."""
        x, v, a = self.profile.position, self.profile.velocity, self.profile.numbers[4]
        return np.asarray(x + v * np.abs(v) / (2 * a))


class LimbRequests:
    """Reads the requests of all sources of a robot from their channels, those that come later too."""

    def __init__(self, name: str, server: LimbServer) -> None:
        self._name, self._server = name, server
        self._dtype = request_record(server.robot.joint_names)
        self._readers: dict[str, Reader[LimbRequest]] = {}
        self._refused: set[str] = set()

    def listen(self, now: float) -> None:
        """Take the newest word of each source."""
        for source, reader in self._readers.items():
            if reader.latest() and reader.age <= self._server.patience:
                self._server.tell(source, reader.message, now)

    def look_around(self) -> tuple[str, ...]:
        """Open the channels of sources that are new; what cannot be read is left out. Returns all that are known."""
        for channel in directory.names():
            source = source_of(self._name, channel)
            if source is None or source in self._readers or channel in self._refused:
                continue
            try:
                opened = Channel(channel, kind=LimbRequest)
                if opened.dtype != self._dtype:
                    self._refused.add(channel)
                    continue
                self._readers[source] = opened.reader(grace=math.inf)
            except (ChannelError, WrongRecord):
                self._refused.add(channel)
        return tuple(self._readers)


MIDDLE, END = ".limbs.", ".request"
HIGHEST = 100
"""Ranks are from 0 to this; of two sources that request the same joint, the higher is followed."""


def request_record(joints: tuple[str, ...]) -> np.dtype[LimbRequest]:
    """The layout of a request."""
    count = len(joints)
    return LimbRequest.of(np.dtype([("rank", "i4"), ("mask", "?", (count,)), ("position", "f8", (count,))]))


def request_channel(name: str, source: str) -> str:
    """The channel of a source for the robot of a name."""
    return f"{name}{MIDDLE}{source}{END}"


def source_of(name: str, channel: str) -> str | None:
    """The source whose channel this is; None if it is none of this robot's."""
    start = f"{name}{MIDDLE}"
    inner = channel[len(start) : -len(END)]
    return inner if channel.startswith(start) and channel.endswith(END) and inner else None


class LimbSource:
    """One that requests: its joints are followed until it withdraws, falls silent or dies."""

    def __init__(self, name: str, robot: Robot, source: str, rank: int = 1) -> None:
        if not 0 <= rank <= HIGHEST:
            raise BadReference(f"a rank of {rank}; give 0 to {HIGHEST}")
        self._robot = robot
        self._channel = Channel(request_channel(name, source), request_record(robot.joint_names), writers=4)
        self._writer = self._channel.writer()
        self._writer.message.rank = rank

    def request(self, positions: Mapping[str, float]) -> None:
        """Request joints to be somewhere, and for no others any more."""
        message = self._writer.message
        for joint, position in positions.items():
            if joint not in self._robot.index:
                raise UnknownName("joint", joint, self._robot.joint_names)
            if not np.isfinite(position):
                raise BadReference(f"joint {joint} is requested at {position}, which is no position")
        message.mask[:] = False
        for joint, position in positions.items():
            message.mask[self._robot.index[joint]] = True
            message.position[self._robot.index[joint]] = position
        self._writer.put()

    def withdraw(self) -> None:
        """Request nothing."""
        self.request({})

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
