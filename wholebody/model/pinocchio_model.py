"""The robot as a Pinocchio model, for everything that is not in the loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio as pin  # type: ignore[import-untyped]

from wholebody.errors import BadRobot
from wholebody.model.layout import HEADER, Array, Integers
from wholebody.robots.robot import Joint, Link, Placement, Robot, Sensor, Surface

BASE = "base"
"""The name of the joint of a floating base."""


def pinocchio_model(robot: Robot, gravity: npt.ArrayLike = (0.0, 0.0, -9.81)) -> Any:
    """Build the robot as a `pinocchio.Model`, with its joints in the robot's order.

    Every joint that moves is one number, continuous ones and those that mimic others too; links behind fixed joints
    are part of the body before. Links, surfaces and sensors are frames.
    """
    model = pin.Model()
    model.name = robot.name
    model.gravity.linear = np.array(gravity, dtype=float)
    root = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), BASE) if robot.floating else 0
    where: dict[str, tuple[int, Any]] = {robot.root: (root, pin.SE3.Identity())}  # joint and placement of each link
    for joint in robot.joints:
        parent, placement = where[joint.parent]
        at = placement * _se3(joint.at)
        if joint.kind != "fixed":
            parent, at = model.addJoint(parent, _joint(joint), at, joint.name), pin.SE3.Identity()
            model.armature[model.joints[parent].idx_v] = joint.rotor_inertia
        where[joint.child] = parent, at
    for link in robot.links:
        body, at = where[link.name]
        if link.mass > 0:
            model.appendBodyToJoint(body, _inertia(link), at)
        _add_frame(model, link.name, body, at, pin.FrameType.BODY)
    parts: tuple[Surface | Sensor, ...] = (*robot.surfaces, *robot.sensors)
    for each in parts:
        body, at = where[each.link]
        _add_frame(model, each.name, body, at * _se3(each.at), pin.FrameType.OP_FRAME)
    return model


def _joint(joint: Joint) -> Any:
    axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
    return (
        pin.JointModelPrismaticUnaligned(axis) if joint.kind == "prismatic" else pin.JointModelRevoluteUnaligned(axis)
    )


def _se3(placement: Placement) -> Any:
    return pin.SE3(placement.rotation, np.array(placement.xyz, dtype=float))


def _inertia(link: Link) -> Any:
    return pin.Inertia(link.mass, np.array(link.com, dtype=float), link.inertia_matrix)


def _add_frame(model: Any, name: str, joint: int, at: Any, kind: Any) -> None:
    model.addFrame(pin.Frame(name, joint, 0, at, kind), False)


def moving_bodies(robot: Robot) -> tuple[Joint, ...]:
    """The joints that move a body, mimicking ones too: body i of the kernels hangs from joint i − 1 of these."""
    return tuple(joint for joint in robot.joints if joint.kind != "fixed")


def mimic_matrix(robot: Robot) -> Array:
    """G, constant: the velocities of all joints that move are G v, with those that mimic others among them."""
    base = 6 if robot.floating else 0
    joints = moving_bodies(robot)
    G = np.zeros((base + len(joints), base + len(robot.moving)))
    G[:base, :base] = np.eye(base)
    for row, joint in enumerate(joints, start=base):
        leader, ratio, _ = _leader(joint)
        G[row, base + robot.index[leader]] = ratio
    return G


def mimic_offset(robot: Robot) -> Array:
    """The constant part of the joints' positions: those of all joints that move are G q + this."""
    return np.array([_leader(joint)[2] for joint in moving_bodies(robot)])


def flat_integers(robot: Robot, pinocchio: Any, watched: tuple[int, ...], groups: Integers) -> Integers:
    """Sizes; of bodies parents, ends, kinds and columns; bodies of frames, watched frames, groups of columns."""
    base = 6 if robot.floating else 0
    joints = moving_bodies(robot)
    nv = base + len(robot.moving)
    header = [len(joints) + 1, len(pinocchio.frames) - 1, nv, nv + robot.floating, len(watched), robot.floating]
    header += [0] * (HEADER - len(header))
    shift = 1 if robot.floating else 0  # Pinocchio's joint 1 is the base
    parents = [0] + [max(pinocchio.parents[i] - shift, 0) for i in range(1 + shift, pinocchio.njoints)]
    slides = [0] + [int(joint.kind == "prismatic") for joint in joints]
    columns = [0] + [base + robot.index[_leader(joint)[0]] for joint in joints]
    bodies = [max(frame.parentJoint - shift, 0) for frame in list(pinocchio.frames)[1:]]
    parts = (header, parents, *_ends(parents, columns), slides, columns, bodies, watched, groups)
    return np.concatenate([np.asarray(part, np.int64) for part in parts])


