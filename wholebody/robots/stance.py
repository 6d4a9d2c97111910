"""A posture to stand in: knees bent, soles level, the centre of mass over the middle of the feet; no models needed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wholebody.robots import geometry
from wholebody.robots.limbs import knee_of
from wholebody.robots.robot import Array, Joint, Robot, Surface
from wholebody.robots.tree import Tree

BENT = 0.055
"""Of the length of thigh and shin: how much nearer the ankle is to the hip than with the leg straight."""
KNEE = 0.65
"""rad, of a knee at the start of the search."""
LEVEL = math.radians(3.0)
ARRIVED = 1e-5
WITHIN = 0.02
"""rad that joints stay away from their limits, where their range allows it."""
LEAST_KNEE = 0.1


@dataclass(frozen=True)
class Leg:
    """A leg as a chain: its joints from hip to foot, and the frame of its sole in the last link."""

    joints: tuple[Joint, ...]
    sole: Surface


@dataclass(frozen=True)
class Stance:
    """A posture, and how well the robot stands in it."""

    posture: dict[str, float]
    tilt: float  # rad, the greatest of a sole
    knee: float  # rad
    ahead: float  # of the centre of mass from the middle of the soles, m


def stance_of(robot: Robot, tree: Tree, legs: Sequence[Leg]) -> Stance:
    """A stance by bending the legs; joints beside them are as they are at zero, or at the limit nearest to it."""
    values = {joint.name: float(np.clip(0.0, joint.lower, joint.upper)) for joint in robot.moving}
    targets = [_sole_to_root(tree, leg) for leg in legs]
    for leg, target in zip(legs, targets, strict=True):
        _bend(tree, leg, target, values)
    for _ in range(4):  # until the centre of mass is over the middle of the soles
        for leg, target in zip(legs, targets, strict=True):
            _solve(tree, leg, target, values)
        shift = _com_ahead(robot, values, legs)
        for target in targets:
            target[0, 3] += shift
        if abs(shift) < 1e-4:
            break
    return measured(robot, values, legs)


def measured(robot: Robot, posture: Mapping[str, float], legs: Sequence[Leg]) -> Stance:
    """How well the robot stands in a posture, its root upright."""
    given = {j.name: float(posture.get(j.name, np.clip(0.0, j.lower, j.upper))) for j in robot.moving}
    where = geometry.placements(robot, np.array(list(given.values())))
    soles = [where[leg.sole.link] @ leg.sole.at.matrix for leg in legs]
    tilt = max(math.acos(min(1.0, float(sole[2, 2]))) for sole in soles)
    uneven = abs(soles[0][2, 3] - soles[1][2, 3]) / max(abs(soles[0][1, 3] - soles[1][1, 3]), 1e-3)
    knees = [max(abs(given[j.name]) for j in leg.joints if j.name in given) for leg in legs]
    shown = {name: round(value, 4) for name, value in given.items() if abs(value) > 5e-5}
    shown = {
        name: float(np.clip(value, robot.joint(name).lower, robot.joint(name).upper)) for name, value in shown.items()
    }
    return Stance(shown, max(tilt, math.atan(uneven)), min(knees), _com_ahead(robot, given, legs))


def stands(stance: Stance, length: float) -> bool:
    """Whether soles are level, knees bent, and the centre of mass over the middle half of soles of that length."""
    return stance.tilt < LEVEL and stance.knee > LEAST_KNEE and abs(stance.ahead) < 0.25 * length


def _sole_to_root(tree: Tree, leg: Leg) -> Array:
    """Where a sole is to be, in the root: level, straight ahead, as far below the hip as a bent leg reaches."""
    sole = tree.where[leg.sole.link] @ leg.sole.at.matrix
    target = np.eye(4)
    target[:3, 3] = sole[:3, 3]
    knee = knee_of(tree, leg.joints, np.array([0.0, 1.0, 0.0]))
    hip, ankle = tree.origin(leg.joints[0]), tree.origin(leg.joints[-1])
    bent = float(np.linalg.norm(hip - ankle))
    if knee is not None:
        at = tree.origin(knee)
        longest = float(np.linalg.norm(hip - at) + np.linalg.norm(at - ankle))
        bent = min(bent, (1.0 - BENT) * longest)
    under = float(ankle[2] - sole[2, 3])
    aside = math.hypot(*(ankle - hip)[:2])
    target[2, 3] = hip[2] - math.sqrt(max(bent**2 - aside**2, 0.25 * bent**2)) - under
    return target


def _bend(tree: Tree, leg: Leg, target: Array, values: dict[str, float]) -> None:
    """Bend the knee the way its range goes, as a start."""
    knee = knee_of(tree, leg.joints, np.array([0.0, 1.0, 0.0]))
    if knee is None or knee.name not in values:
        return
    way = 1.0 if knee.upper + knee.lower >= 0 else -1.0
    if abs(knee.upper + knee.lower) < 0.2 * (knee.upper - knee.lower):  # as far both ways: so that it points ahead
        way = 1.0 if np.cross(tree.axis(knee), (0.0, 0.0, -1.0))[0] < 0 else -1.0
    if abs(values[knee.name]) < KNEE:
        values[knee.name] = float(np.clip(way * KNEE, knee.lower, knee.upper))


def _solve(tree: Tree, leg: Leg, target: Array, values: dict[str, float]) -> None:
    """Put the sole to its place by damped least squares, within the limits."""
    free = [joint for joint in leg.joints if joint.mimic is None]
    low, high = (np.array(side) for side in zip(*map(_range, free), strict=True))
    q = np.clip([values[joint.name] for joint in free], low, high)
    few, damping = len(free) < 6, 1e-6
    weights = np.array([1.0, 1.0, 1.0, *((0.1,) * 3 if few else (0.5,) * 3)])
    error, jacobian = _gap(tree, leg, target, values, free, q)
    for _ in range(200):
        cost = float(np.sum((weights * error) ** 2))
        if cost < ARRIVED**2:
            break
        J = weights[:, None] * jacobian
        blocked = ((q <= low) & ((J.T @ (weights * error)) < 0)) | ((q >= high) & ((J.T @ (weights * error)) > 0))
        J = np.where(blocked, 0.0, J)
        step = J.T @ np.linalg.solve(J @ J.T + damping * np.eye(6), weights * error)
        there = np.clip(q + np.clip(step, -0.2, 0.2), low, high)
        after = _gap(tree, leg, target, values, free, there)
        if float(np.sum((weights * after[0]) ** 2)) < cost:
            q, (error, jacobian), damping = there, after, max(damping / 5, 1e-9)
        else:
            damping *= 10
            if damping > 1e3:
                break
    values.update(zip((joint.name for joint in free), q.tolist(), strict=True))


def _range(joint: Joint) -> tuple[float, float]:
    spare = min(WITHIN, 0.1 * (joint.upper - joint.lower)) if math.isfinite(joint.upper - joint.lower) else 0.0
    return joint.lower + spare, joint.upper - spare


def _gap(
    tree: Tree, leg: Leg, target: Array, values: Mapping[str, float], free: Sequence[Joint], q: Array
) -> tuple[Array, Array]:
    """How far the sole is from its place, position and rotation vector, and how the joints move it (6 × joints)."""
    given = {**values, **dict(zip((joint.name for joint in free), q.tolist(), strict=True))}
    first = leg.joints[0]
    frame = tree.where[first.parent]  # nothing above the leg moves
    axes: list[tuple[Array, Array, bool] | None] = []
    links = _links_between(tree, first.parent, leg.sole.link)
    for joint in links:
        frame = frame @ joint.at.matrix
        if joint in free:
            turned = frame[:3, :3] @ np.array(joint.axis) / np.linalg.norm(joint.axis)
            axes.append((turned, frame[:3, 3].copy(), joint.kind == "prismatic"))
        if joint.kind != "fixed":
            at = given.get(joint.name, 0.0)
            if joint.mimic is not None:
                at = joint.mimic.ratio * given.get(joint.mimic.of, 0.0) + joint.mimic.offset
            frame = frame @ joint.motion(at)
    sole = frame @ leg.sole.at.matrix
    turn = target[:3, :3] @ sole[:3, :3].T
    rotation = 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    jacobian = np.zeros((6, len(free)))
    for column, each in enumerate(axes):
        if each is not None:
            axis, point, slides = each
            jacobian[:3, column] = axis if slides else np.cross(axis, sole[:3, 3] - point)
            jacobian[3:, column] = 0.0 if slides else axis
    return np.concatenate([target[:3, 3] - sole[:3, 3], rotation]), jacobian


def _links_between(tree: Tree, above: str, link: str) -> list[Joint]:
    """All joints, fixed ones too, from one link down to another."""
    hangs, found = {joint.child: joint for joint in tree.robot.joints}, list[Joint]()
    while link != above:
        found.insert(0, hangs[link])
        link = hangs[link].parent
    return found


def _com_ahead(robot: Robot, values: Mapping[str, float], legs: Sequence[Leg]) -> float:
    """How far ahead of the middle of the soles the centre of mass is."""
    q = np.array([values[name] for name in robot.joint_names])
    where = geometry.placements(robot, q)
    middle = np.mean([(where[leg.sole.link] @ leg.sole.at.matrix)[0, 3] for leg in legs])
    return float(geometry.com(robot, q)[0] - middle)
