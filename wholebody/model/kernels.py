"""The kernel of the model: one call turns (q, v) into everything a Snapshot shows.

Classical mechanics in the axes of the world, about O, the fixed point where the base is at this instant: sums over a
subtree are then plain additions, and nothing loses digits when the robot walks far away. Body 0 is the base (or the
world, for a robot bolted to it); body i > 0 moves about or along the z axis of its own frame, and stands after its
parent.
"""

from __future__ import annotations

import math

from wholebody.model.compiled import compiled
from wholebody.model.frame_kernels import fill_jacobian, place_frame
from wholebody.model.layout import Array, Integers, Tree, Values, tree, values

WELL, NOT_FINITE, NOT_UNIT = 0, 1, 2
"""What a state can be: well, with a value that is no number, or with a quaternion that is far from unit length."""

QUATERNION_TOLERANCE = 1e-3
"""A quaternion whose length is off by no more than this is normalised; beyond, it is an error."""


@compiled
def evaluate(integers: Integers, numbers: Array, storage: Array) -> int:
    """Compute everything at the q and v in the storage; WELL, or what is wrong with them."""
    fixed, now = tree(integers, numbers), values(integers, storage)
    floating = integers[5] == 1
    for value in now.q:
        if not math.isfinite(value):
            return NOT_FINITE
    for value in now.v:
        if not math.isfinite(value):
            return NOT_FINITE
    if not floating:
        now.rotation[0, 0], now.rotation[0, 4], now.rotation[0, 8] = 1.0, 1.0, 1.0
    elif not place_base(now):
        return NOT_UNIT
    move_bodies(fixed, now, floating)
    _weigh(fixed, now)
    _gather(fixed, now, floating)
    _sum_up(fixed, now, floating)
    for frame in range(len(fixed.frame_body)):
        place_frame(fixed, now, frame)
    for frame in fixed.watched:
        fill_jacobian(fixed, now, floating, frame)
    return WELL


