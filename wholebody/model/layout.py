"""Where everything of a snapshot lies in its flat array, as views for Python; layout.c carves the same for kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

HEADER, LANES = 8, 2


@dataclass(slots=True)
class Values:
    """What a Snapshot holds; the last ones are needed on the way."""

    q: Array
    v: Array
    M: Array  # nv × nv
    h: Array
    g: Array
    compensation: Array  # g where gravity is to be compensated
    com: Array  # 3, in world
    com_velocity: Array
    com_bias: Array
    momentum: Array  # 6
    momentum_bias: Array  # 6
    energy: Array  # kinetic, potential
    com_jacobian: Array  # 3 × nv
    momentum_matrix: Array  # 6 × nv
    placement: Array  # f × 4 × 4, frame to world
    position: Array  # f × 3, in world
    velocity: Array  # f × 6
    bias: Array  # f × 6
    jacobian: Array  # f × 6 × nv
    lever: Array  # f × 3, of the frame from O
    rotation: Array  # n × 9, body to world, by rows
    origin: Array  # n × 3, of the body from O
    twist: Array  # n × 6, of the body's origin
    drift: Array  # n × 6, acceleration of the body's origin with v̇ = 0
    screw: Array  # n × 6, velocity of O and angular velocity that a unit of v gives to the subtree
    burden: Array  # w × 16, of the subtree: mass, first moment, inertia, then force and moment, about O; w = n + LANES
    flow: Array  # w × 6, momentum of the subtree, about O, that a unit of v gives it
    column_flow: Array  # 6 × (nv + LANES), the sum of these over the bodies that a column of v moves


def carve_values(integers: Integers, storage: Array) -> Values:
    """Carve the values from a flat array of `size` numbers."""
    n, f, nv, nq = integers[0], integers[1], integers[2], integers[3]
    a = nq + nv
    b = a + nv * nv
    c = b + 3 * nv
    d = c + 23
    e = d + 9 * nv
    p = e + 31 * f
    s = p + 6 * nv * f + 3 * f
    t, w = s + 30 * n, n + LANES
    return Values(
        q=cut(storage, 0, (nq,)),
        v=cut(storage, nq, (nv,)),
        M=cut(storage, a, (nv, nv)),
        h=cut(storage, b, (nv,)),
        g=cut(storage, b + nv, (nv,)),
        compensation=cut(storage, b + 2 * nv, (nv,)),
        com=cut(storage, c, (3,)),
        com_velocity=cut(storage, c + 3, (3,)),
        com_bias=cut(storage, c + 6, (3,)),
        momentum=cut(storage, c + 9, (6,)),
        momentum_bias=cut(storage, c + 15, (6,)),
        energy=cut(storage, c + 21, (2,)),
        com_jacobian=cut(storage, d, (3, nv)),
        momentum_matrix=cut(storage, d + 3 * nv, (6, nv)),
        placement=cut(storage, e, (f, 4, 4)),
        position=cut(storage, e + 16 * f, (f, 3)),
        velocity=cut(storage, e + 19 * f, (f, 6)),
        bias=cut(storage, e + 25 * f, (f, 6)),
        jacobian=cut(storage, p, (f, 6, nv)),
        lever=cut(storage, s - 3 * f, (f, 3)),
        rotation=cut(storage, s, (n, 9)),
        origin=cut(storage, s + 9 * n, (n, 3)),
        twist=cut(storage, s + 12 * n, (n, 6)),
        drift=cut(storage, s + 18 * n, (n, 6)),
        screw=cut(storage, s + 24 * n, (n, 6)),
        burden=cut(storage, t, (w, 16)),
        flow=cut(storage, t + 16 * w, (w, 6)),
        column_flow=cut(storage, t + 22 * w, (6, nv + LANES)),
    )


def size(integers: Integers) -> int:
    """How many numbers the values of one snapshot take."""
    n, f, nv, nq = (int(each) for each in integers[:4])
    return nq + nv + nv * nv + 12 * nv + 23 + f * (34 + 6 * nv) + 30 * n + 22 * (n + LANES) + 6 * (nv + LANES)


def cut(array: Array, start: int, shape: tuple[int, ...]) -> Array:
    """The numbers from `start` on in that shape, a view."""
    return array[start : start + math.prod(shape)].reshape(shape)
