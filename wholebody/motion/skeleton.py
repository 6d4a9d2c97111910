"""Skeleton: the joints of a captured body, and where they are when its channels have their values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadMotion
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
