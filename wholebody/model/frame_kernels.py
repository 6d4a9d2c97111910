"""The kernels of frames: where each is, how it moves, and its Jacobian."""

from __future__ import annotations

from wholebody.model.compiled import compiled
from wholebody.model.layout import Array, Integers, Tree, Values, tree, values


@compiled
def place_frame(fixed: Tree, now: Values, frame: int) -> None:
    """Where a frame is, how it moves, and J̇ v: how its velocity changes when v̇ = 0."""
    body, there = fixed.frame_body[frame], fixed.frame[frame]
    R, at, twist, drift = now.rotation[body], now.placement[frame], now.twist[body], now.drift[body]
    lever, position, velocity, bias = now.lever[frame], now.position[frame], now.velocity[frame], now.bias[frame]
    offset = len(now.q) - len(now.v)  # 1 with a floating base, whose position O is to be added
    wx, wy, wz, ax, ay, az = twist[3], twist[4], twist[5], drift[3], drift[4], drift[5]
    for row in range(3):
        a, b, c = R[3 * row], R[3 * row + 1], R[3 * row + 2]
        for k in range(3):
            at[row, k] = a * there[k] + b * there[3 + k] + c * there[6 + k]
        at[row, 3] = a * there[9] + b * there[10] + c * there[11]
    dx, dy, dz = at[0, 3], at[1, 3], at[2, 3]
    for row in range(3):
        lever[row] = now.origin[body, row] + at[row, 3]
        position[row] = lever[row] + offset * now.q[row]
        at[row, 3] = position[row]
        velocity[3 + row] = twist[3 + row]
        bias[3 + row] = drift[3 + row]
    at[3, 3] = 1.0
    ux, uy, uz = wy * dz - wz * dy, wz * dx - wx * dz, wx * dy - wy * dx
    velocity[0], velocity[1], velocity[2] = twist[0] + ux, twist[1] + uy, twist[2] + uz
    bias[0] = drift[0] + ay * dz - az * dy + wy * uz - wz * uy
    bias[1] = drift[1] + az * dx - ax * dz + wz * ux - wx * uz
    bias[2] = drift[2] + ax * dy - ay * dx + wx * uy - wy * ux


@compiled
def fill_jacobian(fixed: Tree, now: Values, floating: bool, frame: int) -> None:
    """J of a frame's own origin in the axes of the world: a joint with screw (s, a) gives it s + a × p, and a."""
    J = now.jacobian[frame]
    px, py, pz = now.lever[frame, 0], now.lever[frame, 1], now.lever[frame, 2]
    if floating:
        for k in range(3):
            a, b, c = now.rotation[0, k], now.rotation[0, 3 + k], now.rotation[0, 6 + k]
            J[0, k], J[1, k], J[2, k] = a, b, c
            J[3, 3 + k], J[4, 3 + k], J[5, 3 + k] = a, b, c
            J[0, 3 + k], J[1, 3 + k], J[2, 3 + k] = b * pz - c * py, c * px - a * pz, a * py - b * px
    i = fixed.frame_body[frame]
    while i > 0:
        column = fixed.column[i]
        for k in range(6):
            J[k, column] = 0.0
        i = fixed.parent[i]
    i = fixed.frame_body[frame]
    while i > 0:
        column, screw = fixed.column[i], now.screw[i]
        J[0, column] += screw[0] + screw[4] * pz - screw[5] * py
        J[1, column] += screw[1] + screw[5] * px - screw[3] * pz
        J[2, column] += screw[2] + screw[3] * py - screw[4] * px
        J[3, column] += screw[3]
        J[4, column] += screw[4]
        J[5, column] += screw[5]
        i = fixed.parent[i]


@compiled
def evaluate_jacobian(integers: Integers, numbers: Array, storage: Array, frame: int) -> None:
    """Compute the Jacobian of one more frame of a snapshot that is there already."""
    fill_jacobian(tree(integers, numbers), values(integers, storage), integers[5] == 1, frame)
