"""Goals of inverse kinematics: where a frame is to be, how it is to stand, where the centre of mass is to be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wholebody import _kernels
from wholebody.errors import BadGoal, UnknownName
from wholebody.model.layout import Array, Integers
from wholebody.model.model import Model

LINEAR, ANGULAR, COM = 0, 1, 2
"""What a coordinate of a goal is of: a frame's position, its rotation, or the centre of mass."""

ROTATION_TOLERANCE = 1e-6
"""A matrix R is a rotation if RᵀR is 1, and its determinant, to this."""

FARTHEST = 1e6
"""Metres, beyond which a goal is taken for a mistake."""


@dataclass(frozen=True)
class PointGoal:
    """The origin of a frame at a point, on all axes of the world or on some: axes="xy" leaves the height free."""

    frame: str
    position_in_world: npt.ArrayLike
    weight: float = 1.0
    axes: str = "xyz"

    @property
    def target(self) -> npt.ArrayLike:
        """What is to be reached."""
        return self.position_in_world


@dataclass(frozen=True)
class OrientationGoal:
    """The axes of a frame turned as told, its origin anywhere."""

    frame: str
    rotation_to_world: npt.ArrayLike
    weight: float = 1.0

    @property
    def target(self) -> npt.ArrayLike:
        """What is to be reached."""
        return self.rotation_to_world


@dataclass(frozen=True)
class PoseGoal:
    """A frame at a place and turned as told, a 4 × 4 transform; errors of 1 m and 1 rad weigh what they are told to."""

    frame: str
    frame_to_world: npt.ArrayLike
    weight: float = 1.0
    rotation_weight: float = 1.0

    @property
    def target(self) -> npt.ArrayLike:
        """What is to be reached."""
        return self.frame_to_world


@dataclass(frozen=True)
class ComGoal:
    """The centre of mass at a point; axes="xy" leaves its height free."""

    com_in_world: npt.ArrayLike
    weight: float = 1.0
    axes: str = "xyz"

    @property
    def target(self) -> npt.ArrayLike:
        """What is to be reached."""
        return self.com_in_world


Goal = PointGoal | OrientationGoal | PoseGoal | ComGoal

SHAPES = {PointGoal: (3,), OrientationGoal: (3, 3), PoseGoal: (4, 4), ComGoal: (3,)}


def name_of(goal: Goal) -> str:
    """How a goal is called in messages."""
    return "the centre of mass" if isinstance(goal, ComGoal) else f"'{goal.frame}'"


def flat_target(goal: Goal, given: npt.ArrayLike) -> Array:
    """The target of a goal as rotation by rows, then position; BadGoal if it is none."""
    shape = SHAPES[type(goal)]
    try:
        target = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadGoal(f"the goal of {name_of(goal)} is no array of numbers: {error}") from error
    if target.shape != shape:
        raise BadGoal(f"the goal of {name_of(goal)} has shape {target.shape}; a {type(goal).__name__} needs {shape}")
    if not np.isfinite(target).all():
        raise BadGoal(f"the goal of {name_of(goal)} has values that are no numbers: {target.tolist()}")
    if np.abs(target).max() > FARTHEST:
        raise BadGoal(f"the goal of {name_of(goal)} is more than {FARTHEST:g} m away: {target.tolist()}")
    flat = np.zeros(12)
    if shape == (3,):
        flat[9:] = target
        return flat
    rotation = target[:3, :3]
    off = max(float(np.abs(rotation.T @ rotation - np.eye(3)).max()), abs(float(np.linalg.det(rotation)) - 1.0))
    if off > ROTATION_TOLERANCE:
        raise BadGoal(
            f"the goal of {name_of(goal)} is no rotation: RᵀR or the determinant is off by {off:.2g} "
            f"(at most {ROTATION_TOLERANCE:g}); use a right-handed, orthonormal matrix"
        )
    flat[:9] = rotation.ravel()
    if shape == (4, 4):
        if np.abs(target[3] - (0.0, 0.0, 0.0, 1.0)).max() > 1e-12:
            raise BadGoal(f"the goal of {name_of(goal)} has the last row {target[3].tolist()}; it must be 0 0 0 1")
        flat[9:] = target[:3, 3]
    return flat


def rotation_gap(to: Array, at: Array) -> tuple[float, float, float]:
    """The rotation vector of R* Rᵀ, in world, by the shorter way: R* is 3 × 3 or by rows, `at` a 4 × 4 placement."""
    return _kernels.kinematics_rotation_gap(np.ascontiguousarray(to), np.ascontiguousarray(at))


def rows_of(goal: Goal, index: int) -> list[tuple[int, int, int, float]]:
    """One row for each coordinate of a goal: its index, what it is of, the axis, and √weight."""
    match goal:
        case PointGoal():
            return [(index, LINEAR, axis, _root(goal, goal.weight)) for axis in _axes(goal, goal.axes)]
        case ComGoal():
            return [(index, COM, axis, _root(goal, goal.weight)) for axis in _axes(goal, goal.axes)]
        case OrientationGoal():
            return [(index, ANGULAR, axis, _root(goal, goal.weight)) for axis in range(3)]
        case PoseGoal():
            place = [(index, LINEAR, axis, _root(goal, goal.weight)) for axis in range(3)]
            return place + [(index, ANGULAR, axis, _root(goal, goal.rotation_weight)) for axis in range(3)]


def _root(goal: Goal, weight: float) -> float:
    if not (np.isfinite(weight) and weight > 0):
        raise BadGoal(f"the weight of {name_of(goal)} is {weight}; it must be a number above 0, or leave the goal out")
    return float(np.sqrt(weight))


def _axes(goal: Goal, axes: str) -> list[int]:
    if not axes or len(set(axes)) < len(axes) or not set(axes) <= set("xyz"):
        raise BadGoal(f"the axes of {name_of(goal)} are '{axes}'; they must be some of x, y and z")
    return ["xyz".index(axis) for axis in sorted(axes)]


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
