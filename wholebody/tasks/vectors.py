"""How goals are written: as fields of tasks, with their sizes, and brought to unit length where they have one."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadTask
from wholebody.model.layout import Array
from wholebody.parameters import Size
from wholebody.rotations import quaternion_of_matrix

Vector3 = Annotated[Any, Size(3)]
"""Given as whatever people type; kept as an array."""

Vector2 = Annotated[Any, Size(2)]
Vector6 = Annotated[Any, Size(6)]
Quaternion = Annotated[Any, Size(4)]
"""x y z w, of any length but zero."""

ROTATION_TOLERANCE = 1e-5
"""How far the rows of a rotation matrix may be from length 1 and right angles."""

SHORTEST = 1e-6
"""A quaternion or a direction shorter than this says nothing."""


def checked_quaternion(task: str, given: npt.ArrayLike) -> Array:
    """A quaternion of unit length, from one of any length but zero, or from a rotation matrix.

    Written out in numbers: goals are set in loops, and numpy takes ten times as long for nine of them.
    """
    values = np.array(given, dtype=np.float64)
    if values.shape == (3, 3):
        if not _is_rotation(values.tolist()):
            raise BadTask(f"task '{task}': the goal is no rotation matrix:\n{values}")
        return quaternion_of_matrix(values)
    if values.shape != (4,) or not all(map(math.isfinite, numbers := values.tolist())):
        raise BadTask(f"task '{task}': a goal orientation is a quaternion x y z w or a 3 × 3 matrix, not {given!r}")
    length = math.hypot(*numbers)
    if length < SHORTEST:
        raise BadTask(f"task '{task}': the goal quaternion {values} has length 0; no rotation is (0, 0, 0, 1)")
    return np.asarray(values / length)


def _is_rotation(matrix: list[list[float]]) -> bool:
    """Whether the first two rows are perpendicular and of length 1, and the third is their cross product."""
    (a, b, c), (d, e, f), (g, h, i) = matrix
    lengths = a * a + b * b + c * c - 1, d * d + e * e + f * f - 1, a * d + b * e + c * f
    across = b * f - c * e - g, c * d - a * f - h, a * e - b * d - i
    return all(abs(each) < ROTATION_TOLERANCE for each in (*lengths, *across))


def checked_direction(task: str, what: str, given: npt.ArrayLike) -> Array:
    """A direction of unit length."""
    values = np.array(given, dtype=np.float64)
    if values.shape != (3,) or not np.isfinite(values).all() or np.linalg.norm(values) < SHORTEST:
        raise BadTask(f"task '{task}': {what} must be three numbers that are not all zero, not {given!r}")
    return values / np.linalg.norm(values)
