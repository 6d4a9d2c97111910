"""Poses: where the robot is and where it was told to be, as the few numbers that a page needs in every frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wholebody.channels import Channel, Reader
from wholebody.drivers import Names
from wholebody.errors import ChannelError
from wholebody.messages import State
from wholebody.robots.geometry import standing
from wholebody.robots.robot import Array, Joint, Placement, Robot, Shape
from wholebody.rotations import quaternion_of_matrix


class Poses:
    """The newest state as bytes: x, y, z and quaternion of the base, then joints measured, then joints told.

    If nobody knows where the base is, it stands where the robot would stand in the middle of the world.
    """

    def __init__(self, robot: Robot, names: Names, base: Callable[[], Array | None]) -> None:
        """`base` says where the base is, as a 4 × 4 frame, if anybody knows."""
        self._robot, self._names, self._where = robot, names, base
        n = len(robot.joint_names)
        self._numbers = np.zeros(7 + 2 * n, np.float32)
        self._base, self._measured, self._told = self._numbers[:7], self._numbers[7 : 7 + n], self._numbers[7 + n :]
        at = standing(robot, "stand" if "stand" in robot.postures else next(iter(robot.postures), "stand"))
        self._base[:3], self._base[3:] = at[:3, 3], xyzw(at[:3, :3])
        self._reader: Reader[State] | None = None

    def newest(self) -> bytes | None:
        """The newest state; None if there is none since the last one."""
        try:
            if self._reader is None:
                self._reader = Channel(self._names.state, self._robot.state_dtype()).reader()
            if not self._reader.latest():
                return None
        except ChannelError:
            self._reader = None
            return None
        state = self._reader.message
        base = self._where()
        if base is not None:
            self._base[:3], self._base[3:] = base[:3, 3], xyzw(base[:3, :3])
        np.copyto(self._measured, np.nan_to_num(state.position), casting="same_kind")
        np.copyto(self._told, np.nan_to_num(state.reference), casting="same_kind")
        return self._numbers.tobytes()


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
    return quaternion_of_matrix(rotation)
