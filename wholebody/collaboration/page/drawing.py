"""How a browser draws a robot: its links, joints and shapes as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np

from wholebody.robots.geometry import quaternion
from wholebody.robots.robot import Array, Joint, Placement, Robot, Shape


def drawing(robot: Robot) -> dict[str, Any]:
    """Links with their shapes, joints with what moves them; meshes are left out, so a robot of meshes has no skin."""
    return {
        "name": robot.name,
        "root": robot.root,
        "count": len(robot.joint_names),
        "links": [{"name": link.name, "shapes": [_shape(each) for each in link.shapes]} for link in robot.links],
        "joints": [_joint(robot, each) for each in robot.joints],
    }


def _joint(robot: Robot, joint: Joint) -> dict[str, Any]:
    """A joint turns by ratio · q[index] + offset."""
    index, ratio, offset = robot.index.get(joint.name, 0), 1.0, 0.0
    if joint.mimic is not None:
        index, ratio, offset = robot.index[joint.mimic.of], joint.mimic.ratio, joint.mimic.offset
    return {
        "kind": joint.kind,
        "parent": joint.parent,
        "child": joint.child,
        "axis": joint.axis,
        "at": _placement(joint.at),
        "index": index,
        "ratio": ratio,
        "offset": offset,
    }


def _shape(shape: Shape) -> dict[str, Any]:
    return {"kind": shape.kind, "size": shape.size, "at": _placement(shape.at)}


def _placement(placement: Placement) -> dict[str, Any]:
    return {"xyz": placement.xyz, "quaternion": xyzw(placement.rotation).tolist()}


def xyzw(rotation: Array) -> Array:
    """The unit quaternion of a rotation, the scalar last, as pages and states have it."""
    return np.roll(quaternion(rotation), -1)
