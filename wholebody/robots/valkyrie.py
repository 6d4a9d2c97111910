"""Valkyrie (R5): 32 joints of the body, fingers stretched and locked, series elastic actuators, 136 kg.

Missing, estimated or chosen by us:

- mass: the link figures add up to 135.9 kg, the maker says 300 lb (136 kg)
- rotor inertia: not published; 0.2 kg·m² (legs, torso), 0.1 (shoulders, elbows), 0.02 (wrists, neck) are estimates
- left and right: centres of mass of foot and shin, and of two links of the shoulder, are not mirrored in the
  source; taken as they are (with those of the arm they differ by up to 42 mm)
- shapes: primitives of ours inside the bounding boxes of the meshes
- force-torque sensors of the hands: chosen at the wrist's axes; palms: chosen at the inside of the palm's box
- camera: the left camera of the head
- servo gains: chosen so that the robot stands; springs of the actuators are not modelled
"""

from __future__ import annotations

import math

from wholebody.robots.figures import Figures, assemble, both_sides, gaps_in, pairs, sensor, surface
from wholebody.robots.robot import Robot

GROUPS = {
    "right_leg": "rightHip* rightKnee* rightAnkle*",
    "left_leg": "leftHip* leftKnee* leftAnkle*",
    "torso": "torso*",
    "head": "lowerNeck* neck* upperNeck*",
    "right_arm": "rightShoulder* rightElbow* rightForearm* rightWrist*",
    "left_arm": "leftShoulder* leftElbow* leftForearm* leftWrist*",
}
ROTORS = {
    "*Hip* *Knee* *Ankle* torso*": 0.2,
    "*Shoulder* *Elbow*": 0.1,
    "*Forearm* *Wrist* *eck*": 0.02,
}
SERVOS = {
    "*Hip* *Knee* *Ankle* torso*": (20000.0, 500.0),
    "*Shoulder* *Elbow*": (2000.0, 60.0),
    "*Forearm* *Wrist* *eck*": (300.0, 10.0),
}
ARMS = {"%ShoulderPitch": 0.2, "%ShoulderRoll": 1.2, "%ElbowPitch": 0.7}
MIRRORED = "%ShoulderRoll %ElbowPitch"


def robot() -> Robot:
    """Valkyrie as a robot."""
    bent = {"%HipPitch": -0.42, "%KneePitch": 0.92, "%AnklePitch": -0.5}
    return assemble(
        "valkyrie",
        Figures.read("valkyrie"),
        GROUPS,
        ROTORS,
        SERVOS,
        title="Valkyrie",
        surfaces=(
            surface("right_sole", "rightFoot", (0.045, 0.0, -0.088), 0.27, 0.16),
            surface("left_sole", "leftFoot", (0.045, 0.0, -0.088), 0.27, 0.16),
            surface("right_palm", "rightPalm", (0.0195, -0.06, -0.011), 0.1, 0.1, (0.0, -math.pi / 2, 0.0)),
            surface("left_palm", "leftPalm", (0.0195, 0.06, -0.011), 0.1, 0.1, (0.0, -math.pi / 2, 0.0)),
        ),
        sensors=(
            sensor("imu", "imu", "torso", -0.0627634, 0.134239, 0.3630676, -1.5707, 0.0, 0.0),
            sensor("right_foot", "force_torque", "rightFoot", 0.0215646, 0.0, -0.051054, 3.14, 0.0, 0.0),
            sensor("left_foot", "force_torque", "leftFoot", 0.0215646, 0.0, -0.051054, 3.14, 0.0, 0.0),
            sensor("right_hand", "force_torque", "rightPalm"),
            sensor("left_hand", "force_torque", "leftPalm"),
            sensor("head_camera", "camera", "upperNeckPitchLink", 0.19, 0.035, 0.0),
        ),
        postures={"home": both_sides(ARMS, MIRRORED), "stand": both_sides(bent | ARMS, MIRRORED)},
        may_touch=pairs("pelvis %HipRollLink", "%HipYawLink %HipPitchLink", "lowerNeckPitchLink upperNeckPitchLink"),
        published_mass=136.0,
        gaps=gaps_in(__doc__),
    )
