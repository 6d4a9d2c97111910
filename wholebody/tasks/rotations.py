"""Rotation errors: quaternions, rotation vectors, and the shortest turn from one direction to another."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadTask
from wholebody.model.compiled import compiled, inlined
from wholebody.model.layout import Array
from wholebody.model.point_kernels import Three, cross, turned_back

SHORTEST = 1e-6
"""A quaternion or a direction shorter than this says nothing."""


def checked_quaternion(task: str, given: npt.ArrayLike) -> Array:
    """A quaternion of unit length, from one of any length but zero, or from a rotation matrix."""
    values = np.array(given, dtype=np.float64)
    if values.shape == (3, 3):
        if not np.allclose(values @ values.T, np.eye(3), atol=1e-6) or np.linalg.det(values) < 0:
            raise BadTask(f"task '{task}': the goal is no rotation matrix:\n{values}")
        return np.array(quaternion_of(values))
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


@compiled
def quaternion_of(R: Array) -> tuple[float, float, float, float]:
    """x y z w of a rotation matrix, from the largest of its four squares."""
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    if trace > 0.0:
        s = 2.0 * math.sqrt(1.0 + trace)
        return (R[2, 1] - R[1, 2]) / s, (R[0, 2] - R[2, 0]) / s, (R[1, 0] - R[0, 1]) / s, 0.25 * s
    if R[0, 0] >= R[1, 1] and R[0, 0] >= R[2, 2]:
        s = 2.0 * math.sqrt(1.0 + R[0, 0] - R[1, 1] - R[2, 2])
        return 0.25 * s, (R[0, 1] + R[1, 0]) / s, (R[0, 2] + R[2, 0]) / s, (R[2, 1] - R[1, 2]) / s
    if R[1, 1] >= R[2, 2]:
        s = 2.0 * math.sqrt(1.0 + R[1, 1] - R[0, 0] - R[2, 2])
        return (R[0, 1] + R[1, 0]) / s, 0.25 * s, (R[1, 2] + R[2, 1]) / s, (R[0, 2] - R[2, 0]) / s
    s = 2.0 * math.sqrt(1.0 + R[2, 2] - R[0, 0] - R[1, 1])
    return (R[0, 2] + R[2, 0]) / s, (R[1, 2] + R[2, 1]) / s, 0.25 * s, (R[1, 0] - R[0, 1]) / s


@compiled
def turn_between(goal: Array, R: Array) -> Three:
    """The rotation vector θ with exp(θ) R = goal, the shorter way round, in the axes R leads to."""
    a, b, c, d = quaternion_of(R)
    x, y, z, w = goal[0], goal[1], goal[2], goal[3]
    length = math.sqrt(x * x + y * y + z * z + w * w)
    x, y, z, w = x / length, y / length, z / length, w / length
    # goal ⊗ (−a −b −c d)
    ex = -w * a + x * d - y * c + z * b
    ey = -w * b + x * c + y * d - z * a
    ez = -w * c - x * b + y * a + z * d
    ew = w * d + x * a + y * b + z * c
    sine = math.sqrt(ex * ex + ey * ey + ez * ez)
    scale = 2.0 if sine < 1e-9 else 2.0 * math.atan2(sine, abs(ew)) / sine
    if ew < 0.0:
        scale = -scale
    return scale * ex, scale * ey, scale * ez


@compiled
def turn_onto(axis: Three, goal: Three) -> Three:
    """The rotation vector that takes a unit direction onto another the shortest way; opposite ones, any way."""
    x, y, z = cross(axis, goal)
    sine = math.sqrt(x * x + y * y + z * z)
    cosine = axis[0] * goal[0] + axis[1] * goal[1] + axis[2] * goal[2]
    if sine > 1e-9:
        scale = math.atan2(sine, cosine) / sine
        return scale * x, scale * y, scale * z
    if cosine > 0.0:
        return x, y, z
    a, _ = across(axis)
    return math.pi * a[0], math.pi * a[1], math.pi * a[2]


@inlined
def across(axis: Three) -> tuple[Three, Three]:
    """Two unit directions across a unit axis, right-handed with it."""
    x, y, z = axis
    if abs(x) < 0.6:
        ax, ay, az = 0.0, z, -y
    else:
        ax, ay, az = -z, 0.0, x
    length = math.sqrt(ax * ax + ay * ay + az * az)
    a = (ax / length, ay / length, az / length)
    return a, cross(axis, a)


@inlined
def relative_rotation(at: Array, reference: Array, into: Array) -> None:
    """R = R_referenceᵀ R_at, of two placements."""
    for k in range(3):
        into[0, k], into[1, k], into[2, k] = turned_back(reference, (at[0, k], at[1, k], at[2, k]))
