"""Skeleton: the joints of a captured body, and where they are when its channels have their values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadMotion, CannotImitate, UnknownName
from wholebody.motion.capture.capture import Capture
from wholebody.motion.capture.gait import Flags
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


SIDES = ("left", "right")
MIDDLE = ("pelvis", "chest")
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
    """The node of each part; `given` names joints for parts, where names do not tell or tell wrongly.

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


LEFT, RIGHT, MIDDLE_HEIGHT, BEARS = "tab:blue", "tab:red", "0.35", "black"


def draw_strip(
    capture: Capture, path: str | Path, moments: int = 8, limbs: tuple[str, ...] = (), bearing: Flags | None = None
) -> None:
    """Draw a skeleton at so many moments into a PNG file; limbs that bear have a black dot.

    It is seen from its right: up is up, and to the right is where the pelvis faces, mostly.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    ahead = np.sum(capture.turn("pelvis")[:, :2, 0], axis=0)
    ahead = ahead / max(float(np.linalg.norm(ahead)), 1e-9)
    frames = np.unique(np.linspace(0, len(capture.positions) - 1, moments).astype(int))
    figure = Figure(figsize=(2.2 * len(frames), 2.8), layout="constrained")
    FigureCanvasAgg(figure)
    grid: Any = figure.subplots(1, len(frames), squeeze=False, sharey=True)
    tall = max(1.2, float(capture.positions[frames, :, 2].max()) + 0.1)
    for axes, frame in zip(grid[0], frames, strict=True):
        places = capture.positions[frame]
        flat = np.column_stack([places[:, :2] @ ahead, places[:, 2]])
        for index, node in enumerate(capture.skeleton.nodes):
            if node.parent >= 0:
                axes.plot(*flat[[node.parent, index]].T, color=_colour(node.name), linewidth=2)
        for limb, bears in zip(limbs, bearing[frame] if bearing is not None else (), strict=False):
            if bears:
                axes.plot(*flat[capture.parts[limb]], "o", color=BEARS, markersize=5)
        middle = flat[capture.parts["pelvis"], 0]
        axes.set(xlim=(middle - 0.9, middle + 0.9), ylim=(-0.15, tall), aspect="equal")
        axes.set_title(f"{frame * capture.frame_time:.2f} s", fontsize=9)
        axes.axhline(0.0, color="0.7", linewidth=1)
        axes.tick_params(labelsize=7)
    figure.savefig(path, dpi=100)


def _colour(name: str) -> str:
    """Left and right apart."""
    small = name.lower()
    if small.startswith(("left", "l_")) or small.endswith((".l", "_l")) or name.startswith("L"):
        return LEFT
    if small.startswith(("right", "r_")) or small.endswith((".r", "_r")) or name.startswith("R"):
        return RIGHT
    return MIDDLE_HEIGHT