@compiled
def place_base(now: Values) -> bool:
    """Rotation and velocity of the base: v is in its own axes, so with v̇ = 0 its origin accelerates by ω × v."""
    q, v, R = now.q, now.v, now.rotation
    x, y, z, w = q[3], q[4], q[5], q[6]
    length = math.sqrt(x * x + y * y + z * z + w * w)
    if abs(length - 1.0) > QUATERNION_TOLERANCE:
        return False
    x, y, z, w = x / length, y / length, z / length, w / length
    q[3], q[4], q[5], q[6] = x, y, z, w
    R[0, 0], R[0, 1], R[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    R[0, 3], R[0, 4], R[0, 5] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    R[0, 6], R[0, 7], R[0, 8] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    for row in range(3):
        a, b, c = R[0, 3 * row], R[0, 3 * row + 1], R[0, 3 * row + 2]
        now.twist[0, row] = a * v[0] + b * v[1] + c * v[2]
        now.twist[0, 3 + row] = a * v[3] + b * v[4] + c * v[5]
    t = now.twist[0]
    vx, vy, vz, wx, wy, wz = t[0], t[1], t[2], t[3], t[4], t[5]
    now.drift[0, 0], now.drift[0, 1], now.drift[0, 2] = wy * vz - wz * vy, wz * vx - wx * vz, wx * vy - wy * vx
    return True


@compiled
def move_bodies(fixed: Tree, now: Values, floating: bool) -> None:
    """From the base outwards: where each body is, how it moves, and how it accelerates when v̇ = 0."""
    R, origin, twist, drift, screw, joint = now.rotation, now.origin, now.twist, now.drift, now.screw, fixed.joint
    shift = 1 if floating else 0
    for i in range(1, len(fixed.parent)):
        p, column = fixed.parent[i], fixed.column[i]
        ratio = fixed.scale[i, 0]
        position = ratio * now.q[column + shift] + fixed.scale[i, 1]
        rate = ratio * now.v[column]
        r0, r1, r2, r3, r4, r5, r6, r7, r8 = (
            R[p, 0], R[p, 1], R[p, 2], R[p, 3], R[p, 4], R[p, 5], R[p, 6], R[p, 7], R[p, 8],
        )  # fmt: skip
        j0, j1, j2, j3, j4, j5, j6, j7, j8 = (
            joint[i, 0], joint[i, 1], joint[i, 2], joint[i, 3], joint[i, 4], joint[i, 5], joint[i, 6], joint[i, 7],
            joint[i, 8],
        )  # fmt: skip
        jx, jy, jz = joint[i, 9], joint[i, 10], joint[i, 11]
        # The frame of the joint before it moves: x and y axes, and z, about or along which it moves.
        xx, xy, xz = r0 * j0 + r1 * j3 + r2 * j6, r3 * j0 + r4 * j3 + r5 * j6, r6 * j0 + r7 * j3 + r8 * j6
        yx, yy, yz = r0 * j1 + r1 * j4 + r2 * j7, r3 * j1 + r4 * j4 + r5 * j7, r6 * j1 + r7 * j4 + r8 * j7
        zx, zy, zz = r0 * j2 + r1 * j5 + r2 * j8, r3 * j2 + r4 * j5 + r5 * j8, r6 * j2 + r7 * j5 + r8 * j8
        ox, oy, oz = r0 * jx + r1 * jy + r2 * jz, r3 * jx + r4 * jy + r5 * jz, r6 * jx + r7 * jy + r8 * jz
        slides = fixed.prismatic[i] == 1
        cos, sin, slide, turn = 1.0, 0.0, position, 0.0
        if slides:
            ox, oy, oz = ox + position * zx, oy + position * zy, oz + position * zz
            slide = rate
        else:
            cos, sin, slide, turn = math.cos(position), math.sin(position), 0.0, rate
        R[i, 0], R[i, 3], R[i, 6] = cos * xx + sin * yx, cos * xy + sin * yy, cos * xz + sin * yz
        R[i, 1], R[i, 4], R[i, 7] = cos * yx - sin * xx, cos * yy - sin * xy, cos * yz - sin * xz
        R[i, 2], R[i, 5], R[i, 8] = zx, zy, zz
        px, py, pz = origin[p, 0] + ox, origin[p, 1] + oy, origin[p, 2] + oz
        origin[i, 0], origin[i, 1], origin[i, 2] = px, py, pz
        # ω × r and α × r + ω × (ω × r) of the parent carry the body's origin; sliding adds Coriolis' 2 ω × z ṡ.
        wx, wy, wz = twist[p, 3], twist[p, 4], twist[p, 5]
        ax, ay, az = drift[p, 3], drift[p, 4], drift[p, 5]
        cx, cy, cz = wy * oz - wz * oy, wz * ox - wx * oz, wx * oy - wy * ox
        ux, uy, uz = wy * zz - wz * zy, wz * zx - wx * zz, wx * zy - wy * zx
        twist[i, 0] = twist[p, 0] + cx + slide * zx
        twist[i, 1] = twist[p, 1] + cy + slide * zy
        twist[i, 2] = twist[p, 2] + cz + slide * zz
        twist[i, 3], twist[i, 4], twist[i, 5] = wx + turn * zx, wy + turn * zy, wz + turn * zz
        slide *= 2.0
        drift[i, 0] = drift[p, 0] + ay * oz - az * oy + wy * cz - wz * cy + slide * ux
        drift[i, 1] = drift[p, 1] + az * ox - ax * oz + wz * cx - wx * cz + slide * uy
        drift[i, 2] = drift[p, 2] + ax * oy - ay * ox + wx * cy - wy * cx + slide * uz
        drift[i, 3], drift[i, 4], drift[i, 5] = ax + turn * ux, ay + turn * uy, az + turn * uz
        zx, zy, zz = ratio * zx, ratio * zy, ratio * zz
        if slides:
            screw[i, 0], screw[i, 1], screw[i, 2] = zx, zy, zz
            screw[i, 3], screw[i, 4], screw[i, 5] = 0.0, 0.0, 0.0
        else:
            screw[i, 0], screw[i, 1], screw[i, 2] = py * zz - pz * zy, pz * zx - px * zz, px * zy - py * zx
            screw[i, 3], screw[i, 4], screw[i, 5] = zx, zy, zz


@compiled
def _weigh(fixed: Tree, now: Values) -> None:
    """Each body by itself: its inertia about O, the force that carries it when v̇ = 0, its momentum and energy."""
    mass, force, momentum = now.mass, now.force, now.momentum
    momentum[:] = 0.0
    energy = 0.0
    for i in range(len(fixed.parent)):
        R, body = now.rotation[i], fixed.inertia[i]
        r0, r1, r2, r3, r4, r5, r6, r7, r8 = R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8]
        m, lx, ly, lz = body[0], body[1], body[2], body[3]
        ixx, iyy, izz, ixy, ixz, iyz = body[4], body[5], body[6], body[7], body[8], body[9]
        # I = R I₀ Rᵀ about the centre of mass
        a0, a1, a2 = r0 * ixx + r1 * ixy + r2 * ixz, r0 * ixy + r1 * iyy + r2 * iyz, r0 * ixz + r1 * iyz + r2 * izz
        b0, b1, b2 = r3 * ixx + r4 * ixy + r5 * ixz, r3 * ixy + r4 * iyy + r5 * iyz, r3 * ixz + r4 * iyz + r5 * izz
        c0, c1, c2 = r6 * ixx + r7 * ixy + r8 * ixz, r6 * ixy + r7 * iyy + r8 * iyz, r6 * ixz + r7 * iyz + r8 * izz
        xx, xy, xz = a0 * r0 + a1 * r1 + a2 * r2, a0 * r3 + a1 * r4 + a2 * r5, a0 * r6 + a1 * r7 + a2 * r8
        yy, yz, zz = b0 * r3 + b1 * r4 + b2 * r5, b0 * r6 + b1 * r7 + b2 * r8, c0 * r6 + c1 * r7 + c2 * r8
        # d from the body's origin to its centre of mass, c from O
        dx, dy, dz = r0 * lx + r1 * ly + r2 * lz, r3 * lx + r4 * ly + r5 * lz, r6 * lx + r7 * ly + r8 * lz
        cx, cy, cz = now.origin[i, 0] + dx, now.origin[i, 1] + dy, now.origin[i, 2] + dz
        wx, wy, wz = now.twist[i, 3], now.twist[i, 4], now.twist[i, 5]
        ax, ay, az = now.drift[i, 3], now.drift[i, 4], now.drift[i, 5]
        ux, uy, uz = wy * dz - wz * dy, wz * dx - wx * dz, wx * dy - wy * dx
        px, py, pz = m * (now.twist[i, 0] + ux), m * (now.twist[i, 1] + uy), m * (now.twist[i, 2] + uz)
        fx = m * (now.drift[i, 0] + ay * dz - az * dy + wy * uz - wz * uy)
        fy = m * (now.drift[i, 1] + az * dx - ax * dz + wz * ux - wx * uz)
        fz = m * (now.drift[i, 2] + ax * dy - ay * dx + wx * uy - wy * ux)
        # L = I ω about the centre of mass; its moment there is I α + ω × L
        hx, hy, hz = xx * wx + xy * wy + xz * wz, xy * wx + yy * wy + yz * wz, xz * wx + yz * wy + zz * wz
        nx = xx * ax + xy * ay + xz * az + wy * hz - wz * hy
        ny = xy * ax + yy * ay + yz * az + wz * hx - wx * hz
        nz = xz * ax + yz * ay + zz * az + wx * hy - wy * hx
        force[i, 0], force[i, 1], force[i, 2] = fx, fy, fz
        force[i, 3] = nx + cy * fz - cz * fy
        force[i, 4] = ny + cz * fx - cx * fz
        force[i, 5] = nz + cx * fy - cy * fx
        momentum[0] += px
        momentum[1] += py
        momentum[2] += pz
        momentum[3] += hx + cy * pz - cz * py
        momentum[4] += hy + cz * px - cx * pz
        momentum[5] += hz + cx * py - cy * px
        energy += wx * hx + wy * hy + wz * hz
        if m > 0.0:
            energy += (px * px + py * py + pz * pz) / m
        mx, my, mz = m * cx, m * cy, m * cz
        mass[i, 0], mass[i, 1], mass[i, 2], mass[i, 3] = m, mx, my, mz
        mass[i, 4], mass[i, 5], mass[i, 6] = xx + my * cy + mz * cz, yy + mx * cx + mz * cz, zz + mx * cx + my * cy
        mass[i, 7], mass[i, 8], mass[i, 9] = xy - mx * cy, xz - mx * cz, yz - my * cz
    for i in range(len(now.v)):
        energy += fixed.rotor[i] * now.v[i] * now.v[i]
    now.energy[0] = 0.5 * energy


