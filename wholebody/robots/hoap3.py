"""HOAP-3: a small humanoid with 26 joints, 60 cm, 8.8 kg.

Missing, estimated or chosen by us:

- inertias: placeholders in the source; computed from each link's mass and bounding box
- effort and speed: placeholders in the source; 5 N·m and 6 rad/s are estimates
- massless links: 0.02 kg of the head go to H_TILT, 0.05 kg of each forearm to the wrist
- rotor inertia: not published; 0.01 kg·m² is an estimate
- joints: the documents speak of 28 and of 6 in each arm; the source has 26, with 5 in each arm (no hand's joint)
- ranges: those of R_SHR and R_WR are not those of the left side in the source; taken as they are
- shapes: primitives of ours inside the bounding boxes of the meshes
- IMU: where the source has the accelerometer, read in upright axes; force-torque sensors: chosen in the foot (the
  robot has contact sensors at the corners); the camera: chosen between the eyes
- mass: the maker's 8.8 kg with battery; the documents say about 8 kg without
- servo gains: chosen so that the robot stands
"""

from __future__ import annotations

import math

from wholebody.robots.figures import Figures, assemble, both_sides, gaps_in, pairs, sensor, surface
from wholebody.robots.robot import Robot

GROUPS = {
    "right_leg": "R_LR R_LAA R_LFE R_KN R_AFE R_AAA",
    "left_leg": "L_LR L_LAA L_LFE L_KN L_AFE L_AAA",
    "torso": "CHEST",
    "head": "H_*",
    "right_arm": "R_SFE R_SAA R_SHR R_EB R_WR",
    "left_arm": "L_SFE L_SAA L_SHR L_EB L_WR",
}
SERVOS = {"?_L* ?_KN ?_A* CHEST": (400.0, 8.0), "*": (100.0, 3.0)}
ARMS = {"?_SFE": 1.45, "?_SAA": -0.15, "?_EB": -0.4}
MIRRORED = "?_SAA"


def robot() -> Robot:
    """HOAP-3 as a robot."""
    straight = {"?_LFE": -0.05, "?_KN": 0.1, "?_AFE": -0.05}
    bent = {"?_LFE": -0.3, "?_KN": 0.6, "?_AFE": -0.3}
    down = (0.0, -math.pi / 2, math.pi)
    return assemble(
        "hoap3",
        Figures.read("hoap3"),
        GROUPS,
        {"*": 0.01},
        SERVOS,
        title="HOAP-3",
        surfaces=(
            surface("right_sole", "R_AAA", (-0.04, 0.005, 0.014), 0.106, 0.071, down),
            surface("left_sole", "L_AAA", (-0.04, -0.005, 0.014), 0.106, 0.071, down),
        ),
        sensors=(
            sensor("imu", "imu", "WAIST", -0.0325, 0.0, 0.1095),
            sensor("right_foot", "force_torque", "R_AAA"),
            sensor("left_foot", "force_torque", "L_AAA"),
            sensor("head_camera", "camera", "H_ROLL", 0.06, 0.004, 0.0, math.pi / 2, 0.0, 0.0),
        ),
        postures={"home": both_sides(straight | ARMS, MIRRORED), "stand": both_sides(bent | ARMS, MIRRORED)},
        may_touch=pairs("?_LR ?_LFE"),
        published_mass=8.8,
        gaps=gaps_in(__doc__),
    )
