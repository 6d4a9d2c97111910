"""Atlas as in the DARPA Robotics Challenge of 2015, with seven joints in each arm: 30 joints, hydraulic, 174 kg.

Missing, estimated or chosen by us:

- mass: the link figures add up to 174.4 kg and are taken as they are
- rotor inertia: the robot is hydraulic; 0.1 kg·m² (0.02 for the neck) stands for pistons and linkages, an estimate
- force-torque sensors: chosen at the ankles' and wrists' axes, in the axes of foot and hand
- palms: no hands are fitted; chosen at the flat end of the wrist
- camera: the left camera of the head, turned forward
- servo gains: chosen so that the robot stands
- shape of the hands: a cylinder of ours at the end of the wrist
"""

from __future__ import annotations

from wholebody.robots.atlas import GROUPS, MAY_TOUCH, ROTORS, SERVOS
from wholebody.robots.figures import FACING_RIGHT, Figures, assemble, both_sides, gaps_in, pairs, sensor, surface
from wholebody.robots.robot import Robot

ARMS = {"!_arm_shz": 0.0, "!_arm_shx": 1.3, "!_arm_ely": 2.0, "!_arm_elx": -0.5}


def robot() -> Robot:
    """Atlas as a robot."""
    mirrored = "!_arm_shz !_arm_shx !_arm_elx"
    return assemble(
        "atlas_v5",
        Figures.read("atlas_v5"),
        GROUPS,
        ROTORS,
        SERVOS,
        title="Atlas (2015)",
        surfaces=(
            surface("right_sole", "r_foot", (0.041, 0.0, -0.07412), 0.263, 0.13389),
            surface("left_sole", "l_foot", (0.041, 0.0, -0.07412), 0.263, 0.13389),
            surface("right_palm", "r_hand", (0.0, -0.145, 0.0), 0.07, 0.07, FACING_RIGHT),
            surface("left_palm", "l_hand", (0.0, -0.145, 0.0), 0.07, 0.07, FACING_RIGHT),
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
            "home": both_sides(ARMS, mirrored),
            "stand": both_sides({"!_leg_hpy": -0.25, "!_leg_kny": 0.55, "!_leg_aky": -0.3} | ARMS, mirrored),
        },
        may_touch=MAY_TOUCH | pairs("pelvis mtorso"),
        gaps=gaps_in(__doc__),
    )
