"""Arms: swung so that while they gain speed they push the body back, as people do (Stabilizer, 5.6)."""

from __future__ import annotations

import math

import numpy as np

from wholebody.locomotion.balance.stabilizers import NONE
from wholebody.model.layout import Array
from wholebody.model.model import Model

STIFFNESS, DAMPING = 9.0, 6.0  # 1/s², 1/s: how they come back
FARTHEST = 1.0  # rad


class Arms:
    """The first joint of each arm that swings it forward, found by what it does to the angular momentum.

    A robot without groups "left_arm" and "right_arm", or with arms that cannot be swung forward, has none.
    """

    def __init__(self, model: Model) -> None:
        robot = model.robot
        names = [group for group in ("left_arm", "right_arm") if robot.groups.get(group)]
        self._joints: list[int] = []
        self._inertia: list[float] = []
        matrix = model.at(model.posture("stand")).momentum_matrix
        for name in names:
            group = robot.group(name)
            pitch = [float(matrix[4, 6 + joint]) for joint in group]
            best = int(np.argmax(np.abs(pitch)))
            if abs(pitch[best]) > 1e-6:
                self._joints.append(group[best])
                self._inertia.append(pitch[best])
        self._stand = robot.posture("stand")
        self._lower = np.array([joint.lower for joint in robot.moving])
        self._upper = np.array([joint.upper for joint in robot.moving])
        self._size = len(robot.moving)
        self.reset()

    def reset(self) -> None:
        """Let them hang."""
        self._angle, self._speed = np.zeros(len(self._joints)), np.zeros(len(self._joints))

    def swing(self, moment_arm: Array, yaw: float, period: float) -> Array:
        """Offsets of all joints; moment_arm is what the ground lacks, N·m, along x and y of the world."""
        if not self._joints:
            return NONE
        forward = math.cos(yaw) * float(moment_arm[0]) + math.sin(yaw) * float(moment_arm[1])
        offsets = np.zeros(self._size)
        for i, (joint, inertia) in enumerate(zip(self._joints, self._inertia, strict=True)):
            push = forward / len(self._joints) / inertia
            self._speed[i] += period * (push - DAMPING * self._speed[i] - STIFFNESS * self._angle[i])
            self._angle[i] = min(max(self._angle[i] + period * self._speed[i], -FARTHEST), FARTHEST)
            lowest, highest = self._lower[joint] - self._stand[joint], self._upper[joint] - self._stand[joint]
            offsets[joint] = min(max(self._angle[i], lowest), highest)
        return offsets
