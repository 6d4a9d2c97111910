"""Where everything of a snapshot lies in its flat array, as views for Python; layout.c carves the same for kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

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


def shapes_of(integers: Integers) -> tuple[tuple[int, ...], ...]:
    """The shapes of all values of a snapshot, in their order."""
    n, f, nv, nq = (int(each) for each in integers[:4])
    w = n + LANES
    return (
        *((nq,), (nv,), (nv, nv), (nv,), (nv,), (nv,)),
        *((3,), (3,), (3,), (6,), (6,), (2,), (3, nv), (6, nv)),
        *((f, 4, 4), (f, 3), (f, 6), (f, 6), (f, 6, nv), (f, 3)),
        *((n, 9), (n, 3), (n, 6), (n, 6), (n, 6), (w, 16), (w, 6), (6, nv + LANES)),
    )


def carve_values(integers: Integers, storage: Array) -> Values:
    """Carve the values from a flat array of `size` numbers."""
    shapes = shapes_of(integers)
    starts = accumulate((math.prod(shape) for shape in shapes), initial=0)
    return Values(*(cut(storage, start, shape) for start, shape in zip(starts, shapes, strict=False)))


def size(integers: Integers) -> int:
    """How many numbers the values of one snapshot take."""
    return sum(math.prod(shape) for shape in shapes_of(integers))


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same memory, not to be written by who gets it."""
    view = array.view()
    view.flags.writeable = False
    return view


def cut(array: Array, start: int, shape: tuple[int, ...]) -> Array:
    """The numbers from `start` on in that shape, a view."""
    return array[start : start + math.prod(shape)].reshape(shape)
