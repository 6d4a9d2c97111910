"""Capture: a captured motion in our conventions (metres, z up, x forward, right-handed), with its parts known.

BVH files say nothing of units and axes. Both are given, or read off the skeleton at rest, in which it stands upright:

    up        the axis along which the shoulders are farthest from the ankles
    forward   the axis along which the toes are farthest from the ankles (level, and across the hips)
    handed    up × forward points to the left hip in right-handed axes, to the right hip in left-handed ones; without
              toes, axes are taken to be right-handed
    unit      the one of UNITS that gives the legs (hip, knee, ankle) the length nearest to a grown person's
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wholebody.errors import BadMotion, UnknownName
from wholebody.motion.capture.bvh import Bvh
from wholebody.motion.capture.skeleton import Skeleton, find_parts
from wholebody.motion.trajectory import Array

UNITS = {"metre": 1.0, "centimetre": 0.01, "millimetre": 0.001, "inch": 0.0254, "CMU unit": 0.0254 / 0.45}
"""Metres in a unit; the motion capture library of CMU counts in 1/0.45 inch."""

LEG = 0.80
"""Metres from the hip by the knee to the ankle of a grown person."""

HANDS = ("right", "left")


@dataclass(frozen=True, eq=False)
class Axes:
    """How a file's coordinates become ours: p_ours = metres · matrix · p_file."""

    matrix: Array  # rows: forward, left, up, in the axes of the file
    metres: float
    unit: str
    handed: str  # right or left

    @property
    def text(self) -> str:
        """In words."""
        forward, _, up = (("-" if row.min() < 0 else "+") + "xyz"[int(np.argmax(np.abs(row)))] for row in self.matrix)
        return f"{up} up, {forward} forward, {self.handed}-handed, 1 {self.unit} = {self.metres:.6g} m"


@dataclass(frozen=True, eq=False)
class Capture:
    """A captured motion: where each node is in the world in each frame, and how it is turned from its rest.

    positions   frames × nodes × 3, metres
    rotations   frames × nodes × 3 × 3; of one who stands upright and faces along x they are 1
    rest        nodes × 3, of one who stands upright and faces along x, the root at the origin
    parts       the node of each body part (body_parts.PARTS)
    """

    skeleton: Skeleton
    frame_time: float
    positions: Array
    rotations: Array
    rest: Array
    parts: Mapping[str, int]
    axes: Axes
    source: str = "the capture"

    @classmethod
    def read(
        cls,
        path: str | Path,
        *,
        parts: Mapping[str, str] | None = None,
        up: str | None = None,
        unit: str | float | None = None,
        handed: str | None = None,
    ) -> Capture:
        """Read a BVH file; what is not given is detected (see the module). A first frame at rest is cut.

        parts    joints of body parts that their names do not say: {"left_knee": "Joint07"}
        up       "y", "z", "-y" …
        unit     one of UNITS, or metres in a unit
        handed   "right" or "left"
        """
        bvh = Bvh.read(path)
        found = find_parts(bvh.skeleton, parts)
        axes = find_axes(bvh.skeleton, found, up, unit, handed)
        values = bvh.values[1:] if _begins_at_rest(bvh) else bvh.values
        placed, turn = bvh.skeleton.forward(values), axes.matrix
        return cls(
            bvh.skeleton,
            bvh.frame_time,
            axes.metres * placed.positions @ turn.T,
            turn @ placed.rotations @ turn.T,
            axes.metres * bvh.skeleton.rest @ turn.T,
            found,
            axes,
            str(path),
        )

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return (len(self.positions) - 1) * self.frame_time

    def part(self, name: str) -> Array:
        """Where a body part is, frames × 3."""
        return self.positions[:, self._node(name)]

    def turn(self, name: str) -> Array:
        """How a body part is turned from its rest, frames × 3 × 3."""
        return self.rotations[:, self._node(name)]

    def length(self, *chain: str) -> float:
        """Metres along body parts, such as hip, knee and ankle."""
        places = self.rest[[self._node(part) for part in chain]]
        return float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())

    def _node(self, name: str) -> int:
        if name not in self.parts:
            raise UnknownName("body part of the capture", name, self.parts)
        return self.parts[name]


def find_axes(
    skeleton: Skeleton, parts: Mapping[str, int], up: str | None, unit: str | float | None, handed: str | None
) -> Axes:
    """The axes and the unit of a skeleton; what is None is detected."""
    if handed not in (None, *HANDS):
        raise UnknownName("hand of axes", str(handed), HANDS)
    rest = skeleton.rest
    at = {part: rest[node] for part, node in parts.items()}
    middle = {part: (at[f"left_{part}"] + at[f"right_{part}"]) / 2 for part in ("hip", "ankle", "shoulder")}
    upwards = _largest(middle["shoulder"] - middle["ankle"]) if up is None else _named(up)
    left = at["left_hip"] - at["right_hip"]
    left = _largest(left - upwards * (left @ upwards))
    right_handed = np.cross(left, upwards)
    if "left_toe" in at and "right_toe" in at:
        ahead = (at["left_toe"] + at["right_toe"]) / 2 - middle["ankle"]
        forward = right_handed if ahead @ right_handed >= 0 else -right_handed
        if handed is None:
            handed = "right" if forward is right_handed else "left"
    handed = handed or "right"
    forward = right_handed if handed == "right" else -right_handed
    metres, name = _unit(rest, parts, unit)
    return Axes(np.array([forward, left, upwards]), metres, name, handed)


def _largest(vector: Array) -> Array:
    """The coordinate axis, with its sign, that is nearest to a vector."""
    axis = int(np.argmax(np.abs(vector)))
    if abs(vector[axis]) < 1e-9:
        raise BadMotion("the skeleton at rest has no extent: which way is up cannot be told; tell up='y' or up='z'")
    return np.asarray(np.eye(3)[axis] * np.sign(vector[axis]))


def _named(axis: str) -> Array:
    sign, letter = (-1.0, axis[1:]) if axis.startswith("-") else (1.0, axis.removeprefix("+"))
    if letter.lower() not in ("x", "y", "z"):
        raise UnknownName("axis", axis, ("x", "y", "z", "-x", "-y", "-z"))
    return np.asarray(np.eye(3)["xyz".index(letter.lower())] * sign)


def _unit(rest: Array, parts: Mapping[str, int], unit: str | float | None) -> tuple[float, str]:
    if isinstance(unit, str):
        if unit not in UNITS:
            raise UnknownName("unit", unit, UNITS)
        return UNITS[unit], unit
    if unit is not None:
        if not (np.isfinite(unit) and unit > 0):
            raise BadMotion(f"a unit of {unit} m; it must be above 0")
        return float(unit), "unit"
    leg = 0.0
    for side in ("left", "right"):
        places = rest[[parts[f"{side}_{part}"] for part in ("hip", "knee", "ankle")]]
        leg += float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum()) / 2
    if leg < 1e-9:
        raise BadMotion("the legs of the skeleton have no length, so its unit cannot be told; tell it, as unit=0.01")
    name = min(UNITS, key=lambda each: abs(np.log(UNITS[each] * leg / LEG)))
    return UNITS[name], name


def _begins_at_rest(bvh: Bvh) -> bool:
    """Whether the first frame is one that programs insert: most turns are exactly zero, unlike in the next."""
    turns = ["rotation" in channel for node in bvh.skeleton.nodes for channel in node.channels]
    if len(bvh.values) < 3 or not any(turns):
        return False
    still = [float(np.mean(frame[turns] == 0.0)) for frame in bvh.values[:2]]
    return still[0] > 0.75 and still[1] < 0.5