@compiled
def _gather(fixed: Tree, now: Values, floating: bool) -> None:
    """From the leaves inwards: M = Σ Sⱼᵀ I Sᵢ, h = Sᵀ f + g, and each joint's share of the momentum."""
    M, h, g, mass, force, flow, screw = now.M, now.h, now.g, now.mass, now.force, now.flow, now.screw
    R = now.rotation[0]
    gx, gy, gz = fixed.gravity[0], fixed.gravity[1], fixed.gravity[2]
    M[:] = 0.0
    h[:] = 0.0
    g[:] = 0.0
    for i in range(len(fixed.parent) - 1, 0, -1):
        p, column = fixed.parent[i], fixed.column[i]
        m, mx, my, mz = mass[i, 0], mass[i, 1], mass[i, 2], mass[i, 3]
        xx, yy, zz, xy, xz, yz = mass[i, 4], mass[i, 5], mass[i, 6], mass[i, 7], mass[i, 8], mass[i, 9]
        for k in range(10):
            mass[p, k] += mass[i, k]
        sx, sy, sz, ax, ay, az = screw[i, 0], screw[i, 1], screw[i, 2], screw[i, 3], screw[i, 4], screw[i, 5]
        fx, fy, fz = m * sx + ay * mz - az * my, m * sy + az * mx - ax * mz, m * sz + ax * my - ay * mx
        nx = my * sz - mz * sy + xx * ax + xy * ay + xz * az
        ny = mz * sx - mx * sz + xy * ax + yy * ay + yz * az
        nz = mx * sy - my * sx + xz * ax + yz * ay + zz * az
        flow[i, 0], flow[i, 1], flow[i, 2], flow[i, 3], flow[i, 4], flow[i, 5] = fx, fy, fz, nx, ny, nz
        bias = 0.0
        for k in range(6):
            bias += screw[i, k] * force[i, k]
            force[p, k] += force[i, k]
        weight = -(fx * gx + fy * gy + fz * gz)
        g[column] += weight
        h[column] += bias + weight
        M[column, column] += sx * fx + sy * fy + sz * fz + ax * nx + ay * ny + az * nz
        while p > 0:
            other = fixed.column[p]
            entry = (
                screw[p, 0] * fx + screw[p, 1] * fy + screw[p, 2] * fz
                + screw[p, 3] * nx + screw[p, 4] * ny + screw[p, 5] * nz
            )  # fmt: skip
            M[column, other] += entry
            M[other, column] += entry
            p = fixed.parent[p]
        if floating:
            for k in range(3):
                a, b, c = R[k], R[3 + k], R[6 + k]
                M[column, k] += a * fx + b * fy + c * fz
                M[column, 3 + k] += a * nx + b * ny + c * nz
    if floating:
        _gather_base(fixed, now)
    for i in range(len(now.v)):
        M[i, i] += fixed.rotor[i]
        now.compensation[i] = fixed.compensated[i] * g[i]
    if fixed.group[0] >= 0:
        for i in range(len(now.v)):
            for j in range(len(now.v)):
                if fixed.group[i] != fixed.group[j]:
                    M[i, j] = 0.0


