"""Dreamer with everything that moves: torso, arms, head, eyes, a right hand and a left gripper; 37 joints, 44.7 kg.

The upper body only, on its post; it is bolted to the world, or to Trikey.

Missing, estimated or chosen by us:

- mass: no figure is published; the link figures add up to 44.7 kg, 8 kg of them the plate under the torso
- inertias: not physical in the source for the wrist pitch links, placeholders for wrist yaw, fingers, gripper and
  eyes; computed from mass and shape
- upper arm: the source has its mass along y, the arm lies along z; turned
- eyes: 0.15 kg of the head are given to the massless links of the eyes
- ranges of the right fingers look copied from the head in the source; taken as they are
- rotor inertia: not published; 0.2 kg·m² (torso), 0.1 (shoulders, elbows), 0.02 (wrists, neck), 0.001 (hands, eyes)
  are estimates
- co-actuated torso: upper pitch follows lower pitch one to one
- post: a pillar of ours carries the plate; the camera: chosen at the eyes; IMU: chosen at the upper torso; palms:
  chosen
- shapes: primitives of ours inside the bounding boxes of the meshes
- servo gains: chosen so that the robot holds its posture
"""

from __future__ import annotations

import math

from wholebody.robots.figures import Figures, assemble, both_sides, gaps_in, pairs, sensor, surface
from wholebody.robots.robot import Coupling, Mimic, Robot

GROUPS = {
    "torso": "torso_*",
    "head": "*_neck_* eye_* *_eye_*",
    "right_arm": "right_shoulder_* right_elbow right_wrist_*",
    "left_arm": "left_shoulder_* left_elbow left_wrist_*",
    "right_hand": "right_thumb_* right_*_finger_* right_pinky_*",
    "left_hand": "l_gripper_*",
}
ROTORS = {
    "torso_*": 0.2,
    "*_shoulder_* *_elbow": 0.1,
    "*_wrist_* *_neck_*": 0.02,
    "*eye_* right_thumb_* right_*_finger_* right_pinky_* l_gripper_*": 0.001,
}
SERVOS = {
    "torso_*": (5000.0, 150.0),
    "*_shoulder_* *_elbow": (800.0, 30.0),
    "*_wrist_* *_neck_*": (100.0, 4.0),
    "*": (2.0, 0.1),
}
ARMS = both_sides({"%_shoulder_abductor": 0.1, "%_elbow": 0.6})


def robot() -> Robot:
    """Dreamer, with hands and head, as a robot."""
    figures = Figures.read("dreamer").with_joints("torso_upper_pitch", actuated=False)
    followers = "l_gripper_r_finger l_gripper_l_finger_tip l_gripper_r_finger_tip"
    figures = figures.with_joints(followers, mimic=Mimic("l_gripper_l_finger"))
    return assemble(
        "dreamer_full",
        figures,
        GROUPS,
        ROTORS,
        SERVOS,
        title="Dreamer, with hands and head",
        floating=False,
        surfaces=(
            surface("right_palm", "right_wrist_yaw_link", (-0.03, 0.0, -0.1), 0.08, 0.08, (0.0, math.pi / 2, 0.0)),
            surface("left_palm", "left_wrist_yaw_link", (0.0, 0.0, -0.125), 0.05, 0.1),
        ),
        sensors=(
            sensor("imu", "imu", "torso_upper_pitch_link"),
            sensor("head_camera", "camera", "upper_neck_pitch_link", 0.14, 0.0, 0.0),
        ),
        postures={"home": ARMS, "stand": ARMS},
        may_touch=pairs(
            "upper_neck_pitch_link lower_neck_pitch_link",
            "upper_neck_pitch_link %_eye_yaw_link",
            "right_wrist_yaw_link right_thumb_mcp_link",
            "l_gripper_l_finger_tip_link l_gripper_r_finger_tip_link",
        ),
        couplings=(Coupling("torso_lower_pitch", "torso_upper_pitch"),),
        gaps=gaps_in(__doc__),
    )
