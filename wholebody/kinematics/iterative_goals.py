"""Goals of inverse kinematics: where a frame is to be, how it is to stand, where the centre of mass is to be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wholebody import _kernels
from wholebody.errors import BadGoal
from wholebody.model.layout import Array

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