@compiled
def _gather_base(fixed: Tree, now: Values) -> None:
    """The rows of the base: the whole robot, in the axes of the base."""
    M, h, g, R, force = now.M, now.h, now.g, now.rotation[0], now.force[0]
    gx, gy, gz = fixed.gravity[0], fixed.gravity[1], fixed.gravity[2]
    t = now.mass[0]
    m, mx, my, mz, xx, yy, zz, xy, xz, yz = t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9]
    wx, wy, wz = my * gz - mz * gy, mz * gx - mx * gz, mx * gy - my * gx
    for k in range(3):
        a, b, c = R[k], R[3 + k], R[6 + k]
        g[k] = -m * (a * gx + b * gy + c * gz)
        g[3 + k] = -(a * wx + b * wy + c * wz)
        h[k] = g[k] + a * force[0] + b * force[1] + c * force[2]
        h[3 + k] = g[3 + k] + a * force[3] + b * force[4] + c * force[5]
        M[k, k] = m
        # turning about this axis of the base moves the whole by a × mc, and gives it the moment of momentum I a
        fx, fy, fz = b * mz - c * my, c * mx - a * mz, a * my - b * mx
        nx, ny, nz = xx * a + xy * b + xz * c, xy * a + yy * b + yz * c, xz * a + yz * b + zz * c
        for j in range(3):
            M[3 + k, j] = fx * R[j] + fy * R[3 + j] + fz * R[6 + j]
            M[j, 3 + k] = M[3 + k, j]
            M[3 + k, 3 + j] = nx * R[j] + ny * R[3 + j] + nz * R[6 + j]
    for i in range(6, len(now.v)):
        for k in range(6):
            M[k, i] = M[i, k]


