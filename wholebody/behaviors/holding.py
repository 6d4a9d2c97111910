"""Holding with two arms: which frames hold, and a posture with both hands ahead of the shoulders."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadGoal
from wholebody.kinematics import InverseKinematics, PointGoal
from wholebody.model.layout import Array
from wholebody.model.model import Model

ARMS = ("left_arm", "right_arm")
TRIES = 30
"""Arms from which the search for a posture begins, at random but the same each time."""


def hand_of(model: Model, arm: str) -> int:
    """The frame that holds: the palm, or the last link of the arm if it has none."""
    robot = model.robot
    if not robot.groups.get(arm):
        raise BadGoal(f"'{robot.name}' has no joints '{arm}': it cannot hold with two arms")
    palm = arm.replace("arm", "palm")
    if any(surface.name == palm for surface in robot.surfaces):
        return model.surface(palm)
    return model.frame(robot.joint(robot.groups[arm][-1]).child)


def holding_posture(model: Model, ahead: float = 0.6, below: float = 0.2) -> Array:
    """The robot as it stands, with the hands before the shoulders, or as near to there as the joints allow.

    Of the ways in which an arm can get there, the one that leaves its joints the most room to both sides; the other arm
    does the same in a mirror, as far as it can.

    ahead, below   where the hands are, seen from the shoulders, in lengths of an arm
    """
    stand = model.posture("stand") if "stand" in model.robot.postures else model.neutral()
    left, right = (_ways(model, arm, stand, ahead, below) for arm in ARMS)
    best = max(left, key=lambda way: way.room)
    twin = min(right, key=lambda way: _unlike(best, way))
    posture = best.q.copy()
    posture[twin.places] = twin.q[twin.places]
    return posture


@dataclass(frozen=True)
class _Way:
    """One way to get a hand to its place.

    q, places   a configuration, and where the joints of the arm are in it
    elbow       where it is in world
    hand        rotation of the hand to world
    room        the least share of its range that a joint has left to an end
    """

    q: Array
    places: npt.NDArray[np.int64]
    elbow: Array
    hand: Array
    room: float


def _unlike(left: _Way, right: _Way) -> float:
    """How far two arms are from being mirrored: 0.3 m of the elbow count as a radian of the hand."""
    mirror = np.array([1.0, -1.0, 1.0])
    turned = mirror[:, None] * left.hand * mirror
    return float(np.linalg.norm(right.elbow - mirror * left.elbow) + 0.3 * np.linalg.norm(right.hand - turned))


def _ways(model: Model, arm: str, stand: Array, ahead: float, below: float) -> list[_Way]:
    robot, snapshot = model.robot, model.at(stand)
    hand = hand_of(model, arm)
    group = robot.groups[arm]
    names = [link.name for link in robot.links] + [surface.name for surface in robot.surfaces]
    points = [snapshot.position(model.frame(robot.joint(name).child)) for name in group]
    length = float(np.linalg.norm(np.diff([*points, snapshot.position(hand)], axis=0), axis=1).sum())
    goal = PointGoal(names[hand], points[0] + np.array([ahead * length, 0.0, -below * length]))
    solver = InverseKinematics(model, [goal], joints=[arm])
    places = np.array([model.column(name) + model.nq - model.nv for name in group])
    lower, upper = np.array([(robot.joint(name).lower, robot.joint(name).upper) for name in group]).T
    elbow, ways = model.frame(robot.joint(group[len(group) // 2]).child), []
    for share in np.random.default_rng(0).uniform(0.2, 0.8, size=(TRIES, len(group))):
        start = stand.copy()
        start[places] = lower + share * (upper - lower)
        found = solver.solve(start)
        q = found.q[places]
        room = float((np.minimum(q - lower, upper - q) / (upper - lower)).min())
        seen = model.at(found.q)
        room -= 100.0 * found.errors[0].position
        ways.append(_Way(found.q, places, np.array(seen.position(elbow)), np.array(seen.rotation(hand)), room))
    return ways
