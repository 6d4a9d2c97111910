"""A person made of numbers, who crawls: for what needs a motion capture where there is none.

crawling("person.bvh", cycles=3)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from wholebody.motion.capture.bvh import Bvh
from wholebody.motion.capture.gait_plan import minimum_jerk
from wholebody.motion.capture.skeleton import Node, Skeleton

TURNS = ("Zrotation", "Yrotation", "Xrotation")
MOVES = ("Xposition", "Yposition", "Zposition")
ORDER = ("left_wrist", "right_knee", "right_wrist", "left_knee")
FRAME_TIME = 1 / 60
SHARED = Path(__file__).parents[2] / "shared" / "motion"
"""Captures of real people, beside the project, if at all."""

# name, parent, offset from it in metres: x left, y up, z forward
PERSON = (
    ("Hips", "", (0.0, 0.0, 0.0)),
    ("LeftUpLeg", "Hips", (0.1, 0.0, 0.0)),
    ("LeftLeg", "LeftUpLeg", (0.0, -0.4, 0.0)),
    ("LeftFoot", "LeftLeg", (0.0, -0.42, 0.0)),
    ("LeftToeBase", "LeftFoot", (0.0, -0.05, 0.15)),
    ("RightUpLeg", "Hips", (-0.1, 0.0, 0.0)),
    ("RightLeg", "RightUpLeg", (0.0, -0.4, 0.0)),
    ("RightFoot", "RightLeg", (0.0, -0.42, 0.0)),
    ("RightToeBase", "RightFoot", (0.0, -0.05, 0.15)),
    ("Spine1", "Hips", (0.0, 0.3, 0.0)),
    ("LeftArm", "Spine1", (0.18, 0.2, 0.0)),
    ("LeftForeArm", "LeftArm", (0.25, 0.0, 0.0)),
    ("LeftHand", "LeftForeArm", (0.22, 0.0, 0.0)),
    ("RightArm", "Spine1", (-0.18, 0.2, 0.0)),
    ("RightForeArm", "RightArm", (-0.25, 0.0, 0.0)),
    ("RightHand", "RightForeArm", (-0.22, 0.0, 0.0)),
)
JOINTS = {"left_wrist": "LeftHand", "right_wrist": "RightHand", "left_knee": "LeftLeg", "right_knee": "RightLeg"}


def person(
    rename: Callable[[str], str] = lambda name: name,
    without: Sequence[str] = (),
    axes: np.ndarray | None = None,
    unit: float = 1.0,
) -> Skeleton:
    """The skeleton, its root free, with ends at toes and hands; axes is a 3 × 3 matrix to write its offsets in."""
    axes = np.eye(3) if axes is None else np.asarray(axes, float)
    nodes, places = [], {}
    for name, parent, offset in PERSON:
        if name in without or (parent and parent not in places):
            continue
        places[name] = len(nodes)
        there = tuple((axes @ offset / unit).tolist())
        nodes.append(Node(rename(name), places.get(parent, -1), there, TURNS if parent else MOVES + TURNS))
        if name.endswith(("ToeBase", "Hand")):
            nodes.append(
                Node(f"{rename(name)}_end", places[name], tuple((axes @ (0, 0, 0.05) / unit).tolist()), (), True)
            )
    return Skeleton(tuple(nodes))


def crawling(
    path: Path,
    stride: float = 0.3,
    period: float = 4.0,
    swing: float = 0.6,
    order: Sequence[str] = ORDER,
    together: bool = False,
    cycles: float = 3,
    surge: float = 0.0,
) -> Path:
    """Write one who crawls along z with even steps; two limbs at a time if together.

    The pelvis is 0.45 m high and goes along evenly, or is `surge` ahead and behind by turns; hands bear under the
    shoulders and knees under the hips. Knees and wrists have position channels, so that they are exactly where they
    should be.
    """
    names = {joint: limb for limb, joint in JOINTS.items()}
    nodes = tuple(replace(node, channels=MOVES + TURNS) if node.name in names else node for node in person().nodes)
    skeleton = Skeleton(nodes)
    times = np.arange(0.0, cycles * period, FRAME_TIME)
    lying = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # up is ahead, ahead is down
    starts = {limb: period * (k // 2 * 2 if together else k) / len(order) for k, limb in enumerate(order)}
    rows = []
    for time in times:
        ahead = surge * np.sin(2 * np.pi * time / period)
        pelvis = np.array([0.0, 0.45, stride * time / period + ahead])
        wanted = {limb: _limb(limb, time, starts[limb], stride, period, swing) for limb in order}
        rows.append(_frame(skeleton, names, pelvis, lying, wanted))
    Bvh(skeleton, FRAME_TIME, np.array(rows)).write(path)
    return path


def _limb(limb: str, time: float, start: float, stride: float, period: float, swing: float) -> np.ndarray:
    """Where a limb is in the world."""
    side = 1.0 if limb.startswith("left") else -1.0
    x, y, z = (0.18, 0.0, 0.5) if limb.endswith("wrist") else (0.1, 0.05, 0.0)
    cycle, now = divmod(time - start, period)
    share = min(now / swing, 1.0)
    z += stride * ((start + swing / 2) / period - 0.5 + cycle + minimum_jerk(share))
    return np.array([side * x, y + 0.08 * np.sin(np.pi * share) ** 2, z])


def _frame(
    skeleton: Skeleton,
    names: Mapping[str, str],
    pelvis: np.ndarray,
    lying: np.ndarray,
    wanted: Mapping[str, np.ndarray],
) -> list[float]:
    """The channels of one frame: the trunk turned by 90°, all else straight, knees and wrists moved."""
    places, values = {}, []
    for index, node in enumerate(skeleton.nodes):
        offset = np.array(node.offset)
        if node.parent < 0:
            places[index] = pelvis
            values += [*pelvis, 0.0, 0.0, 90.0]
            continue
        places[index] = places[node.parent] + lying @ offset
        if node.name in names:
            places[index] = wanted[names[node.name]]
            values += [*(lying.T @ (places[index] - places[node.parent]) - offset), 0.0, 0.0, 0.0]
        elif node.channels:
            values += [0.0, 0.0, 0.0]
    return values
