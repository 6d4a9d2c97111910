"""The kernel behind FootAnchored: attitude by the IMU, all else through the joints from the feet that bear."""

from __future__ import annotations

import math

import numpy as np

from wholebody.model.compiled import compiled, inlined
from wholebody.model.layout import Array, Integers, values

ROTATION, TURNING, COM, COM_VELOCITY, FEET, ZMP, SHARE, SIZE = 0, 9, 12, 15, 18, 24, 26, 27
"""Where things lie in the answer; of each foot the vertical force and the centre of pressure."""


@compiled
def anchored(
    integers: Integers,
    storage: Array,
    frames: Integers,
    quaternion: Array,
    gyro: Array,
    forces: Array,
    torques: Array,
    feet: Array,
    least: float,
    into: Array,
) -> None:
    """Everything in world from a snapshot seen from the pelvis.

    frames: IMU, left and right sole, left and right force sensor; feet: x, y, height and yaw of each as planned; least:
    the vertical force of a foot that touches. The share of the left foot in `into` is that of the cycle before.
    """
    seen = values(integers, storage)
    R, imu = np.empty((3, 3)), seen.placement[frames[0]]
    _turn_of(quaternion, imu, R)
    total = 0.0
    for side in range(2):
        into[FEET + 3 * side : FEET + 3 * side + 3] = _pressed(
            seen.placement[frames[1 + side]], seen.placement[frames[3 + side]], forces[side], torques[side], least
        )
        total += into[FEET + 3 * side]
    if total > least:
        share = min(max(into[FEET] / total, 0.0), 1.0)
        into[SHARE] += 0.3 * (share - into[SHARE])
    s = into[SHARE]
    anchor = 0 if s > 0.5 else 1
    sole = seen.placement[frames[1 + anchor]]
    x = R[0, 0] * sole[0, 0] + R[0, 1] * sole[1, 0] + R[0, 2] * sole[2, 0]
    y = R[1, 0] * sole[0, 0] + R[1, 1] * sole[1, 0] + R[1, 2] * sole[2, 0]
    _about_z(feet[anchor, 3] - math.atan2(y, x), R)
    _motion(seen.placement, seen.velocity, seen.com, seen.com_velocity, frames, R, imu, gyro, feet, s, into)
    _zero_moment_point(seen.placement, frames, R, feet, s, into)


@inlined
def _turn_of(quaternion: Array, imu: Array, R: Array) -> None:
    """R = R_imu,world R_imu,pelvisᵀ."""
    x, y, z, w = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    Q = np.empty((3, 3))
    Q[0, 0], Q[0, 1], Q[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)
    Q[1, 0], Q[1, 1], Q[1, 2] = 2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)
    Q[2, 0], Q[2, 1], Q[2, 2] = 2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)
    for i in range(3):
        for j in range(3):
            R[i, j] = Q[i, 0] * imu[j, 0] + Q[i, 1] * imu[j, 1] + Q[i, 2] * imu[j, 2]


@inlined
def _about_z(angle: float, R: Array) -> None:
    """R ← Rz(angle) R."""
    c, s = math.cos(angle), math.sin(angle)
    for j in range(3):
        R[0, j], R[1, j] = c * R[0, j] - s * R[1, j], s * R[0, j] + c * R[1, j]


@compiled
def _pressed(sole: Array, sensor: Array, force: Array, torque: Array, least: float) -> Array:
    """Vertical force and centre of pressure in the sole, of the wrench in the sensor."""
    f, m, arm = np.zeros(3), np.zeros(3), np.zeros(3)
    for i in range(3):
        for k in range(3):
            turned = sole[0, i] * sensor[0, k] + sole[1, i] * sensor[1, k] + sole[2, i] * sensor[2, k]
            f[i] += turned * force[k]
            m[i] += turned * torque[k]
            arm[i] += sole[k, i] * (sensor[k, 3] - sole[k, 3])
    answer = np.zeros(3)
    answer[0] = f[2]
    if f[2] > least:
        answer[1] = -(m[1] + arm[2] * f[0] - arm[0] * f[2]) / f[2]
        answer[2] = (m[0] + arm[1] * f[2] - arm[2] * f[1]) / f[2]
    return answer


@compiled
def _motion(
    placement: Array,
    velocity: Array,
    com: Array,
    com_velocity: Array,
    frames: Integers,
    R: Array,
    imu: Array,
    gyro: Array,
    feet: Array,
    s: float,
    into: Array,
) -> None:
    """c = f + R (c_b − f_b), ċ = R (ċ_b − ḟ_b) + ω × R (c_b − f_b), with feet f at rest, as much as each bears."""
    left, right = frames[1], frames[2]
    omega, arm, speed, there = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    for i in range(3):
        there[i] = s * feet[0, i] + (1 - s) * feet[1, i]
        for j in range(3):
            turned = R[i, 0] * imu[0, j] + R[i, 1] * imu[1, j] + R[i, 2] * imu[2, j]
            omega[i] += turned * gyro[j]
            arm[i] += R[i, j] * (com[j] - s * placement[left, j, 3] - (1 - s) * placement[right, j, 3])
            speed[i] += R[i, j] * (com_velocity[j] - s * velocity[left, j] - (1 - s) * velocity[right, j])
    for i in range(3):
        a, b = (i + 1) % 3, (i + 2) % 3
        into[TURNING + i] = omega[i]
        into[COM + i] = there[i] + arm[i]
        into[COM_VELOCITY + i] = speed[i] + omega[a] * arm[b] - omega[b] * arm[a]
        for j in range(3):
            into[ROTATION + 3 * i + j] = R[i, j]


@compiled
def _zero_moment_point(placement: Array, frames: Integers, R: Array, feet: Array, s: float, into: Array) -> None:
    """Where both feet together press, as much as each bears; below the centre of mass if none does."""
    total = 0.0
    for i in range(2):
        into[ZMP + i] = 0.0
    for side in range(2):
        force = into[FEET + 3 * side]
        if force > 0.0:
            total += force
    if total <= 0.0:
        into[ZMP], into[ZMP + 1] = into[COM], into[COM + 1]
        return
    for side in range(2):
        force, x, y = into[FEET + 3 * side], into[FEET + 3 * side + 1], into[FEET + 3 * side + 2]
        if force <= 0.0:
            continue
        sole = placement[frames[1 + side]]
        for i in range(2):
            turned_x = R[i, 0] * sole[0, 0] + R[i, 1] * sole[1, 0] + R[i, 2] * sole[2, 0]
            turned_y = R[i, 0] * sole[0, 1] + R[i, 1] * sole[1, 1] + R[i, 2] * sole[2, 1]
            into[ZMP + i] += force / total * (feet[side, i] + turned_x * x + turned_y * y)
