"""Mini-Hubo: 22 joints with the names and directions of Hubo2+, 46 cm, 2.9 kg; the same controller runs on both.

Missing, estimated or chosen by us:

- mass: the link figures add up to 2.09 kg, the documents say 2.9 kg: 0.15 kg are the head, 0.657 kg (battery,
  computer, cables) are a box in the torso
- ranges: none are published; taken over from Hubo2+, ankle roll ±30°
- torque 3 N·m, speed 6 rad/s and rotor inertia 0.004 kg·m²: none are published; estimates for a servo of this size
- head: the neck servo NK is in the servo table but in no model; its place, direction (yaw) and mass are estimates
- inertias: the source's numbers are read as g·m²; centres of mass as counted from the centre of the link's box,
  because from the joint they would lie outside the links
- IMU: the real robot has none (the documents list two force-torque sensors); one is placed at the hip's origin, so
  that the controllers of Hubo2+ run
- force-torque sensors: at the ankle's axes; the camera: chosen at the front of the head
- servo gains: chosen so that the robot stands
"""

from __future__ import annotations

from wholebody.robots.figures import (
    FACING_LEFT,
    FACING_RIGHT,
    Figures,
    assemble,
    both_sides,
    box,
    gaps_in,
    pairs,
    sensor,
    surface,
)
from wholebody.robots.robot import Robot

GROUPS = {
    "right_leg": "RH? RKN RA?",
    "left_leg": "LH? LKN LA?",
    "torso": "WST",
    "head": "NK",
    "right_arm": "RS? REB",
    "left_arm": "LS? LEB",
}


def robot() -> Robot:
    """Mini-Hubo as a robot."""
    figures = Figures.read("minihubo").with_mass("Torso", box(0.05, 0.08, 0.09, 0.0, 0.0, 0.045), 0.657)
    bent = {"?HP": -0.35, "?KN": 0.7, "?AP": -0.35, "?SP": 0.2, "?SR": -0.15, "?EB": -0.5}
    return assemble(
        "minihubo",
        figures,
        GROUPS,
        {"*": 0.004},
        {"?H? ?KN ?A? WST": (100.0, 2.0), "*": (30.0, 0.8)},
        title="Mini-Hubo",
        surfaces=(
            surface("right_sole", "RAR", (0.009, -0.0035, -0.0345), 0.11, 0.064),
            surface("left_sole", "LAR", (0.009, 0.0035, -0.0345), 0.11, 0.064),
            surface("right_palm", "REB", (0.0, 0.041, -0.03), 0.02, 0.02, FACING_LEFT),
            surface("left_palm", "LEB", (0.0, -0.041, -0.03), 0.02, 0.02, FACING_RIGHT),
        ),
        sensors=(
            sensor("imu", "imu", "Hip"),
            sensor("right_foot", "force_torque", "RAR"),
            sensor("left_foot", "force_torque", "LAR"),
            sensor("head_camera", "camera", "Head", 0.036, 0.0, 0.045),
        ),
        postures={
            "home": both_sides({"?SR": -0.15, "?EB": -0.2}, mirrored="?SR"),
            "stand": both_sides(bent, mirrored="?SR"),
        },
        drivers={"virtual": "simulator", "mini": "dynamixel"},
        may_touch=pairs("?HY ?HP", "?SP ?SY", "?KN ?AR"),
        published_mass=2.9,
        gaps=gaps_in(__doc__),
    )
