"""Configurations: q moved along a velocity, and the velocity that leads from one q to another."""

from __future__ import annotations

import math

from wholebody.model.compiled import compiled
from wholebody.model.layout import Array


@compiled
def integrate(q: Array, v: Array, dt: float, floating: bool, result: Array) -> None:
    """q ⊕ v dt: the base moves along the screw of its own velocity for dt, the joints add v dt."""
    first_q, first_v = 0, 0
    if floating:
        first_q, first_v = 7, 6
        _integrate_base(q, v, dt, result)
    for i in range(len(v) - first_v):
        result[first_q + i] = q[first_q + i] + dt * v[first_v + i]


@compiled
def _integrate_base(q: Array, v: Array, dt: float, result: Array) -> None:
    """p + R V t and quaternion ⊗ exp(θ/2), where θ = ω dt, t = v dt, V = 1 + b [θ]× + c [θ]×²."""
    ax, ay, az = dt * v[3], dt * v[4], dt * v[5]
    tx, ty, tz = dt * v[0], dt * v[1], dt * v[2]
    square = ax * ax + ay * ay + az * az
    angle = math.sqrt(square)
    if angle > 1e-4:
        b, c = (1 - math.cos(angle)) / square, (angle - math.sin(angle)) / (square * angle)
        s = math.sin(0.5 * angle) / angle
    else:
        b, c, s = 0.5 - square / 24, 1 / 6 - square / 120, 0.5 - square / 48
    ux, uy, uz = ay * tz - az * ty, az * tx - ax * tz, ax * ty - ay * tx
    tx += b * ux + c * (ay * uz - az * uy)
    ty += b * uy + c * (az * ux - ax * uz)
    tz += b * uz + c * (ax * uy - ay * ux)
    x, y, z, w = q[3], q[4], q[5], q[6]
    tx, ty, tz = turned(x, y, z, w, tx, ty, tz)
    result[0], result[1], result[2] = q[0] + tx, q[1] + ty, q[2] + tz
    x, y, z, w = product(x, y, z, w, s * ax, s * ay, s * az, math.cos(0.5 * angle))
    length = math.sqrt(x * x + y * y + z * z + w * w)
    result[3], result[4], result[5], result[6] = x / length, y / length, z / length, w / length


@compiled
def difference(q0: Array, q1: Array, floating: bool, result: Array) -> None:
    """The v with q0 ⊕ v · 1 s = q1; the base takes the shorter way round."""
    first_q, first_v = 0, 0
    if floating:
        first_q, first_v = 7, 6
        _base_difference(q0, q1, result)
    for i in range(len(result) - first_v):
        result[first_v + i] = q1[first_q + i] - q0[first_q + i]


@compiled
def _base_difference(q0: Array, q1: Array, result: Array) -> None:
    """θ from the quaternion q0⁻¹ q1, and t = V⁻¹ R0ᵀ (p1 − p0), V⁻¹ = 1 − ½ [θ]× + k [θ]×²."""
    x, y, z, w = product(-q0[3], -q0[4], -q0[5], q0[6], q1[3], q1[4], q1[5], q1[6])
    if w < 0:
        x, y, z, w = -x, -y, -z, -w
    sine = math.sqrt(x * x + y * y + z * z)
    angle = 2 * math.atan2(sine, w)
    if angle > 1e-4:
        scale = angle / sine
        k = (1 - 0.5 * angle * w / sine) / (angle * angle)
    else:
        scale = 2 * (1 + angle * angle / 24)
        k = 1 / 12 + angle * angle / 720
    ax, ay, az = scale * x, scale * y, scale * z
    tx, ty, tz = turned(-q0[3], -q0[4], -q0[5], q0[6], q1[0] - q0[0], q1[1] - q0[1], q1[2] - q0[2])
    ux, uy, uz = ay * tz - az * ty, az * tx - ax * tz, ax * ty - ay * tx
    result[0] = tx - 0.5 * ux + k * (ay * uz - az * uy)
    result[1] = ty - 0.5 * uy + k * (az * ux - ax * uz)
    result[2] = tz - 0.5 * uz + k * (ax * uy - ay * ux)
    result[3], result[4], result[5] = ax, ay, az


@compiled
def turned(x: float, y: float, z: float, w: float, tx: float, ty: float, tz: float) -> tuple[float, float, float]:
    """A vector turned by a unit quaternion: t + 2 w u + 2 r × u with u = r × t."""
    ux, uy, uz = y * tz - z * ty, z * tx - x * tz, x * ty - y * tx
    return (
        tx + 2 * (w * ux + y * uz - z * uy),
        ty + 2 * (w * uy + z * ux - x * uz),
        tz + 2 * (w * uz + x * uy - y * ux),
    )


@compiled
def product(
    x: float, y: float, z: float, w: float, a: float, b: float, c: float, d: float
) -> tuple[float, float, float, float]:
    """The quaternion (x y z w) ⊗ (a b c d)."""
    return (
        w * a + x * d + y * c - z * b,
        w * b - x * c + y * d + z * a,
        w * c + x * b - y * a + z * d,
        w * d - x * a - y * b - z * c,
    )