@compiled
def _sum_up(fixed: Tree, now: Values, floating: bool) -> None:
    """The robot as a whole: centre of mass, momentum about it, and their matrices."""
    t = now.mass[0]
    m, mx, my, mz, xx, yy, zz, xy, xz, yz = t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9]
    cx, cy, cz = mx / m, my / m, mz / m
    P, bias, A, J = now.momentum, now.momentum_bias, now.momentum_matrix, now.com_jacobian
    for k in range(6):
        bias[k] = now.force[0, k]
    for vector in (P, bias):
        vector[3] -= cy * vector[2] - cz * vector[1]
        vector[4] -= cz * vector[0] - cx * vector[2]
        vector[5] -= cx * vector[1] - cy * vector[0]
    for k in range(3):
        now.com_velocity[k] = P[k] / m
        now.com_bias[k] = bias[k] / m
    A[:] = 0.0
    for i in range(1, len(fixed.parent)):
        column = fixed.column[i]
        fx, fy, fz = now.flow[i, 0], now.flow[i, 1], now.flow[i, 2]
        A[0, column] += fx
        A[1, column] += fy
        A[2, column] += fz
        A[3, column] += now.flow[i, 3] - cy * fz + cz * fy
        A[4, column] += now.flow[i, 4] - cz * fx + cx * fz
        A[5, column] += now.flow[i, 5] - cx * fy + cy * fx
    now.com[0], now.com[1], now.com[2] = cx, cy, cz
    if floating:
        xx, yy, zz = xx - my * cy - mz * cz, yy - mx * cx - mz * cz, zz - mx * cx - my * cy
        xy, xz, yz = xy + mx * cy, xz + mx * cz, yz + my * cz
        for k in range(3):
            a, b, c = now.rotation[0, k], now.rotation[0, 3 + k], now.rotation[0, 6 + k]
            A[0, k], A[1, k], A[2, k] = m * a, m * b, m * c
            A[0, 3 + k], A[1, 3 + k], A[2, 3 + k] = b * mz - c * my, c * mx - a * mz, a * my - b * mx
            A[3, 3 + k] = xx * a + xy * b + xz * c
            A[4, 3 + k] = xy * a + yy * b + yz * c
            A[5, 3 + k] = xz * a + yz * b + zz * c
            now.com[k] += now.q[k]
    for k in range(3):
        for i in range(len(now.v)):
            J[k, i] = A[k, i] / m
    now.energy[1] = -m * (fixed.gravity[0] * now.com[0] + fixed.gravity[1] * now.com[1] + fixed.gravity[2] * now.com[2])
