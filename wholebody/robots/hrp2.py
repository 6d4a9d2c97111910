"""HRP-2, a stand-in: 30 joints and 58 kg as published, with masses, inertias, shapes and torques of ours.

No link masses of HRP-2 are public; what is here walks and balances like a robot of its size, and is not it.

Missing, estimated or chosen by us:

- stand-in: link masses, centres of mass, inertias and shapes are not public; ours share out the published 58 kg
- lengths: legs, torso and arms from the table of dimensions in the documents; where it leaves offsets open (height
  of neck and hand, fore-and-aft offsets) they are ours
- ranges: recalled from the literature, not checked; hand: ±60° is a guess
- torques: not public; estimates of ours
- speeds: of a variant of the robot (HRP2JSKNT)
- rotor inertia: not public; 0.15 kg·m² (legs, chest), 0.05 (arms), 0.01 (head, wrists, hands) are estimates
- sensors: the IMU chosen at the origin of the waist (the hips' height), force-torque sensors at the ankles' and
  wrists' axes, the camera at the front of the head
- soles: 0.24 × 0.137 m; where the foot lies under the ankle is ours
- servo gains: chosen so that the robot stands
"""

from __future__ import annotations

from wholebody.robots.figures import (
    FACING_LEFT,
    FACING_RIGHT,
    Figures,
    assemble,
    both_sides,
    gaps_in,
    pairs,
    sensor,
    surface,
)
from wholebody.robots.robot import Robot

GROUPS = {
    "right_leg": "RLEG_*",
    "left_leg": "LLEG_*",
    "torso": "CHEST_*",
    "head": "HEAD_*",
    "right_arm": "RARM_JOINT[0-5]",
    "left_arm": "LARM_JOINT[0-5]",
    "right_hand": "RARM_JOINT6",
    "left_hand": "LARM_JOINT6",
}
ROTORS = {"?LEG_* CHEST_*": 0.15, "?ARM_JOINT[0-3]": 0.05, "?ARM_JOINT[4-6] HEAD_*": 0.01}
SERVOS = {"?LEG_* CHEST_*": (6000.0, 150.0), "?ARM_JOINT[0-3]": (1500.0, 40.0), "*": (200.0, 6.0)}
HALF_SITTING = {
    "?LEG_JOINT2": -0.453786,
    "?LEG_JOINT3": 0.872665,
    "?LEG_JOINT4": -0.418879,
    "?ARM_JOINT0": 0.261799,
    "?ARM_JOINT1": -0.17453,
    "?ARM_JOINT3": -0.523599,
    "?ARM_JOINT6": -0.1,
}
MIRRORED = "?ARM_JOINT1 ?ARM_JOINT6"


def robot() -> Robot:
    """The stand-in for HRP-2 as a robot."""
    home = {"?ARM_JOINT1": -0.17453, "?ARM_JOINT3": -0.2}
    return assemble(
        "hrp2",
        Figures.read("hrp2"),
        GROUPS,
        ROTORS,
        SERVOS,
        title="HRP-2 (stand-in)",
        surfaces=(
            surface("right_sole", "R_foot", (0.02, -0.01, -0.105), 0.24, 0.137),
            surface("left_sole", "L_foot", (0.02, 0.01, -0.105), 0.24, 0.137),
            surface("right_palm", "R_hand", (0.0, 0.03, -0.07), 0.05, 0.09, FACING_LEFT),
            surface("left_palm", "L_hand", (0.0, -0.03, -0.07), 0.05, 0.09, FACING_RIGHT),
        ),
        sensors=(
            sensor("imu", "imu", "waist"),
            sensor("right_foot", "force_torque", "R_foot"),
            sensor("left_foot", "force_torque", "L_foot"),
            sensor("right_hand", "force_torque", "R_hand"),
            sensor("left_hand", "force_torque", "L_hand"),
            sensor("head_camera", "camera", "head", 0.12, 0.0, 0.12),
        ),
        postures={"home": both_sides(home, MIRRORED), "stand": both_sides(HALF_SITTING, MIRRORED)},
        may_touch=pairs("?_hip_yaw ?_thigh", "waist ?_hip_roll", "?_shoulder ?_upper_arm"),
        published_mass=58.0,
        gaps=gaps_in(__doc__),
    )
