"""LimbLoads: what the ground does to limbs that have no sensors, from joint efforts and encoders, by a Kalman filter.

At rest, a robot on limbs i with forces fᵢ obeys g(q) − Σ Jᵢᵀ fᵢ = (0, τ): six rows of the base, which nothing but the
limbs holds, and one of every joint. The state is all fᵢ, which wander; efforts τ and the zero of the base are
measured. What the robot's accelerations add is noise of the measurement. (Crawl, §5.4.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from wholebody.errors import BadEstimator, SensorLost
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.parameters import Bounds, Unit


@dataclass(frozen=True)
class LoadNoise:
    """Standard deviations: how far a force wanders in a second's root, and what rows are wrong by."""

    wander: Annotated[float, Unit("N/√s"), Bounds(1.0, 1e6)] = 600.0
    joint: Annotated[float, Unit("N·m"), Bounds(0.01, 1e4)] = 10.0
    base_force: Annotated[float, Unit("N"), Bounds(0.1, 1e5)] = 60.0
    base_torque: Annotated[float, Unit("N·m"), Bounds(0.1, 1e5)] = 40.0


class LimbLoads:
    """Forces on limbs, cycle by cycle: `forces` (limbs × 3, N, in world) and their `deviations`.

    touching says which limbs bear more than a share of the weight; it has hysteresis, of a half.
    """

    def __init__(
        self, model: Model, frames: Sequence[int], noise: LoadNoise | None = None, period: float = 0.005,
        share: float = 0.05,
    ) -> None:  # fmt: skip
        if not model.floating:
            raise BadEstimator(f"{model.robot.name} is bolted down: its limbs bear nothing")
        self.model, self.frames = model, tuple(frames)
        level = noise or LoadNoise()
        size = 3 * len(self.frames)
        self._wander = np.eye(size) * level.wander**2 * period
        base = [level.base_force] * 3 + [level.base_torque] * 3
        self._certainty = 1 / np.array(base + [level.joint] * (model.nv - 6)) ** 2
        self._least = share * model.total_mass * 9.81
        self._H, self._z = np.zeros((model.nv, size)), np.zeros(model.nv)
        self.reset()

    def reset(self) -> None:
        """Forget all: the weight is shared alike."""
        count = len(self.frames)
        self.forces = np.zeros((count, 3))
        self.forces[:, 2] = self.model.total_mass * 9.81 / count
        self._P = np.eye(3 * count) * (self.model.total_mass * 9.81) ** 2
        self.touching = np.ones(count, bool)

    @property
    def deviations(self) -> Array:
        """Standard deviations of the forces, limbs × 3, N."""
        return np.sqrt(np.diag(self._P)).reshape(-1, 3)

    def update(self, at: Snapshot, efforts: Array, inertial: Array | None = None) -> Array:
        """One cycle; at has the base turned as it is (where it is does not matter). Returns the forces.

        inertial is M a + h − g of a motion that is known, such as a planned one; without it, it is noise.
        """
        if not np.isfinite(efforts).all():
            raise SensorLost("a joint's effort is no number")
        for index, frame in enumerate(self.frames):
            self._H[:, 3 * index : 3 * index + 3] = at.jacobian(frame)[:3].T
        self._z[:] = at.g
        self._z[6:] -= efforts
        if inertial is not None:
            self._z += inertial
        weighted = self._H.T * self._certainty
        P = np.linalg.inv(np.linalg.inv(self._P + self._wander) + weighted @ self._H)
        f = self.forces.ravel()
        f = f + P @ (weighted @ (self._z - self._H @ f))
        self._P, self.forces = (P + P.T) / 2, f.reshape(-1, 3)
        up = self.forces[:, 2]
        self.touching = np.where(self.touching, up > self._least / 2, up > self._least)
        return self.forces
