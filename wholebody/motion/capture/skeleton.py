"""Skeleton: the joints of a captured body, and where they are when its channels have their values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadMotion, CannotImitate, UnknownName
from wholebody.motion.trajectory import Array

AXES = "XYZ"
POSITIONS = tuple(f"{axis}position" for axis in AXES)
ROTATIONS = tuple(f"{axis}rotation" for axis in AXES)
CHANNELS = POSITIONS + ROTATIONS


@dataclass(frozen=True)
class Node:
    """A joint, or the end of a last limb, which has no channels; parent is −1 for the root, offset in file units."""

    name: str
    parent: int
    offset: tuple[float, float, float]
    channels: tuple[str, ...] = ()
    is_end: bool = False


@dataclass(frozen=True, eq=False)
class Placed:
    """Where all nodes are in each frame: positions (frames × nodes × 3), rotations to the world (… × 3 × 3)."""

    positions: Array
    rotations: Array


@dataclass(frozen=True)
class Skeleton:
    """Nodes, each after its parent, in the order of the channels of a file."""

    nodes: tuple[Node, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all nodes."""
        return tuple(node.name for node in self.nodes)

    @cached_property
    def channels(self) -> int:
        """How many numbers a frame has."""
        return sum(len(node.channels) for node in self.nodes)

    @cached_property
    def rest(self) -> Array:
        """Where the nodes are if nothing turns and the root is at the origin, nodes × 3."""
        places = np.zeros((len(self.nodes), 3))
        for index, node in enumerate(self.nodes):
            if node.parent >= 0:
                places[index] = places[node.parent] + node.offset
        return places

    def forward(self, values: npt.ArrayLike) -> Placed:
        """Place all nodes, for frames of channel values in the units of the file and degrees.

            p = p_parent + R_parent t,   R = R_parent R₁ R₂ R₃

        with the rotations of a node in the order of its channels. t is its offset; where it has position channels,
        these come on top of the offset, or replace it if on average they are nearer to it than to zero.
        """
        frames = np.asarray(values, np.float64)
        if frames.ndim != 2 or frames.shape[1] != self.channels:
            raise BadMotion(f"frames of {self.channels} channels, not an array of shape {frames.shape}")
        positions = np.empty((len(frames), len(self.nodes), 3))
        rotations = np.empty((len(frames), len(self.nodes), 3, 3))
        first = 0
        for index, node in enumerate(self.nodes):
            here = frames[:, first : first + len(node.channels)]
            first += len(node.channels)
            shift, turn = _translation(node, here), _rotation(node, here)
            if node.parent < 0:
                positions[:, index], rotations[:, index] = shift, turn
                continue
            above = rotations[:, node.parent]
            positions[:, index] = positions[:, node.parent] + (above @ shift[:, :, None])[:, :, 0]
            rotations[:, index] = above @ turn
        return Placed(positions, rotations)


def _translation(node: Node, values: Array) -> Array:
    """The way from a node's parent, in the parent's axes, frames × 3."""
    moved = np.zeros((len(values), 3))
    has = np.zeros(3, bool)
    for column, channel in enumerate(node.channels):
        if channel in POSITIONS:
            axis = POSITIONS.index(channel)
            moved[:, axis], has[axis] = values[:, column], True
    offset = np.array(node.offset)
    mean = moved.mean(axis=0)[has] if len(values) else np.zeros(int(has.sum()))
    if np.linalg.norm(mean - offset[has]) < np.linalg.norm(mean):
        return np.asarray(np.where(has, moved, offset))
    return np.asarray(moved + offset)


def _rotation(node: Node, values: Array) -> Array:
    """The rotation of a node in its parent, frames × 3 × 3."""
    result = np.broadcast_to(np.eye(3), (len(values), 3, 3))
    for column, channel in enumerate(node.channels):
        if channel in ROTATIONS:
            result = result @ _turn(ROTATIONS.index(channel), np.radians(values[:, column]))
    return result


