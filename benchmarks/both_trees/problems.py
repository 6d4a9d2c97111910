"""Robots, problems and states that the old tree and the new one are compared on.

All of this folder runs in a process of either tree, so it names only what both trees offer to everybody.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from wholebody import robots
from wholebody.constraints import Coactuation, Constraint, FixedBase, FlatContact
from wholebody.control import Problem
from wholebody.model import Model, Snapshot
from wholebody.tasks import (
    CartesianPositionTask,
    CenterOfMassTask,
    CenterOfPressureTask,
    InternalForceTask,
    JointPositionTask,
    Orientation2DTask,
    Orientation3DTask,
    Task,
)

Array = np.ndarray
CHAINS = {
    "hubo2plus_leg": ("hubo2plus", "Body_Hip", "left_sole"),
    "minihubo_leg": ("minihubo", "Hip", "left_sole"),
    "hoap3_leg": ("hoap3", "WAIST", "left_sole"),
    "hrp2_leg": ("hrp2", "waist", "left_sole"),
    "teo_leg": ("teo", "waist", "left_sole"),
    "hubo2plus_arm": ("hubo2plus", "Body_Torso", "left_palm"),
    "hrp2_arm": ("hrp2", "chest", "left_palm"),
    "teo_arm": ("teo", "waist_pitch_link", "left_palm"),
    "minihubo_arm": ("minihubo", "Torso", "left_palm"),
    "hoap3_arm": ("hoap3", "CHEST", "L_WR"),
}
LIMBS = ("left_sole", "right_sole", "left_palm", "right_palm")


@cache
def model_of(name: str) -> Model:
    """The model of a robot; `dreamer22` is Dreamer with a floating base, `atlas_bolted` Atlas without one."""
    if name == "dreamer22":
        return Model(replace(robots.load("dreamer"), floating=True))
    if name == "atlas_bolted":
        return Model(replace(robots.load("atlas"), floating=False))
    return Model(robots.load(name))


def random_states(model: Model, count: int, seed: int = 0) -> tuple[Array, Array]:
    """Configurations within limits, and velocities."""
    rng = np.random.default_rng(seed)
    return np.array([model.random(rng) for _ in range(count)]), rng.normal(size=(count, model.nv))


def near_states(model: Model, count: int, seed: int = 0) -> tuple[Array, Array]:
    """States near the posture in which the robot stands."""
    rng = np.random.default_rng(seed)
    home = model.posture("stand")
    q = [model.integrate(home, 0.05 * rng.normal(size=model.nv), 1.0) for _ in range(count)]
    return np.array(q), 0.1 * rng.normal(size=(count, model.nv))


def dreamer_problem(model: Model, levels: int, kind: str) -> Problem:
    """Both hands' positions and orientations on so many levels, and the posture."""
    now = model.at(model.posture("stand"))
    points: list[Task] = []
    turns: list[Task] = []
    for hand in ("right_palm", "left_palm"):
        frame = model.frame(hand)
        points.append(CartesianPositionTask(f"{hand}_position", hand, now.position(frame) + 0.02))
        turns.append(
            Orientation3DTask(f"{hand}_orientation", hand, now.rotation(frame))
            if kind == "3d"
            else Orientation2DTask(f"{hand}_orientation", hand, (0, 0, 1), now.rotation(frame)[:, 2])
        )
    posture: list[Task] = [JointPositionTask("posture", model.robot.posture("stand"))]
    held: list[Constraint] = [*Coactuation.of(model)]
    if model.floating:
        held.append(FixedBase("bolts"))
    if levels == 2:
        return Problem([points + turns, posture], held)
    if levels == 3:
        return Problem([points, turns, posture], held)
    return Problem([[each] for each in (*points, *turns, *posture)], held)


def valkyrie_problem(model: Model) -> Problem:
    """Fifteen tasks on two feet."""
    now = model.at(model.posture("stand"))

    def point(name: str, frame: str) -> Task:
        return CartesianPositionTask(name, frame, now.position(model.frame(frame)) + 0.01)

    def turn(name: str, frame: str) -> Task:
        return Orientation3DTask(name, frame, now.rotation(model.frame(frame)))

    levels: list[list[Task]] = [
        [CenterOfMassTask("com", now.com_in_world + 0.01)],
        [point("right_wrist", "right_palm"), point("left_wrist", "left_palm")],
        [turn("right_hand", "right_palm"), turn("left_hand", "left_palm")],
        [turn("chest", "torso"), turn("pelvis", "pelvis"), turn("head", "head_camera")],
        [
            CenterOfPressureTask("right_cop", "right_foot", (0.0, 0.0)),
            CenterOfPressureTask("left_cop", "left_foot", (0.0, 0.0)),
            InternalForceTask("tension", "left_foot", "right_foot", 0.0),
        ],
        [
            JointPositionTask("right_elbow", [-0.7], ["rightElbowPitch"]),
            JointPositionTask("left_elbow", [0.7], ["leftElbowPitch"]),
            JointPositionTask("neck", [0.0], ["neckYaw"]),
        ],
        [JointPositionTask("posture", model.robot.posture("stand"))],
    ]
    return Problem(levels, [FlatContact("left_foot", "left_sole"), FlatContact("right_foot", "right_sole")])


def common_problem(model: Model) -> Problem:
    """Centre of mass where there are feet, hands, posture: on a robot of any size."""
    now = model.at(model.posture("stand"))
    frames = [each.name for each in model.robot.surfaces]
    hands: list[Task] = [
        CartesianPositionTask(each, each, now.position(model.frame(each)) + 0.01) for each in frames if "palm" in each
    ]
    feet = [FlatContact(f"{each} contact", each) for each in frames if "sole" in each]
    body: list[Task] = [CenterOfMassTask("com", now.com_in_world + 0.01)] if feet else []
    posture: list[Task] = [JointPositionTask("posture", model.robot.posture("stand"))]
    return Problem([body, hands, posture], [*feet, *Coactuation.of(model)])


class Swaying:
    """Centre of mass, hands, posture on two feet; the goals move so that limits of the soles are reached."""

    PERIOD = 1.0  # s

    def __init__(self, model: Model, sway: float = 0.03) -> None:
        self.sway = sway  # m
        q = model.posture("stand")
        now = model.at(q)
        self.start = np.array(now.com_in_world)
        self.hands_at = [np.array(now.position(model.frame(f"{side}_palm"))) for side in ("left", "right")]
        self.com = CenterOfMassTask("com", self.start)
        self.hands = [
            CartesianPositionTask(f"{side}_hand", f"{side}_palm", at)
            for side, at in zip(("left", "right"), self.hands_at, strict=True)
        ]
        contacts = [FlatContact(f"{side}_foot", f"{side}_sole") for side in ("left", "right")]
        self.problem = Problem([self.com, self.hands, JointPositionTask("posture", goal=q[7:])], contacts)

    def move(self, seconds: float) -> None:
        """Set the goals of an instant."""
        phase = 2 * np.pi * seconds / self.PERIOD
        self.com.goal[0] = self.start[0] + self.sway * np.sin(phase)
        together = 0.5 - 0.5 * np.cos(phase / 2)
        middle = sum(self.hands_at) / 2 + np.array([0.25, 0.0, 0.15])
        for task, at in zip(self.hands, self.hands_at, strict=True):
            task.goal[:] = at + together * (middle - at)


def limb_positions(snapshot: Snapshot) -> Array:
    """Where soles and palms are."""
    return np.array([snapshot.position(snapshot.model.frame(name)) for name in LIMBS])
