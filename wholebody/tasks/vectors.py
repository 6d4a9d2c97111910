"""How goals are written: as fields of tasks, with their sizes, and brought to unit length where they have one."""

from __future__ import annotations

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

SHORTEST = 1e-6
"""A quaternion or a direction shorter than this says nothing."""


def checked_quaternion(task: str, given: npt.ArrayLike) -> Array:
    """A quaternion of unit length, from one of any length but zero, or from a rotation matrix."""
    values = np.array(given, dtype=np.float64)
    if values.shape == (3, 3):
        if not np.allclose(values @ values.T, np.eye(3), atol=1e-6) or np.linalg.det(values) < 0:
            raise BadTask(f"task '{task}': the goal is no rotation matrix:\n{values}")
        return quaternion_of_matrix(values)
    if values.shape != (4,) or not np.isfinite(values).all():
        raise BadTask(f"task '{task}': a goal orientation is a quaternion x y z w or a 3 × 3 matrix, not {given!r}")
    length = np.linalg.norm(values)
    if length < SHORTEST:
        raise BadTask(f"task '{task}': the goal quaternion {values} has length 0; no rotation is (0, 0, 0, 1)")
    return values / length


def checked_direction(task: str, what: str, given: npt.ArrayLike) -> Array:
    """A direction of unit length."""
    values = np.array(given, dtype=np.float64)
    if values.shape != (3,) or not np.isfinite(values).all() or np.linalg.norm(values) < SHORTEST:
        raise BadTask(f"task '{task}': {what} must be three numbers that are not all zero, not {given!r}")
    return values / np.linalg.norm(values)
