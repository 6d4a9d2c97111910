"""The robot as a Pinocchio model, for everything that is not in the loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio as pin  # type: ignore[import-untyped]

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
