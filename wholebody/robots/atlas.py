"""Atlas as in the DARPA Robotics Challenge of 2013: 28 joints, hydraulic, 148 kg; the nearest to the crawling thesis.

Missing, estimated or chosen by us:

- mass: the link figures add up to 148.1 kg and are taken as they are; the crawling thesis gives 82 kg
- rotor inertia: the robot is hydraulic; 0.1 kg·m² (0.02 for the neck) stands for pistons and linkages, an estimate
- force-torque sensors: chosen at the ankles' and wrists' axes, in the axes of foot and hand
- palms: no hands are fitted; chosen at the flat, round end of the wrist, as squares of about its area
- camera: the left camera of the head, turned forward
- servo gains: chosen so that the robot stands
- knees: a narrow patch of ours at the front of the shin's upper end, which is round, to kneel on
- posture 'crawl': found by us, on wrists and knees; the thesis prints no angles
- posture 'crawling': the same with elbows turned outward, which halves their efforts when one hand bears
"""

from __future__ import annotations

import math

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
    "right_leg": "r_leg_*",
    "left_leg": "l_leg_*",
    "torso": "back_*",
    "head": "neck_*",
    "right_arm": "r_arm_*",
    "left_arm": "l_arm_*",
}
ROTORS = {"*_leg_* back_* *_arm_*": 0.1, "neck_ry": 0.02}
SERVOS = {"*_leg_* back_*": (20000.0, 500.0), "*_arm_*": (3000.0, 80.0), "neck_ry": (200.0, 5.0)}
ARMS = {"!_arm_shy": 0.3, "!_arm_shx": 1.3, "!_arm_ely": 2.0, "!_arm_elx": -0.5}
CRAWL = {
    "!_leg_hpx": -0.047,
    "!_leg_hpy": -1.3432,
    "!_leg_kny": 1.8253,
    "!_leg_aky": 0.6053,
    "!_arm_shy": -1.0453,
    "!_arm_shx": 0.6862,
    "!_arm_ely": 1.7136,
    "!_arm_elx": -0.3436,
    "!_arm_wry": 1.7783,
    "!_arm_wrx": -0.1934,
}
CRAWLING = CRAWL | {"!_arm_shy": -1.15, "!_arm_ely": 2.5}
KNEELING = (0.0, -math.pi / 2, 0.0)  # a surface at the front of the shin, on which the robot kneels
MIRRORED = "!_arm_shx !_arm_elx !_arm_wrx !_leg_hpz !_leg_hpx !_leg_akx"

MAY_TOUCH = pairs("pelvis !_lglut", "pelvis !_uleg", "!_uglut !_uleg")


def robot() -> Robot:
    """Atlas as a robot."""
    return assemble(
        "atlas",
        Figures.read("atlas"),
        GROUPS,
        ROTORS,
        SERVOS,
        title="Atlas (2013)",
        surfaces=(
            surface("right_sole", "r_foot", (0.048, 0.0, -0.081119), 0.26, 0.124887),
            surface("left_sole", "l_foot", (0.048, 0.0, -0.081119), 0.26, 0.124887),
            surface("right_palm", "r_hand", (0.001, -0.125, 0.01), 0.05, 0.05, FACING_RIGHT),
            surface("left_palm", "l_hand", (0.001, 0.125, 0.01), 0.05, 0.05, FACING_LEFT),
            surface("right_knee", "r_lleg", (0.11, 0.0, 0.0), 0.024, 0.01, KNEELING),
            surface("left_knee", "l_lleg", (0.11, 0.0, 0.0), 0.024, 0.01, KNEELING),
        ),
        sensors=(
            sensor("imu", "imu", "pelvis", 0.059915276, 0.0, -0.01415),
            sensor("right_foot", "force_torque", "r_foot"),
            sensor("left_foot", "force_torque", "l_foot"),
            sensor("right_hand", "force_torque", "r_hand"),
            sensor("left_hand", "force_torque", "l_hand"),
            sensor("head_camera", "camera", "head", 0.0, 0.035, -0.002),
        ),
        postures={
            "home": both_sides(ARMS, mirrored=MIRRORED),
            "stand": both_sides({"!_leg_hpy": -0.25, "!_leg_kny": 0.58, "!_leg_aky": -0.33} | ARMS, mirrored=MIRRORED),
            "crawl": both_sides(CRAWL, mirrored=MIRRORED) | {"neck_ry": -0.5},
            "crawling": both_sides(CRAWLING, mirrored=MIRRORED) | {"neck_ry": -0.5},
        },
        may_touch=MAY_TOUCH,
        gaps=gaps_in(__doc__),
    )
