"""Hubo2+: 38 joints with the names of Hubo-Ach, 130 cm, 42 kg.

Where Hubo-Ach keeps each joint (hubo.h) is in ACH_INDEX.

Missing, estimated or chosen by us:

- mass: the link figures add up to 40.7 kg, the documents say 42 kg (and 37 kg in a table): 0.2 kg are neck links,
  for which there are no figures; 1.1 kg (battery, cables, covers) are a box in the torso
- rotor inertia: the motors are not named; 0.15 kg·m² (legs, waist), 0.05 (arms), 0.01 (neck), 0.0005 (fingers) are
  estimates
- neck: the two parallel motors NK1 and NK2 are joints in a row about the diagonals, as in openHubo; NKY has their
  torque and speed
- ranges: hip, knee, ankle, elbow and wrist pitch from the URDF; shoulder, wrist yaw, waist and neck from openHubo
- fingers: torque 1 N·m and speed 6 rad/s are estimates; F1 is taken for the thumb, F5 for the little finger; each
  motor bends three knuckles alike
- symmetry: the torso's centre of mass is put into the plane of symmetry; the left side is the mirrored right one
- IMU: its place is not published; chosen at the origin of the pelvis
- force-torque sensors: chosen at the origins of foot and palm, in their axes; the camera: chosen between the eyes
- servo gains: chosen so that the robot stands and walks
- soles: the bounding box of the foot's mesh, 0.22 × 0.15 m; palms: chosen on the palm's box
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
from wholebody.robots.robot import Mimic, Robot

ACH_ORDER = (
    *("WST", "NKY", "NK1", "NK2", "LSP", "LSR", "LSY", "LEB", "LWY", "LWR", "LWP"),
    *("RSP", "RSR", "RSY", "REB", "RWY", "RWR", "RWP", "", "LHY", "LHR", "LHP", "LKN", "LAP", "LAR", ""),
    *("RHY", "RHR", "RHP", "RKN", "RAP", "RAR", "RF1", "RF2", "RF3", "RF4", "RF5", "LF1", "LF2", "LF3", "LF4", "LF5"),
)
ACH_INDEX = {name: index for index, name in enumerate(ACH_ORDER) if name}
"""Where Hubo-Ach keeps a joint; the wrist rolls LWR and RWR are not fitted, 18 and 25 are unused."""

GROUPS = {
    "right_leg": "RH? RKN RA?",
    "left_leg": "LH? LKN LA?",
    "torso": "WST",
    "head": "NK?",
    "right_arm": "RS? REB RW?",
    "left_arm": "LS? LEB LW?",
    "right_hand": "RF?",
    "left_hand": "LF?",
}
ROTORS = {"?H? ?KN ?A? WST": 0.15, "?S[PRY] ?EB ?WY ?WP": 0.05, "NK?": 0.01, "?F?": 0.0005}
SERVOS = {
    "?H? ?KN ?A? WST": (5000.0, 100.0),
    "?S[PRY] ?EB": (1500.0, 40.0),
    "?W[YP]": (500.0, 15.0),
    "NK?": (100.0, 3.0),
    "?F?": (2.0, 0.1),
}
FINGERS = {f"?F{number}": 0.3 for number in range(1, 6)}


def robot() -> Robot:
    """Hubo2+ as a robot."""
    figures = Figures.read("hubo2plus").with_mass("Body_Torso", box(0.2, 0.24, 0.24, -0.008, 0.0, 0.14), 1.097421)
    for leader in both_sides(FINGERS):
        figures = figures.with_joints(f"{leader}_*", mimic=Mimic(leader))
    bent = {"?HP": -0.33, "?KN": 0.71, "?AP": -0.38, "?SP": 0.2, "?SR": -0.15, "?EB": -0.5}
    return assemble(
        "hubo2plus",
        figures,
        GROUPS,
        ROTORS,
        SERVOS,
        title="Hubo2+",
        surfaces=(
            surface("right_sole", "Body_RAR", (-0.0405, -0.005, -0.10536), 0.22, 0.15),
            surface("left_sole", "Body_LAR", (-0.0405, 0.005, -0.10536), 0.22, 0.15),
            surface("right_palm", "Body_RWP", (-0.001, 0.013, -0.0608), 0.09, 0.06, FACING_LEFT),
            surface("left_palm", "Body_LWP", (-0.001, -0.013, -0.0608), 0.09, 0.06, FACING_RIGHT),
        ),
        sensors=(
            sensor("imu", "imu", "Body_Hip"),
            sensor("right_foot", "force_torque", "Body_RAR"),
            sensor("left_foot", "force_torque", "Body_LAR"),
            sensor("right_hand", "force_torque", "Body_RWP"),
            sensor("left_hand", "force_torque", "Body_LWP"),
            sensor("head_camera", "camera", "Body_Head", 0.09, 0.0, 0.03),
        ),
        postures={
            "home": both_sides({"?SR": -0.15, "?EB": -0.2} | FINGERS, mirrored="?SR"),
            "stand": both_sides(bent | FINGERS, mirrored="?SR"),
        },
        drivers={"virtual": "simulator", "full": "hubo_can"},
        may_touch=pairs("Body_?HY Body_?HP", "Body_?SP Body_?SY", "Body_?KN Body_?AR"),
        published_mass=42.0,
        gaps=gaps_in(__doc__),
    )
