"""BasePose: where the base of a running robot is in world: as its state says, or else as its legs have walked there."""

from __future__ import annotations

from typing import Any

import numpy as np

from wholebody.channels.subscription import Subscription
from wholebody.drivers import Names
from wholebody.messages import TEXT_SIZE, Floats, Record, State
from wholebody.robots.robot import Array, Placement
from wholebody.rotations import roll_pitch_yaw

LEGS = "walk"
"""The controller that tells where the base is by legs and IMU (behaviors/walking_goals.py)."""
STALE = 1.5
"""s of the robot's time after which nobody moves the legs any more, and what they said counts for nothing."""


def frame(position: Array, quaternion: Array) -> Array:
    """The 4 × 4 frame of a position and a quaternion, x y z w."""
    x, y, z = (float(each) for each in position)
    roll, pitch, yaw = roll_pitch_yaw(quaternion)
    return Placement((x, y, z), (roll, pitch, yaw)).matrix


class DoingMessage(Record):
    """What a controller of legs does now: when, where the body is by plan, which feet bear, its goal, what is wrong.

    `base` is where the base is by what legs and IMU sense, in the axes of `place`: position and quaternion x y z w, no
    numbers as long as nobody knows.
    """

    time: float
    place: Floats
    bearing: int
    standing: bool
    base: Floats  # type: ignore[assignment]  # numpy's own `base` of a record is None
    left: float
    goal: int
    trouble: str


def doing_record() -> np.dtype[DoingMessage]:
    """Its layout."""
    fields: list[Any] = [("time", "<f8"), ("place", "<f8", (3,)), ("bearing", "u1"), ("standing", "?")]
    fields += [("base", "<f8", (7,)), ("left", "<f8")]
    return DoingMessage.of(np.dtype([*fields, ("goal", "<u8"), ("trouble", f"S{TEXT_SIZE}")], align=True))


class BasePose:
    """World is the state's, if that knows where the base is; else it begins between the feet where they first stood."""

    def __init__(self, name: str) -> None:
        self._legs = Subscription(Names(name).doing(LEGS), DoingMessage)

    def of(self, state: State) -> Array | None:
        """The base's 4 × 4 frame in world; None if neither the state nor the legs know."""
        base = state.base
        if base.known:
            return frame(base.position, base.orientation)
        doing = self._legs.take()
        if doing is None or abs(state.time - doing.time) > STALE:
            return None
        return frame(doing.base[:3], doing.base[3:]) if np.isfinite(doing.base).all() else None
