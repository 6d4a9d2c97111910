"""TEO: a full-size humanoid with 28 joints, 1.63 m; its masses are a stand-in of ours, 60 kg in all.

Missing, estimated or chosen by us:

- masses: those of the source (27.9 kg, many links of exactly 1 kg) are not credible; a stand-in of ours with 60 kg
  in all, the mass that is reported for the robot, spread evenly over the shapes
- rotor inertia: gear ratios are published, the motors' rotors are taken as 3.3e-6 kg·m² (a 200 W motor)
- ranges: from the drives; directions: every axis positive (x, y, z); the drives' own signs are not modelled
- symmetry: the right side is the mirrored left one, ranges apart
- effort and speed: from the source's URDF, where they look rounded: 65 N·m at the hip do not hold 60 kg on one leg
- shapes: primitives of ours inside the bounding boxes of the meshes
- IMU: chosen at the waist; force-torque sensors: at the ankles' and wrists' axes, their frames are not published;
  the camera: chosen at the front of the head; palms: chosen at the inside of the hand's box
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
    "right_leg": "r_hip_* r_knee_* r_ankle_*",
    "left_leg": "l_hip_* l_knee_* l_ankle_*",
    "torso": "waist_*",
    "head": "head_*",
    "right_arm": "r_shoulder_* r_elbow_* r_wrist_*",
    "left_arm": "l_shoulder_* l_elbow_* l_wrist_*",
}
RATIOS = {
    "?_hip_yaw": 400.0,
    "?_hip_roll": 523.2,
    "?_hip_pitch": 192.0,
    "?_knee_pitch ?_ankle_roll": 235.2,
    "?_ankle_pitch": 270.4,
    "waist_yaw ?_shoulder_pitch ?_shoulder_roll ?_elbow_pitch": 160.0,
    "waist_pitch": 480.0,
    "?_shoulder_yaw ?_wrist_* head_*": 100.0,
}
ROTOR = 3.3e-6
SERVOS = {
    "?_hip_* ?_knee_* ?_ankle_* waist_*": (6000.0, 150.0),
    "?_shoulder_* ?_elbow_*": (1000.0, 30.0),
    "*": (200.0, 6.0),
}
ARMS = {"!_shoulder_pitch": 0.15, "!_shoulder_roll": -0.15, "!_elbow_pitch": -0.4}


def robot() -> Robot:
    """TEO as a robot."""
    bent = {"!_hip_pitch": -0.28, "!_knee_pitch": 0.66, "!_ankle_pitch": -0.38}
    return assemble(
        "teo",
        Figures.read("teo"),
        GROUPS,
        {joints: ROTOR * ratio**2 for joints, ratio in RATIOS.items()},
        SERVOS,
        title="TEO",
        surfaces=(
            surface("right_sole", "r_astragalus_link", (0.0448, 0.0, -0.1228), 0.2453, 0.14),
            surface("left_sole", "l_astragalus_link", (0.0448, 0.0, -0.1228), 0.2453, 0.14),
            surface("right_palm", "r_wrist_pitch_link", (0.0, 0.04, -0.13), 0.05, 0.1, FACING_LEFT),
            surface("left_palm", "l_wrist_pitch_link", (0.0, -0.04, -0.13), 0.05, 0.1, FACING_RIGHT),
        ),
        sensors=(
            sensor("imu", "imu", "waist"),
            sensor("right_foot", "force_torque", "r_astragalus_link"),
            sensor("left_foot", "force_torque", "l_astragalus_link"),
            sensor("right_hand", "force_torque", "r_wrist_pitch_link"),
            sensor("left_hand", "force_torque", "l_wrist_pitch_link"),
            sensor("head_camera", "camera", "head_pitch_link", 0.095, 0.0, 0.09),
        ),
        postures={
            "home": both_sides(ARMS, mirrored="!_shoulder_roll"),
            "stand": both_sides(bent | ARMS, mirrored="!_shoulder_roll"),
        },
        may_touch=pairs("!_hip_yaw_link !_femur_link", "!_shoulder_pitch_link !_shoulder_yaw_link"),
        published_mass=60.0,
        gaps=gaps_in(__doc__),
    )