def _ends(parents: list[int], columns: list[int]) -> tuple[list[int], list[int]]:
    """The body after the last one of each subtree, and the column after the last one that moves it.

    Joints are in order depth first, so that a subtree is a run of bodies. The second is 0 where columns of the subtree
    are no run, or move anything else, or the body's own moves several.
    """
    bodies = len(parents)
    ends = list(range(1, bodies + 1))
    for body in range(bodies - 1, 0, -1):
        ends[parents[body]] = max(ends[parents[body]], ends[body])
    last = [0] * bodies
    for body in range(1, bodies):
        inside, outside = columns[body : ends[body]], columns[1:body] + columns[ends[body] :]
        run = set(range(columns[body], columns[body] + len(set(inside))))
        if set(inside) == run and run.isdisjoint(outside) and inside.count(columns[body]) == 1:
            last[body] = columns[body] + len(run)
    return ends, last


def flat_numbers(robot: Robot, pinocchio: Any, compensated: Array) -> Array:
    """Placements, ratios and inertias of bodies, placements of frames, rotor inertias, mask and gravity."""
    joints = moving_bodies(robot)
    shift = 1 if robot.floating else 0
    turned = [np.eye(3)] + [_onto_z(joint.axis) for joint in joints]  # from a body's own frame to Pinocchio's
    if shift:
        turned = [np.eye(3), *turned]
    placements, inertias = [np.eye(3, 4)], [_ten(pinocchio.inertias[shift], np.eye(3))]
    for i in range(1 + shift, pinocchio.njoints):
        placements.append(_twelve(pinocchio.jointPlacements[i], turned[pinocchio.parents[i]], turned[i]))
        inertias.append(_ten(pinocchio.inertias[i], turned[i]))
    scales = [(0.0, 0.0)] + [_leader(joint)[1:] for joint in joints]
    frames = [_twelve(frame.placement, turned[frame.parentJoint], np.eye(3)) for frame in list(pinocchio.frames)[1:]]
    rotor = mimic_matrix(robot).T ** 2 @ pinocchio.armature
    parts = (placements, scales, inertias, frames, rotor, compensated, pinocchio.gravity.linear)
    numbers = np.concatenate([np.asarray(part, float).ravel() for part in parts])
    if not np.isfinite(numbers).all():
        raise BadRobot(f"{robot.name}: a placement, inertia or the gravity is not a number")
    return numbers


def _leader(joint: Joint) -> tuple[str, float, float]:
    """The joint that gives this one its position, the ratio and the offset: position = ratio · leader + offset."""
    if joint.mimic is None:
        return joint.name, 1.0, 0.0
    return joint.mimic.of, joint.mimic.ratio, joint.mimic.offset


def _onto_z(axis: tuple[float, float, float]) -> Array:
    """The shortest rotation that takes z onto the axis."""
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    if z < -1 + 1e-9:
        return np.diag([1.0, -1.0, -1.0]) @ _onto_z((x, -y, -z))
    K = np.array([[0.0, 0.0, x], [0.0, 0.0, y], [-x, -y, 0.0]])
    turned: Array = np.eye(3) + K + K @ K / (1 + z)
    return turned


def _twelve(placement: Any, outer: Array, inner: Array) -> Array:
    """A placement between two frames that are turned against Pinocchio's: rows of the rotation and the position."""
    twelve: Array = np.c_[outer.T @ placement.rotation @ inner, outer.T @ placement.translation]
    return twelve


def _ten(inertia: Any, turned: Array) -> Array:
    """Mass, centre of mass and inertia about it in a frame that is turned against Pinocchio's."""
    I = turned.T @ inertia.inertia @ turned  # noqa: E741
    ten: Array = np.r_[inertia.mass, turned.T @ inertia.lever, I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    return ten
