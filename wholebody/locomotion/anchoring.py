"""Anchoring: a Balance in the world of the footsteps: odometry drifts, the foot that bears stays where it was put."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from wholebody.estimation import Balance
from wholebody.locomotion.footsteps import Place
from wholebody.locomotion.swing import FootPoint
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array

HASTE = 0.3
"""How far the share of each foot goes, in one cycle, to what is measured."""


class Anchoring:
    """Turns and moves a Balance about the vertical so that its feet are where they are thought to stand.

    Heading is that of the foot that bears more; place and height are of both, as much as each bears.
    """

    def __init__(self, balance: Balance) -> None:
        """`balance` is what an estimator of the left and the right sole fills in, cycle by cycle."""
        self._balance = balance
        self._vectors = vectors = np.zeros((5, 3))
        self.anchored = balance._replace(
            orientation=balance.orientation.copy(),
            com_velocity=vectors[0],
            base_in_world=vectors[1],
            com_in_world=vectors[2],
            capture_point=vectors[3],
            cop_in_world=vectors[4],
            sole_to_world=balance.sole_to_world.copy(),
        )
        self._feet, self._share, self._motion = np.zeros((2, 4)), np.full(1, 0.5), np.zeros(4)
        here = FootPoint(Place(0.0, 0.0, 0.0), 0.0)
        self.update(here, here)  # compiles now, not in a loop
        self.reset()

    def reset(self) -> None:
        """Forget which foot bears."""
        self._share[0] = 0.5

    def update(self, left: FootPoint, right: FootPoint) -> Balance:
        """The balance as it is now; overwritten by the next."""
        seen, there = self._balance, self.anchored
        self._feet[:] = (*left.place, left.height), (*right.place, right.height)
        find(seen.wrench_in_sole, seen.contact, seen.sole_to_world, self._feet, self._share, self._motion)
        move(
            *(seen.com_velocity, seen.base_in_world, seen.com_in_world, seen.capture_point, seen.cop_in_world),
            *(seen.sole_to_world, seen.orientation, self._motion),
            *(self._vectors, there.sole_to_world, there.orientation),
        )
        return there


@compiled
def find(wrench: Array, contact: npt.NDArray[np.bool_], soles: Array, feet: Array, share: Array, motion: Array) -> None:
    """The motion d, turn: p ← Rz p + d, so that Σ sᵢ (Rz soleᵢ + d) = Σ sᵢ footᵢ; feet: x, y, yaw, height of each."""
    left, right = max(wrench[0, 2], 0.0), max(wrench[1, 2], 0.0)
    if contact.any() and left + right > 0.0:
        share[0] += HASTE * (left / (left + right) - share[0])
    s = share[0]
    bears = 0 if s > 0.5 else 1
    turn = feet[bears, 2] - math.atan2(soles[bears, 1, 0], soles[bears, 0, 0])
    cosine, sine = math.cos(turn), math.sin(turn)
    x = s * soles[0, 0, 3] + (1 - s) * soles[1, 0, 3]
    y = s * soles[0, 1, 3] + (1 - s) * soles[1, 1, 3]
    z = s * soles[0, 2, 3] + (1 - s) * soles[1, 2, 3]
    motion[0] = s * feet[0, 0] + (1 - s) * feet[1, 0] - cosine * x + sine * y
    motion[1] = s * feet[0, 1] + (1 - s) * feet[1, 1] - sine * x - cosine * y
    motion[2] = s * feet[0, 3] + (1 - s) * feet[1, 3] - z
    motion[3] = turn


@compiled
def move(
    velocity: Array, base: Array, com: Array, capture: Array, pressure: Array, soles: Array, orientation: Array,
    motion: Array, vectors: Array, moved_soles: Array, moved_orientation: Array,
) -> None:  # fmt: skip
    """Everything by a motion; `vectors` takes the first five."""
    still = np.zeros(3)
    cosine, sine = math.cos(motion[3]), math.sin(motion[3])
    _move(velocity, cosine, sine, still, vectors[0])
    _move(base, cosine, sine, motion, vectors[1])
    _move(com, cosine, sine, motion, vectors[2])
    _move(capture, cosine, sine, motion, vectors[3])
    _move(pressure, cosine, sine, motion, vectors[4])
    for side in range(len(soles)):
        for k in range(4):
            _move(soles[side, :, k], cosine, sine, motion if k == 3 else still, moved_soles[side, :, k])
    c, s = math.cos(0.5 * motion[3]), math.sin(0.5 * motion[3])
    x, y, z, w = orientation[0], orientation[1], orientation[2], orientation[3]
    moved_orientation[0], moved_orientation[1] = c * x - s * y, c * y + s * x
    moved_orientation[2], moved_orientation[3] = c * z + s * w, c * w - s * z


@compiled
def _move(vector: Array, cosine: float, sine: float, by: Array, into: Array) -> None:
    into[0] = cosine * vector[0] - sine * vector[1] + by[0]
    into[1] = sine * vector[0] + cosine * vector[1] + by[1]
    into[2] = vector[2] + by[2]
