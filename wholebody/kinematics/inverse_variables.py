"""What inverse kinematics may move: the base, joints that one motor moves, and how willingly each of them moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from wholebody.errors import BadGoal, UnknownName
from wholebody.model.layout import Array, Integers
from wholebody.model.model import Model

BASE = "base"
"""The root of any robot, by whatever name."""

LIGHTEST = 1e-3
"""The least share of the robot's mass that a joint is said to move: fingers weigh next to nothing."""


@dataclass(frozen=True)
class Variables:
    """The numbers z that may change; joints that one motor moves are one of them.

    variable, ratio   of each column of v: the variable that moves it (−1: none), and how far it goes with it
    place             in q, of each variable; −1 for the six of the base
    lower, upper      limits of each variable
    """

    variable: Integers
    ratio: Array
    place: Integers
    lower: Array
    upper: Array


def support_of(model: Model, fixed: str | None) -> int:
    """The frame about which the base moves; −1 if the base is fixed itself, or free (None)."""
    robot = model.robot
    if fixed is None or fixed in (BASE, robot.root):
        return -1
    frame = model.frame(fixed)
    if not model.floating:
        raise BadGoal(f"{robot.name} is bolted down, so '{fixed}' cannot be what stands still; '{robot.root}' is")
    return frame


def variables_of(model: Model, joints: Iterable[str] | None, free_base: bool) -> Variables:
    """The variables of a model: the base if it is free, and joints, or groups of joints, by name (None: all)."""
    robot, base, offset = model.robot, model.nv - len(model.joint_names), model.nq - model.nv
    slaves = {coupling.slave: coupling for coupling in robot.couplings}
    chosen = set(_chosen(model, joints))
    variable, ratio = np.full(model.nv, -1, np.int64), np.ones(model.nv)
    place: list[int] = []
    bounds: list[tuple[float, float]] = []
    if free_base:
        variable[:base] = np.arange(base)
        place, bounds = [-1] * base, [(-np.inf, np.inf)] * base
    for joint in robot.moving:
        if joint.name in chosen and joint.name not in slaves:
            variable[model.column(joint.name)] = len(place)
            place.append(model.column(joint.name) + offset)
            bounds.append((joint.lower, joint.upper))
    for coupling in robot.couplings:
        z = variable[model.column(coupling.master)]
        if z < 0:
            continue
        column, slave = model.column(coupling.slave), robot.joint(coupling.slave)
        variable[column], ratio[column] = z, coupling.ratio
        ends = sorted((slave.lower / coupling.ratio, slave.upper / coupling.ratio))
        bounds[z] = (max(bounds[z][0], ends[0]), min(bounds[z][1], ends[1]))
    if not place:
        raise BadGoal(f"nothing of {robot.name} may move: name joints, or free the base")
    lower, upper = np.array(bounds).T.copy()
    return Variables(variable, ratio, np.array(place, np.int64), lower, upper)


def _chosen(model: Model, joints: Iterable[str] | None) -> Iterable[str]:
    if joints is None:
        return model.joint_names
    names: list[str] = []
    for each in [joints] if isinstance(joints, str) else joints:
        if each in model.robot.groups:
            names += model.robot.groups[each]
        elif each in model.robot.index:
            names.append(each)
        else:
            raise UnknownName("moving joint or group", each, (*model.joint_names, *model.robot.groups))
    return names


def moved_mass(model: Model, support: int = -1) -> Array:
    """The share of the robot's mass that each column of v moves (Eq. 4.12), seen from what stands still.

    That is everything beyond the joint; for joints between the root and a support, everything on the root's side.
    """
    robot = model.robot
    beyond = {link.name: link.mass for link in robot.links}
    for joint in reversed(robot.joints):
        beyond[joint.parent] += beyond[joint.child]
    above = {joint.child: joint for joint in robot.joints}
    path = set()
    link = _link_of(model, support) if support >= 0 else robot.root
    while link in above:
        path.add(above[link].name)
        link = above[link].parent
    share = np.ones(model.nv)
    share[model.nv - len(model.joint_names) :] = 0.0
    for joint in robot.joints:
        master = joint.mimic.of if joint.mimic is not None else joint.name
        if master in robot.index:
            mass = beyond[joint.child] if joint.name not in path else robot.mass - beyond[joint.child]
            share[model.column(master)] += mass / robot.mass
    return np.clip(share, LIGHTEST, 1.0)


def _link_of(model: Model, frame: int) -> str:
    """The link that a frame is fixed to."""
    robot = model.robot
    links = [link.name for link in robot.links]
    links += [surface.link for surface in robot.surfaces]
    links += [sensor.link for sensor in robot.sensors]
    return links[frame]


def mobility_of(
    model: Model, variables: Variables, mass: bool, support: int, joint_weights: Mapping[str, float]
) -> Array:
    """W⁻¹ of each variable, of mean 1: how willingly it moves."""
    weight = moved_mass(model, support) if mass else np.ones(model.nv)
    for joint, factor in joint_weights.items():
        if not (np.isfinite(factor) and factor > 0):
            raise BadGoal(f"the weight of joint '{joint}' is {factor}; it must be a number above 0")
        weight[model.column(joint)] *= factor
    total = np.zeros(len(variables.place))
    moves = variables.variable >= 0
    np.add.at(total, variables.variable[moves], weight[moves])
    mobility: Array = 1.0 / total
    mobility /= mobility.mean()
    return mobility