def _turn(axis: int, angles: Array) -> Array:
    """Rotations about a coordinate axis."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    result = np.zeros((len(angles), 3, 3))
    result[:, axis, axis] = 1.0
    result[:, i, i] = result[:, j, j] = np.cos(angles)
    result[:, j, i] = np.sin(angles)
    result[:, i, j] = -result[:, j, i]
    return result


MIDDLE = ("pelvis", "chest")
SIDES = ("left", "right")
OF_A_SIDE = ("hip", "knee", "ankle", "toe", "shoulder", "elbow", "wrist")
PARTS = MIDDLE + tuple(f"{side}_{part}" for side in SIDES for part in OF_A_SIDE)
OPTIONAL = frozenset({"chest", "left_toe", "right_toe"})

ORDER = ("pelvis", "chest", *OF_A_SIDE)


@dataclass(frozen=True)
class Naming:
    """How a program calls the parts, in small letters without anything between them; # stands for the side."""

    title: str
    sides: tuple[str, str]
    names: tuple[str, ...]  # in the ORDER; alternatives parted by |

    def find(self, known: Mapping[str, int]) -> dict[str, int]:
        """The parts that are there."""
        found: dict[str, int] = {}
        for part, alternatives in zip(ORDER, self.names, strict=True):
            for side, letter in zip(SIDES, self.sides, strict=True):
                place = part if part in MIDDLE else f"{side}_{part}"
                for name in alternatives.replace("#", letter).split("|"):
                    if name in known:
                        found.setdefault(place, known[name])
        return found


NAMINGS = (
    Naming(
        "MotionBuilder, CMU, Mixamo",
        ("left", "right"),
        ("hips", "spine2|spine1|spine", "#upleg", "#leg", "#foot", "#toebase|#toe", "#arm", "#forearm", "#hand"),
    ),
    Naming(
        "anatomic",
        ("left", "right"),
        (
            "hips|hip|pelvis", "chest4|chest3|chest2|chest|spine2|spine1|spine",
            "#hip", "#knee", "#ankle|#foot", "#toe|#toes|#ball", "#shoulder", "#elbow", "#wrist|#hand",
        ),
    ),
    Naming(
        "Blender",
        ("l", "r"),
        (
            "hips|pelvis|root|spine", "chest|spine003|spine3|spine002|spine2|spine",
            "thigh#|upperleg#", "shin#|lowerleg#", "foot#", "toe#|toes#", "upperarm#", "forearm#|lowerarm#", "hand#",
        ),
    ),
    Naming(
        "Unreal",
        ("l", "r"),
        (
            "pelvis|root", "spine03|spine02|spine",
            "thigh#", "calf#", "foot#", "ball#", "upperarm#", "lowerarm#", "hand#",
        ),
    ),
    Naming(
        "3ds Max Biped",
        ("l", "r"),
        ("pelvis", "spine2|spine1|spine", "#thigh", "#calf", "#foot", "#toe0", "#upperarm", "#forearm", "#hand"),
    ),
    Naming(
        "Poser, DAZ",
        ("l", "r"),
        ("hip|hips", "chest|abdomen", "#thigh", "#shin", "#foot", "#toe|#toes", "#shldr", "#forearm", "#hand"),
    ),
)  # fmt: skip
"""Common skeletons. Each is taken as a whole: `LeftShoulder` is a collar bone to one and an upper arm to another."""


def find_parts(skeleton: Skeleton, given: Mapping[str, str] | None = None) -> dict[str, int]:
    """The node of each part; `given` names joints for parts, where names do not say it or are wrong.

    The chest and the toes may be missing; CannotImitate if another part is.
    """
    joints = {node.name: index for index, node in enumerate(skeleton.nodes) if not node.is_end}
    chosen = {}
    for part, name in (given or {}).items():
        if part not in PARTS:
            raise UnknownName("body part", part, PARTS)
        if name not in joints:
            raise UnknownName("joint of the captured skeleton", name, joints)
        chosen[part] = joints[name]
    plain = {_plain(name): index for name, index in joints.items()}
    best = max((naming.find(plain) | chosen for naming in NAMINGS), key=len)
    missing = [part for part in PARTS if part not in best and part not in OPTIONAL]
    if missing:
        shown = ", ".join(list(joints)[:30])
        raise CannotImitate(
            f"no joint of the captured skeleton is known as {', '.join(missing)}: tell which they are, as in "
            f"parts={{'{missing[0]}': '…'}}; its joints are: {shown}"
        )
    return best


def _plain(name: str) -> str:
    """A joint's name in small letters and digits, without the name of a figure before it."""
    return re.sub(r"^(mixamorig|bip0*1)(?=.)", "", re.sub(r"[^a-z0-9]", "", name.rpartition(":")[2].lower()))
