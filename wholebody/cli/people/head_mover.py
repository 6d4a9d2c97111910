"""HeadMover: turns the head of a running robot, as a controller of its own that leases the head's joints."""

from __future__ import annotations

import math
import time

from wholebody.cli.people.body_settings import HeadSettings
from wholebody.collaboration.head import Head
from wholebody.collaboration.rcp.body import Movement
from wholebody.collaboration.rcp.commands import Move
from wholebody.errors import WholebodyError
from wholebody.hardware.connection import Connection, connect
from wholebody.robots import Robot

CONTROLLER = "head"
SILENCE = 0.5
"""s without a word after which the head is anybody's again."""
LOOKING = {"UP": (0.0, 1.0), "DOWN": (0.0, -1.0), "LEFT": (1.0, 0.0), "RIGHT": (-1.0, 0.0)}
"""Shares of pan and tilt."""
ARRIVED = math.radians(2.0)
ANSWERS = 0.2
"""s in which a daemon that lives tells a state: everybody at the desk waits for it."""
PATIENCE = 2.0
"""s that the head may take after it was told to be there."""


class HeadMover:
    """Pan and tilt, rad; moves at the speed of the settings whenever it is updated."""

    def __init__(self, robot: Robot, name: str, settings: HeadSettings) -> None:
        self.head, self._name, self._settings = Head(robot), name, settings
        self.pan = self.tilt = 0.0  # as told
        self._goal = 0.0, 0.0
        self._connection: Connection | None = None
        self._last = self._there = 0.0

    def turns(self) -> Movement | None:
        """What people can ask of it; None if the neck does not move."""
        pan, tilt = (each.upper > each.lower for each in (self.head.pan_range, self.head.tilt_range))
        directions = (("UP", "DOWN") if tilt else ()) + (("LEFT", "RIGHT") if pan else ())
        return Movement("HEAD", directions, "DEGREES", 120) if directions else None

    def complaint(self, move: Move) -> str:
        """Why it cannot turn as asked."""
        for angle, allowed in zip(self._wanted(move), (self.head.pan_range, self.head.tilt_range), strict=True):
            if allowed.kept(angle) != angle:
                return f"the neck goes from {math.degrees(allowed.lower):.0f} to {math.degrees(allowed.upper):.0f}°"
        return ""

    def turn(self, move: Move) -> None:
        """Turn from where it looks now."""
        self.look(*self._wanted(move))

    def look(self, pan: float, tilt: float) -> None:
        """Look there from now on, as far as the neck goes."""
        if self._connection is None:
            self._connection = connect(CONTROLLER, self._name, period=SILENCE, lease=True, timeout=ANSWERS)
            self._last = time.monotonic()
        self._goal = self.head.pan_range.kept(pan), self.head.tilt_range.kept(tilt)
        self._there = math.inf

    def hold(self) -> None:
        """Look where it looks now."""
        self._goal = self.pan, self.tilt

    @property
    def arrived(self) -> bool:
        """Whether the head is where it was told to look."""
        return (self.pan, self.tilt) == self._goal and self._error() < ARRIVED

    @property
    def left(self) -> float:
        """Seconds until it looks where it was told to."""
        far = max(abs(goal - here) for here, goal in zip((self.pan, self.tilt), self._goal, strict=True))
        return far / self._settings.speed

    @property
    def stuck(self) -> bool:
        """Whether it should have been there for a while."""
        return time.monotonic() > self._there + PATIENCE

    def update(self) -> None:
        """Go on a little, if it was ever told to look somewhere."""
        connection, now = self._connection, time.monotonic()
        if connection is None:
            return
        reach, self._last = self._settings.speed * (now - self._last), now
        self.pan, self.tilt = (
            here + min(max(goal - here, -reach), reach)
            for here, goal in zip((self.pan, self.tilt), self._goal, strict=True)
        )
        if (self.pan, self.tilt) == self._goal and self._there == math.inf:
            self._there = now
        try:
            connection.wait(0.0)
            connection.move(self.head.positions(self.pan, self.tilt))
        except WholebodyError:  # the daemon has gone: the next look connects anew
            self.close()

    def close(self) -> None:
        """Let go of the head."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _wanted(self, move: Move) -> tuple[float, float]:
        pan, tilt = LOOKING[move.direction]
        angle = math.radians(move.count)
        return self.pan + pan * angle, self.tilt + tilt * angle

    def _error(self) -> float:
        if self._connection is None:
            return 0.0
        told = self.head.positions(self.pan, self.tilt)
        errors = [abs(self._connection.position(name) - angle) for name, angle in told.items()]
        return max(errors, default=0.0)
