"""Holding with two arms: which frames hold, and a posture with both hands ahead of the shoulders."""

from __future__ import annotations

import numpy as np

from wholebody.errors import BadGoal
from wholebody.kinematics import InverseKinematics, PointGoal
from wholebody.model.layout import Array
from wholebody.model.model import Model

ARMS = ("left_arm", "right_arm")


def hand_of(model: Model, arm: str) -> int:
    """The frame that holds: the palm, or the last link of the arm if it has none."""
    robot = model.robot
    if not robot.groups.get(arm):
        raise BadGoal(f"'{robot.name}' has no joints '{arm}': it cannot hold with two arms")
    palm = arm.replace("arm", "palm")
    if any(surface.name == palm for surface in robot.surfaces):
        return model.surface(palm)
    return model.frame(robot.joint(robot.groups[arm][-1]).child)


def holding_posture(model: Model, ahead: float = 0.55, below: float = 0.35) -> Array:
    """The robot as it stands, with the hands before the shoulders, or as near to there as the joints allow.

    ahead, below   where the hands are, seen from the shoulders, in lengths of an arm
    """
    q = model.posture("stand") if "stand" in model.robot.postures else model.neutral()
    snapshot, robot = model.at(q), model.robot
    names = [link.name for link in robot.links] + [surface.name for surface in robot.surfaces]
    goals = []
    for arm in ARMS:
        hand = hand_of(model, arm)
        joints = [snapshot.position(model.frame(robot.joint(name).child)) for name in robot.groups[arm]]
        length = float(np.linalg.norm(np.diff([*joints, snapshot.position(hand)], axis=0), axis=1).sum())
        goals.append(PointGoal(names[hand], joints[0] + np.array([ahead * length, 0.0, -below * length])))
    home = "stand" if "stand" in robot.postures else None
    return InverseKinematics(model, goals, joints=ARMS, home=home, restarts=5).solve(q).q
