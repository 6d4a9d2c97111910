"""Rotations inside kernels: quaternions x y z w, matrices, and rotation vectors."""

from __future__ import annotations

import math

import numpy as np

from wholebody.model.compiled import compiled
from wholebody.model.configuration import product
from wholebody.model.layout import Array

Three = tuple[float, float, float]


@compiled
def turn(quaternion: Array, a: float, b: float, c: float) -> None:
    """quaternion ← quaternion ⊗ exp(½ (a b c)), of unit length again: a turn by a rotation vector in its own axes."""
    angle = math.sqrt(a * a + b * b + c * c)
    s = math.sin(0.5 * angle) / angle if angle > 1e-6 else 0.5 - angle * angle / 48
    x, y, z, w = product(
        quaternion[0], quaternion[1], quaternion[2], quaternion[3], s * a, s * b, s * c, math.cos(0.5 * angle)
    )
    length = math.sqrt(x * x + y * y + z * z + w * w)
    quaternion[0], quaternion[1], quaternion[2], quaternion[3] = x / length, y / length, z / length, w / length


@compiled
def matrix_of(quaternion: Array, into: Array) -> None:
    """The rotation matrix of a unit quaternion, 3 × 3."""
    x, y, z, w = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    into[0, 0], into[0, 1], into[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    into[1, 0], into[1, 1], into[1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    into[2, 0], into[2, 1], into[2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)


@compiled
def exponential(a: float, b: float, c: float, into: Array) -> None:
    """The rotation matrix of a rotation vector: 1 + s [θ]× + k [θ]×²."""
    square = a * a + b * b + c * c
    angle = math.sqrt(square)
    if angle > 1e-4:
        s, k = math.sin(angle) / angle, (1 - math.cos(angle)) / square
    else:
        s, k = 1 - square / 6, 0.5 - square / 24
    into[0, 0], into[0, 1], into[0, 2] = 1 - k * (b * b + c * c), k * a * b - s * c, k * a * c + s * b
    into[1, 0], into[1, 1], into[1, 2] = k * a * b + s * c, 1 - k * (a * a + c * c), k * b * c - s * a
    into[2, 0], into[2, 1], into[2, 2] = k * a * c - s * b, k * b * c + s * a, 1 - k * (a * a + b * b)


@compiled
def logarithm(R: Array) -> Three:
    """The rotation vector of a rotation matrix that turns by less than half a turn."""
    x, y, z = 0.5 * (R[2, 1] - R[1, 2]), 0.5 * (R[0, 2] - R[2, 0]), 0.5 * (R[1, 0] - R[0, 1])
    sine = math.sqrt(x * x + y * y + z * z)
    cosine = 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0)
    scale = math.atan2(sine, cosine) / sine if sine > 1e-6 else 1.0 + sine * sine / 6
    return scale * x, scale * y, scale * z


@compiled
def skew(a: float, b: float, c: float, into: Array) -> None:
    """[a]×, with [a]× d = a × d."""
    into[0, 0], into[0, 1], into[0, 2] = 0.0, -c, b
    into[1, 0], into[1, 1], into[1, 2] = c, 0.0, -a
    into[2, 0], into[2, 1], into[2, 2] = -b, a, 0.0


@compiled
def quaternion_of_tilt(up: Array, into: Array) -> None:
    """The shortest turn, body to world, of a body that sees `up` (of any length) in its own axes."""
    x, y, z = up[0], up[1], up[2]
    length = math.sqrt(x * x + y * y + z * z)
    x, y, z = x / length, y / length, z / length
    if z > -0.999999:
        # Half-way between up in the body and the body's own z: (up × e_z, 1 + up · e_z), normalised.
        into[0], into[1], into[2], into[3] = y, -x, 0.0, 1.0 + z
    else:
        into[0], into[1], into[2], into[3] = 1.0, 0.0, 0.0, 0.0
    length = math.sqrt(into[0] ** 2 + into[1] ** 2 + into[3] ** 2)
    for k in range(4):
        into[k] /= length


@compiled
def quaternion_of(R: Array, into: Array) -> None:
    """x y z w of a rotation matrix, from the largest of its four squares."""
    squares = (R[0, 0], R[1, 1], R[2, 2])
    largest = 0
    for k in range(1, 3):
        if squares[k] > squares[largest]:
            largest = k
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    if trace > squares[largest]:
        into[3] = 1.0 + trace
        into[0], into[1], into[2] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    else:
        i = largest
        j, k = (i + 1) % 3, (i + 2) % 3
        into[i] = 1.0 + 2.0 * R[i, i] - trace
        into[j], into[k], into[3] = R[j, i] + R[i, j], R[k, i] + R[i, k], R[k, j] - R[j, k]
    size = math.sqrt(into[0] ** 2 + into[1] ** 2 + into[2] ** 2 + into[3] ** 2)
    for k in range(4):
        into[k] /= size


def roll_pitch_yaw(quaternion: Array) -> Array:
    """Angles about the fixed axes, R = Rz(yaw) Ry(pitch) Rx(roll), in radians."""
    x, y, z, w = (float(each) for each in quaternion)
    roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = math.asin(min(1.0, max(-1.0, 2 * (w * y - z * x))))
    yaw = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return np.array([roll, pitch, yaw])
