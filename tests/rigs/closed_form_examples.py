"""The chains that closed-form inverse kinematics is tested on, and what is needed to judge an answer."""

import numpy as np

from wholebody import robots
from wholebody.kinematics.chains import Chain, Line
from wholebody.kinematics.closed_form import ClosedForm

LEGS = [
    ("hubo2plus", "Body_Hip", "left_sole"),
    ("hubo2plus", "Body_Hip", "right_sole"),
    ("minihubo", "Hip", "left_sole"),
    ("hoap3", "WAIST", "right_sole"),
    ("hrp2", "waist", "left_sole"),
    ("teo", "waist", "right_sole"),
]
ARMS = [
    ("hubo2plus", "Body_Torso", "right_palm"),
    ("hubo2plus", "Body_Torso", "left_palm"),
    ("hrp2", "chest", "left_palm"),
    ("teo", "waist_pitch_link", "left_palm"),
]
REVERSED = [("hubo2plus", "left_sole", "Body_Hip"), ("hrp2", "left_palm", "chest")]
SIX = LEGS + ARMS + REVERSED
FEW = [("minihubo", "Torso", "left_palm"), ("minihubo", "Torso", "right_palm"), ("hoap3", "CHEST", "L_WR")]

L2, L3, L4 = 0.179, 0.182, 0.121  # Hubo-Ach, Table 3.5
DH = [  # Table 3.6: θ, α, a, d
    (np.pi / 2, np.pi / 2, 0, 0),
    (-np.pi / 2, np.pi / 2, 0, 0),
    (np.pi / 2, -np.pi / 2, 0, -L2),
    (0, np.pi / 2, 0, 0),
    (0, np.pi / 2, 0, -L3),
    (np.pi / 2, 0, L4, 0),
]


def closed_form(names):
    robot, base, tip = names
    return ClosedForm.of(robots.load(robot), base, tip)


def label(names):
    return "-".join(names)


def random_joints(solver, count, seed):
    low, high = np.clip(solver.chain.lower, -np.pi, None), np.clip(solver.chain.upper, None, np.pi)
    return np.random.default_rng(seed).uniform(low, high, (count, solver.size))


def smallest_singular_value(solver, joints):
    """Of the tip's Jacobian, in m and rad: each joint turns the tip about its axis as the joints before it have it."""
    tip, home = solver.forward(joints)[:3, 3], np.linalg.inv(solver.chain.home)
    columns = []
    for number, line in enumerate(solver.chain.lines):
        before = solver.forward([*joints[:number], *np.zeros(solver.size - number)]) @ home
        axis, point = before[:3, :3] @ line.direction, before[:3, :3] @ line.point + before[:3, 3]
        columns.append([*np.cross(axis, tip - point), *axis])
    return float(np.linalg.svd(np.array(columns), compute_uv=False)[-1])


def dh_step(number, angle):
    """Eq. 3.10."""
    offset, alpha, a, d = DH[number]
    ct, st, ca, sa = np.cos(angle + offset), np.sin(angle + offset), np.cos(alpha), np.sin(alpha)
    return np.array([[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, d], [0, 0, 0, 1]])


def dh_pose(angles):
    pose = np.eye(4)
    for number, angle in enumerate(angles):
        pose = pose @ dh_step(number, angle)
    return pose


def dh_chain():
    """Table 3.6 as a chain: joint i turns about the z axis of frame i − 1."""
    frame, lines = np.eye(4), []
    for number in range(6):
        lines.append(Line(f"joint {number + 1}", frame[:3, 2].copy(), frame[:3, 3].copy()))
        frame = frame @ dh_step(number, 0.0)
    return Chain("the arm of Table 3.6", tuple(lines), np.full(6, -np.pi), np.full(6, np.pi), frame)


def dh_solutions(pose):
    """Eq. 3.23 – 3.47, corrected: all eight branches."""
    p = np.linalg.inv(pose)[:3, 3]
    u = p[0] + L4
    found = []
    cos4 = np.clip((u**2 + p[1] ** 2 + p[2] ** 2 - L2**2 - L3**2) / (2 * L2 * L3), -1, 1)
    for theta4 in (np.arccos(cos4), -np.arccos(cos4)):
        s4, c4 = np.sin(theta4), np.cos(theta4)
        s5 = np.clip(-p[2] / (L2 * s4), -1, 1)
        for c5 in (np.sqrt(1 - s5**2), -np.sqrt(1 - s5**2)):
            theta5 = np.arctan2(s5, c5)
            theta6 = np.arctan2(L2 * s4 * c5, L2 * c4 + L3) - np.arctan2(p[1], u)
            rest = dh_step(3, theta4) @ dh_step(4, theta5) @ dh_step(5, theta6)
            M = pose[:3, :3] @ rest[:3, :3].T
            for s in (1, -1):
                theta2 = np.arctan2(M[2, 1], s * np.hypot(M[0, 1], M[1, 1]))
                theta1, theta3 = np.arctan2(-s * M[0, 1], s * M[1, 1]), np.arctan2(s * M[2, 0], s * M[2, 2])
                found.append([theta1, theta2, theta3, theta4, theta5, theta6])
    return np.array(found)


def wrapped(angles):
    return (np.asarray(angles) + np.pi) % (2 * np.pi) - np.pi
