"""Arms: joints that are told to accelerate, and do as far as they can: no further, faster or nearer to the body."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from wholebody.locomotion.balance.sharing import ARMS, room
from wholebody.model.layout import Array
from wholebody.model.model import Model

BACK = 3.0
"""1/s: how fast they come back, without swinging over."""
FARTHEST = 1.0
"""rad."""
FASTEST = 0.7
"""Of the highest speed of a joint."""
BRAKE = 40.0
"""rad/s²: how a joint stops before it is at its end."""


class Arms:
    """Some joints of both arms, from the posture "stand" and back to it; rates of change are theirs, not measured."""

    def __init__(self, model: Model, joints: Sequence[int]) -> None:
        robot = model.robot
        self.joints, self._size = list(joints), len(robot.moving)
        self.lower, self.upper = room(robot, joints, FARTHEST)
        self._keep_off_the_body(model)
        self._fastest = np.array([FASTEST * robot.moving[joint].velocity for joint in joints])
        self.reset()

    def reset(self) -> None:
        """Let them hang."""
        self.angle, self.speed = np.zeros(len(self.joints)), np.zeros(len(self.joints))

    def swing(self, acceleration: Array, period: float) -> Array:
        """How far all joints of the robot are from the posture, when the arms are to accelerate so."""
        wanted = self.speed + period * (acceleration - 2.0 * BACK * self.speed - BACK**2 * self.angle)
        for i in range(len(self.joints)):
            below, above = max(0.0, self.angle[i] - self.lower[i]), max(0.0, self.upper[i] - self.angle[i])
            slowest, fastest = -_in_time(below, period), _in_time(above, period)
            wanted[i] = min(max(wanted[i], slowest, -self._fastest[i]), fastest, self._fastest[i])
        self.angle, self.speed = self.angle + period * wanted, wanted
        offsets = np.zeros(self._size)
        offsets[self.joints] = self.angle
        return offsets

    def _keep_off_the_body(self, model: Model) -> None:
        """A joint that moves its arm rather aside than ahead moves it away from the body only."""
        momentum = model.at(model.posture("stand")).momentum_matrix
        groups = model.robot.groups
        outward: dict[int, float] = {}
        for group, way in zip(ARMS, (1.0, -1.0), strict=True):
            outward |= dict.fromkeys(model.robot.group(group) if groups.get(group) else (), way)
        for i, joint in enumerate(self.joints):
            ahead, aside = momentum[:2, 6 + joint]
            if abs(aside) > abs(ahead):
                if aside * outward[joint] > 0.0:
                    self.lower[i] = 0.0
                else:
                    self.upper[i] = 0.0


def _in_time(way: float, period: float) -> float:
    """The highest speed from which BRAKE stops within a way, cycle by cycle: v² / 2b + v T = s."""
    slow = BRAKE * period
    return math.sqrt(slow * slow + 2.0 * BRAKE * way) - slow
