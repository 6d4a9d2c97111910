"""Head: which joints turn a robot's camera left and up, and how far each of them goes for that."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from wholebody.drivers.connection import Connection, connect
from wholebody.errors import WholebodyError
from wholebody.operator.rcp.commands import Move, Movement
from wholebody.operator.robot.settings import HeadSettings
from wholebody.robots.geometry import placements
from wholebody.robots.robot import Array, Robot

GROUP = "head"
CLEAN = 0.2
"""How much a turn may go about other axes, per rad, and still be called a pan or a tilt."""
STEP = 1e-4


@dataclass(frozen=True)
class Range:
    """How far one can look, rad."""

    lower: float
    upper: float

    def kept(self, angle: float) -> float:
        """The nearest angle within."""
        return min(max(angle, self.lower), self.upper)


class Head:
    """Pan (to the left) and tilt (upward) of the camera, rad, as positions of the joints of the head.

    The camera turns by ω = J q̇, J's columns the axes of the head's joints in the root; pan is the least q̇ with
    ω = ẑ, tilt that with ω = −ŷ. Heads whose neck has parallel motors come out right, and a robot whose head cannot do
    one of them has an empty range for it.
    """

    def __init__(self, robot: Robot) -> None:
        self.joints = tuple(name for name in robot.groups.get(GROUP, ()) if name in robot.index)
        self.rest = {name: self._resting(robot, name) for name in self.joints}
        axes = _axes(robot, self.joints, self.rest)
        self._pan = _least(axes, np.array([0.0, 0.0, 1.0]))
        self._tilt = _least(axes, np.array([0.0, -1.0, 0.0]))
        self.pan_range, self.tilt_range = (self._range(robot, each) for each in (self._pan, self._tilt))

    def positions(self, pan: float, tilt: float) -> Mapping[str, float]:
        """Where the joints of the head are when it looks there."""
        turn = self.pan_range.kept(pan) * self._pan + self.tilt_range.kept(tilt) * self._tilt
        return {name: self.rest[name] + float(angle) for name, angle in zip(self.joints, turn, strict=True)}

    def _resting(self, robot: Robot, name: str) -> float:
        return float(robot.postures.get("stand", {}).get(name, 0.0))

    def _range(self, robot: Robot, direction: Array) -> Range:
        """The angles at which no joint is beyond its limits; nothing but 0 if no joint turns it that way."""
        lower, upper = (-math.pi, math.pi) if direction.any() else (0.0, 0.0)
        for name, share in zip(self.joints, direction, strict=True):
            joint, rest = robot.joint(name), self.rest[name]
            if abs(share) > 1e-6:
                ends = sorted(((joint.lower - rest) / share, (joint.upper - rest) / share))
                lower, upper = max(lower, ends[0]), min(upper, ends[1])
        return Range(min(float(lower), 0.0), max(float(upper), 0.0))


def _axes(robot: Robot, joints: tuple[str, ...], rest: Mapping[str, float]) -> Array:
    """The axis of each joint in the root, by what a small turn of it does to the camera: 3 × n."""
    cameras = robot.sensors_of("camera")
    if not cameras or not joints:
        return np.zeros((3, len(joints)))
    link, positions = cameras[0].link, np.zeros(len(robot.joint_names))
    for name, value in rest.items():
        positions[robot.index[name]] = value
    columns = []
    for name in joints:
        moved = positions.copy()
        moved[robot.index[name]] += STEP
        turn = placements(robot, moved)[link][:3, :3] @ placements(robot, positions)[link][:3, :3].T
        columns.append(np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]))
    return np.column_stack(columns) / (2 * STEP)


def _least(axes: Array, wanted: Array) -> Array:
    """The least joint velocities that turn the camera about an axis; zeros if they do not."""
    direction = np.asarray(np.linalg.pinv(axes, rcond=1e-3) @ wanted, dtype=np.float64)
    return direction if np.linalg.norm(axes @ direction - wanted) < CLEAN else np.zeros(axes.shape[1])


CONTROLLER = "head"
SILENCE = 0.5
"""s without a word after which the head is anybody's again."""
LOOKING = {"UP": (0.0, 1.0), "DOWN": (0.0, -1.0), "LEFT": (1.0, 0.0), "RIGHT": (-1.0, 0.0)}
"""Shares of pan and tilt."""
ARRIVED = math.radians(2.0)
ANSWERS = 0.2
"""s in which a daemon that lives tells a state: the command server waits for it."""
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
