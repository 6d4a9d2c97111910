"""BasePose: where the base of a running robot is in world: as its state says, or else as its legs have walked there."""

from __future__ import annotations

import numpy as np

from wholebody.channels.subscription import Subscription
from wholebody.drivers import Names
from wholebody.messages import State
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


class BasePose:
    """World is the state's, if that knows where the base is; else it begins between the feet where they first stood."""

    def __init__(self, name: str) -> None:
        self._legs = Subscription(Names(name).doing(LEGS))

    def of(self, state: State) -> Array | None:
        """The base's 4 × 4 frame in world; None if neither the state nor the legs know."""
        base = state.base
        if base.known:
            return frame(base.position, base.orientation)
        doing = self._legs.take()
        if doing is None or abs(state.time - float(doing["time"])) > STALE:
            return None
        pose = np.array(doing["base"])
        return frame(pose[:3], pose[3:]) if np.isfinite(pose).all() else None
