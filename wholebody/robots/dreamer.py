"""Dreamer as ControlIt! drives it: 16 joints, 15 of them actuated; torso yaw, head and hands are locked at zero.

Upper and lower torso pitch share one motor. What is missing, estimated or chosen by us is that of dreamer_full.
"""

from __future__ import annotations

from dataclasses import replace

from wholebody.robots import dreamer_full
from wholebody.robots.figures import matching
from wholebody.robots.robot import Robot

LOCKED = "torso_yaw *_neck_* eye_* *_eye_* right_thumb_* right_*_finger_* right_pinky_* l_gripper_*"


def robot() -> Robot:
    """Dreamer with 16 joints as a robot."""
    full = dreamer_full.robot()
    locked = full.locked(dict.fromkeys(matching(full.joint_names, LOCKED), 0.0), name="dreamer")
    groups = {group: members for group, members in locked.groups.items() if members}
    return replace(locked, title="Dreamer", groups=groups)
