"""Rotations: quaternions x y z w and rotation matrices; rotations.h is the same for kernels in C."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def quaternion_of_matrix(R: npt.ArrayLike) -> Array:
    """The unit quaternion of a rotation matrix, from a large one of its four squares; w > 0 up to turns of 120°."""
    (a, b, c), (d, e, f), (g, h, i) = np.asarray(R, np.float64).tolist()
    trace = a + e + i
    if trace > 0:
        found = (h - f, c - g, d - b, 1.0 + trace)
    elif a >= e and a >= i:
        found = (1.0 + 2.0 * a - trace, b + d, c + g, h - f)
    elif e >= i:
        found = (b + d, 1.0 + 2.0 * e - trace, f + h, c - g)
    else:
        found = (c + g, f + h, 1.0 + 2.0 * i - trace, d - b)
    return np.array(found) / math.sqrt(sum(each * each for each in found))


def matrix_of_quaternion(quaternion: npt.ArrayLike) -> Array:
    """The rotation matrix of a unit quaternion, 3 × 3."""
    x, y, z, w = np.asarray(quaternion, np.float64).tolist()
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def matrix_about(axis: npt.ArrayLike, angle: float) -> Array:
    """The rotation by an angle about an axis of any length, 3 × 3."""
    x, y, z = np.asarray(axis, np.float64) / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + (np.sin(angle) * K + (1 - np.cos(angle)) * K @ K))


def quaternion_of_tilt(up: npt.ArrayLike) -> Array:
    """The shortest turn, body to world, of a body that sees `up` (of any length) in its own axes.

    Half-way between up in the body and the body's own z: (up × e_z, 1 + up · e_z), normalised.
    """
    x, y, z = np.asarray(up, np.float64).tolist()
    length = math.sqrt(x * x + y * y + z * z)
    x, y, z = x / length, y / length, z / length
    tilt = np.array([y, -x, 0.0, 1.0 + z] if z > -0.999999 else [1.0, 0.0, 0.0, 0.0])
    return np.asarray(tilt / np.linalg.norm(tilt))


def quaternion_of_roll_pitch(roll: float, pitch: float) -> Array:
    """An orientation without yaw, Ry(pitch) Rx(roll), in radians."""
    sr, sp, cr, cp = math.sin(roll / 2), math.sin(pitch / 2), math.cos(roll / 2), math.cos(pitch / 2)
    return np.array([cp * sr, sp * cr, -sp * sr, cp * cr])


def turned(quaternion: npt.ArrayLike, rotation_vector: npt.ArrayLike) -> Array:
    """A quaternion turned by a rotation vector in its own axes, q ⊗ exp(r / 2), of unit length."""
    x, y, z, w = np.asarray(quaternion, np.float64).tolist()
    a, b, c = np.asarray(rotation_vector, np.float64).tolist()
    angle = math.sqrt(a * a + b * b + c * c)
    s, d = math.sin(0.5 * angle) / angle if angle > 1e-6 else 0.5 - angle * angle / 48, math.cos(0.5 * angle)
    a, b, c = s * a, s * b, s * c
    product = np.array(
        [
            w * a + x * d + y * c - z * b,
            w * b - x * c + y * d + z * a,
            w * c + x * b - y * a + z * d,
            w * d - x * a - y * b - z * c,
        ]
    )
    return np.asarray(product / np.linalg.norm(product))


def roll_pitch_yaw(quaternion: npt.ArrayLike) -> Array:
    """Angles about the fixed axes, R = Rz(yaw) Ry(pitch) Rx(roll), in radians."""
    x, y, z, w = np.asarray(quaternion, np.float64).tolist()
    roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = math.asin(min(1.0, max(-1.0, 2 * (w * y - z * x))))
    yaw = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return np.array([roll, pitch, yaw])
