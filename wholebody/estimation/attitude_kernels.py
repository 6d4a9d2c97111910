"""The kernels of AttitudeFilter: turn, and see gravity.

State: quaternion x y z w (body to world), gyro bias b. Error: R = R̂ exp(θ), b = b̂ + β; six numbers, θ and β.

    turn        R ← R exp(φ), φ = (ω − b) dt        θ ← exp(−φ) θ − J(φ) dt β,  J(φ) = ∫₀¹ exp(−s φ) ds
    see         a = Rᵀ g e_z                        ∂a/∂θ = [Rᵀ g e_z]×
"""

from __future__ import annotations

import math

from wholebody.estimation.kalman import believe, symmetrise
from wholebody.estimation.rotations import exponential, matrix_of, skew, turn
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array


@compiled
def turned_by(x: float, y: float, z: float, dt: float, by_error: Array, by_bias: Array) -> None:
    """How an attitude error grows in dt at the angular velocity (x y z): exp(−φ) of itself, −J(φ) dt of the bias's.

    J(φ) = 1 − b [φ]× + c [φ]×² with b = (1 − cos) / φ², c = (φ − sin) / φ³.
    """
    a, b, c = x * dt, y * dt, z * dt
    exponential(-a, -b, -c, by_error)
    square = a * a + b * b + c * c
    angle = math.sqrt(square)
    if angle > 1e-3:
        once, twice = (1 - math.cos(angle)) / square, (angle - math.sin(angle)) / (square * angle)
    else:
        once, twice = 0.5 - square / 24, 1 / 6 - square / 120
    skew(a, b, c, by_bias)
    φ = (a, b, c)
    for i in range(3):
        for j in range(3):
            square_ij = φ[i] * φ[j] - (square if i == j else 0.0)
            by_bias[i, j] = dt * (once * by_bias[i, j] - twice * square_ij - (1.0 if i == j else 0.0))


@compiled
def predict(x: Array, P: Array, gyro: Array, dt: float, noise: Array, F: Array, work: Array) -> None:
    """Turn by the gyro; `noise` has the deviations of gyro (rad/s) and of the bias's drift (rad/s/√s)."""
    wx, wy, wz = gyro[0] - x[4], gyro[1] - x[5], gyro[2] - x[6]
    turned_by(wx, wy, wz, dt, F[:3, :3], F[:3, 3:])
    turn(x[:4], wx * dt, wy * dt, wz * dt)
    spread(P, F, work)
    for i in range(3):
        P[i, i] += (noise[0] * dt) ** 2
        P[3 + i, 3 + i] += noise[1] ** 2 * dt
    symmetrise(P)


@compiled
def spread(P: Array, F: Array, work: Array) -> None:
    """P ← F P Fᵀ for the first rows and columns, as many as F has; the rest of P is carried along."""
    m, n = len(F), len(P)
    for j in range(n):
        for i in range(m):
            total = 0.0
            for k in range(m):
                total += F[i, k] * P[k, j]
            work[i] = total
        for i in range(m):
            P[i, j] = work[i]
    for i in range(n):
        for j in range(m):
            total = 0.0
            for k in range(m):
                total += P[i, k] * F[j, k]
            work[j] = total
        for j in range(m):
            P[i, j] = work[j]


@compiled
def see_up(
    quaternion: Array, P: Array, error: Array, up: Array, scale: float, variance: float, gate: float, memory: Array
) -> float:
    """Believe that the body sees the vector `up`, which is (0 0 scale) in world; returns the innovation squared.

    θ are the first three numbers of the error. `memory` has eight rows as long as it, of which seven are used.
    """
    R, row = memory[4:7, :3], memory[3]
    matrix_of(quaternion, R)
    ux, uy, uz = scale * R[2, 0], scale * R[2, 1], scale * R[2, 2]
    surprise = 0.0
    for axis in range(3):
        for k in range(len(row)):
            row[k] = 0.0
        if axis == 0:
            row[1], row[2] = -uz, uy
            surprise += believe(P, error, row, up[0] - ux, variance, gate, memory)
        elif axis == 1:
            row[0], row[2] = uz, -ux
            surprise += believe(P, error, row, up[1] - uy, variance, gate, memory)
        else:
            row[0], row[1] = -uy, ux
            surprise += believe(P, error, row, up[2] - uz, variance, gate, memory)
    return surprise


@compiled
def correct(x: Array, P: Array, up: Array, gravity: float, variance: float, gate: float, memory: Array) -> float:
    """Take the accelerometer for gravity; returns the normalised innovation squared of its three axes."""
    error = memory[7, :6]
    for k in range(6):
        error[k] = 0.0
    surprise = see_up(x[:4], P, error, up, gravity, variance, gate, memory)
    turn(x[:4], error[0], error[1], error[2])
    for k in range(3):
        x[4 + k] += error[3 + k]
    return surprise
