"""The kernels of SupportFilter: what its state does by itself, and what each foot on the ground says about it.

State x: quaternion of the IMU (body to world), gyro bias b, velocity v of the IMU in its own axes; and of each foot
the flexion q = (roll, pitch) of its ankle, its rate q̇, and the orientation G of the ground under it.
Error: R = R̂ exp(θ), b, v, then per foot q, q̇, and γ with G = Ĝ exp(γ).

    motion      R ← R exp(φ), φ = (ω − b) dt;    v ← exp(−φ) (v + (a + Rᵀ g) dt);    q ← q + q̇ dt
    sole        log(Gᵀ R E X(q)) = 0             the sole lies on the ground; E: unbent sole to IMU, X = Rx(q₁) Ry(q₂)
    ankle       v + (ω − b) × p + ṗ = 0          the ankle, which flexion does not move, stands still; p from the IMU
    torque      K q + C q̇ = τ                    of the ground, about the ankle
"""

from __future__ import annotations

import math

from wholebody.estimation.attitude_kernels import turned_by
from wholebody.estimation.rotations import logarithm, matrix_of, quaternion_of, skew, turn
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array

BODY_STATE, BODY_ERROR = 10, 9
FOOT_STATE, FOOT_ERROR = 8, 7


@compiled
def apply_error(x: Array, error: Array) -> None:
    """x ⊕ error, after which the error is zero."""
    turn(x[:4], error[0], error[1], error[2])
    for k in range(6):
        x[4 + k] += error[3 + k]
    for foot in range((len(x) - BODY_STATE) // FOOT_STATE):
        at, e = BODY_STATE + FOOT_STATE * foot, BODY_ERROR + FOOT_ERROR * foot
        for k in range(4):
            x[at + k] += error[e + k]
        turn(x[at + 4 : at + 8], error[e + 4], error[e + 5], error[e + 6])
    for k in range(len(error)):
        error[k] = 0.0


@compiled
def move_body(x: Array, gyro: Array, accelerometer: Array, gravity: float, dt: float, F: Array, R: Array) -> None:
    """Move attitude and velocity by dt; F, 9 × 9, says what that does to their errors; R is scratch."""
    wx, wy, wz = gyro[0] - x[4], gyro[1] - x[5], gyro[2] - x[6]
    matrix_of(x[:4], R)
    gx, gy, gz = -gravity * R[2, 0], -gravity * R[2, 1], -gravity * R[2, 2]  # Rᵀ g
    ux, uy, uz = (
        x[7] + (accelerometer[0] + gx) * dt,
        x[8] + (accelerometer[1] + gy) * dt,
        x[9] + (accelerometer[2] + gz) * dt,
    )
    turned_by(wx, wy, wz, dt, F[:3, :3], F[:3, 3:6])
    by_error = F[:3, :3]
    for i in range(3):
        a, b, c = by_error[i, 0], by_error[i, 1], by_error[i, 2]
        x[7 + i] = a * ux + b * uy + c * uz
        F[6 + i, 6], F[6 + i, 7], F[6 + i, 8] = a, b, c
        F[6 + i, 0] = dt * (b * gz - c * gy)
        F[6 + i, 1] = dt * (c * gx - a * gz)
        F[6 + i, 2] = dt * (a * gy - b * gx)
    # exp(−φ + β dt) = exp(J(φ) dt β) exp(−φ), so v changes by J dt β × v; and F[θ, b] = −J dt.
    vx, vy, vz = x[7], x[8], x[9]
    for k in range(3):
        jx, jy, jz = F[0, 3 + k], F[1, 3 + k], F[2, 3 + k]
        F[6, 3 + k] = vy * jz - vz * jy
        F[7, 3 + k] = vz * jx - vx * jz
        F[8, 3 + k] = vx * jy - vy * jx
    turn(x[:4], wx * dt, wy * dt, wz * dt)


@compiled
def move_feet(
    x: Array, P: Array, dt: float, acceleration: float, creep: float, slip: float, contact: Array, firm: Array
) -> None:
    """Flexion goes on at its rate, which changes as it likes; ground gives way, and soles slip round (rad/√s)."""
    for foot in range(len(contact)):
        if contact[foot] == 0.0:
            continue
        at, e = BODY_STATE + FOOT_STATE * foot, BODY_ERROR + FOOT_ERROR * foot
        for k in range(2):
            x[at + k] += dt * x[at + 2 + k]
            for j in range(len(P)):
                P[e + k, j] += dt * P[e + 2 + k, j]
            for i in range(len(P)):
                P[i, e + k] += dt * P[i, e + 2 + k]
            variance = acceleration * acceleration * dt * dt
            P[e + k, e + k] += 0.25 * dt * dt * variance
            P[e + k, e + 2 + k] += 0.5 * dt * variance
            P[e + 2 + k, e + k] += 0.5 * dt * variance
            P[e + 2 + k, e + 2 + k] += variance
        if firm[foot] != 0.0:
            P[e + 4, e + 4] += creep * creep * dt
            P[e + 5, e + 5] += creep * creep * dt
            P[e + 6, e + 6] += slip * slip * dt


@compiled
def place_sole(x: Array, at: int, E: Array, scratch: Array) -> None:
    """Fill scratch, 12 × 3, with R, G, E X(q), and W = Gᵀ R E X(q): the sole as it lies on its ground."""
    R, G, EX, W = scratch[0:3], scratch[3:6], scratch[6:9], scratch[9:12]
    matrix_of(x[:4], R)
    matrix_of(x[at + 4 : at + 8], G)
    cr, sr, cp, sp = math.cos(x[at]), math.sin(x[at]), math.cos(x[at + 1]), math.sin(x[at + 1])
    for i in range(3):
        a, b, c = E[i, 0], E[i, 1], E[i, 2]
        b, c = b * cr + c * sr, c * cr - b * sr
        EX[i, 0], EX[i, 1], EX[i, 2] = a * cp - c * sp, b, a * sp + c * cp
    for i in range(3):
        a = G[0, i] * R[0, 0] + G[1, i] * R[1, 0] + G[2, i] * R[2, 0]
        b = G[0, i] * R[0, 1] + G[1, i] * R[1, 1] + G[2, i] * R[2, 1]
        c = G[0, i] * R[0, 2] + G[1, i] * R[1, 2] + G[2, i] * R[2, 2]
        for k in range(3):
            W[i, k] = a * EX[0, k] + b * EX[1, k] + c * EX[2, k]


@compiled
def sole_turn(x: Array, foot: int, E: Array, rows: Array, scratch: Array) -> tuple[float, float, float]:
    """log(Gᵀ R E X) of a foot, and its derivative: three rows as long as the error. `scratch` is 12 × 3.

    With e that rotation vector, a turn on the right counts by J⁻¹(e) = 1 + ½ [e]× + k [e]×², on the left by J⁻ᵀ;
    k = 1/12 + |e|²/720 + …
    """
    at, first = BODY_STATE + FOOT_STATE * foot, BODY_ERROR + FOOT_ERROR * foot
    R, G, EX, W = scratch[0:3], scratch[3:6], scratch[6:9], scratch[9:12]
    place_sole(x, at, E, scratch)
    cp, sp = math.cos(x[at + 1]), math.sin(x[at + 1])
    e = logarithm(W)
    half, square = R, G  # no longer needed
    skew(0.5 * e[0], 0.5 * e[1], 0.5 * e[2], half)
    size = e[0] * e[0] + e[1] * e[1] + e[2] * e[2]
    factor = 1 / 12 + size / 720
    for i in range(3):
        for k in range(3):
            square[i, k] = (1.0 if i == k else 0.0) + factor * (e[i] * e[k] - (size if i == k else 0.0))
    for i in range(3):
        for k in range(rows.shape[1]):
            rows[i, k] = 0.0
        r0, r1, r2 = square[i, 0] + half[i, 0], square[i, 1] + half[i, 1], square[i, 2] + half[i, 2]
        for k in range(3):
            rows[i, k] = r0 * EX[k, 0] + r1 * EX[k, 1] + r2 * EX[k, 2]
            rows[i, first + 4 + k] = half[i, k] - square[i, k]
        rows[i, first] = r0 * cp + r2 * sp  # Ry(q₂)ᵀ e_x
        rows[i, first + 1] = r1
    return e


@compiled
def ankle_velocity(x: Array, gyro: Array, p: Array, p_dot: Array, rows: Array) -> tuple[float, float, float]:
    """v + (ω − b) × p + ṗ: how fast the ankle moves over the ground, in the axes of the IMU, and its derivative."""
    wx, wy, wz = gyro[0] - x[4], gyro[1] - x[5], gyro[2] - x[6]
    for i in range(3):
        for k in range(rows.shape[1]):
            rows[i, k] = 0.0
        rows[i, 6 + i] = 1.0
    skew(p[0], p[1], p[2], rows[:, 3:6])
    return (
        x[7] + wy * p[2] - wz * p[1] + p_dot[0],
        x[8] + wz * p[0] - wx * p[2] + p_dot[1],
        x[9] + wx * p[1] - wy * p[0] + p_dot[2],
    )


@compiled
def tread(x: Array, P: Array, foot: int, flexion: float, rate: float) -> None:
    """A foot comes down, its ankle unbent but for these deviations."""
    at, first = BODY_STATE + FOOT_STATE * foot, BODY_ERROR + FOOT_ERROR * foot
    forget(x, P, at, first, 4)
    for k in range(2):
        P[first + k, first + k] = flexion * flexion
        P[first + 2 + k, first + 2 + k] = rate * rate


@compiled
def settle(x: Array, P: Array, foot: int, E: Array, level: float, heading: float, scratch: Array) -> None:
    """A sole lies flat: on ground that is level but for the deviation `level`, and headed as the sole is by now.

    If the sole leans by more than that and what attitude and flexion may be wrong by allow, the ground is taken to lean
    as the sole does, and that is how uncertain it is.
    """
    at, first = BODY_STATE + FOOT_STATE * foot, BODY_ERROR + FOOT_ERROR * foot
    ground = x[at + 4 : at + 8]
    W, G = scratch[9:12], scratch[3:6]
    ground[0], ground[1], ground[2], ground[3] = 0.0, 0.0, 0.0, 1.0
    place_sole(x, at, E, scratch)
    yaw = math.atan2(W[1, 0], W[0, 0])
    lean = math.sqrt(W[2, 0] * W[2, 0] + W[2, 1] * W[2, 1])
    variance = level * level
    for k in range(2):
        variance += P[k, k] + P[first + k, first + k]
    forget(x, P, -1, first + 4, 3)
    if lean * lean > 9.0 * variance:
        for i in range(3):
            for k in range(3):
                G[i, k] = W[i, k]
        quaternion_of(G, ground)
        level = lean
    else:
        ground[2], ground[3] = math.sin(0.5 * yaw), math.cos(0.5 * yaw)
    for k in range(2):
        P[first + 4 + k, first + 4 + k] = level * level
    P[first + 6, first + 6] = heading * heading


@compiled
def forget(x: Array, P: Array, at: int, first: int, count: int) -> None:
    """Some numbers of a foot are zero, and say nothing about the rest; with `at` below zero, they stay."""
    for k in range(count):
        if at >= 0:
            x[at + k] = 0.0
        for j in range(len(P)):
            P[first + k, j] = 0.0
            P[j, first + k] = 0.0
