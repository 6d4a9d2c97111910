"""CrawlEfforts: what joints have to push while a robot on limbs moves as planned, and how far servos must be led.

M a + h − Σ Jᵢᵀ fᵢ = (0, τ): the six rows of the base, which nothing but the limbs holds, say what limbs bear together;
of all forces that do, those of least Σ |fᵢ|²/aᵢ are taken, where aᵢ, the load, says how far a limb may bear. A servo
pushes with τ = K (θ_told − θ) − D θ̇, so that joints are told θ* + (τ + D θ̇*) / K.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wholebody.model.layout import Array
from wholebody.model.model import Model

LEAST_LOAD = 1e-4
FRESH = 0.3
"""The share of a new acceleration in the one that counts: differences of positions are rough."""


class CrawlEfforts:
    """Cycle by cycle, from configurations that follow each other.

    forces      limbs × 3, N, in world: what the ground does to each
    inertial    M a + h − g, generalised forces
    """

    def __init__(self, model: Model, frames: Sequence[int], period: float) -> None:
        self.model, self.period = model, period
        self._frames = tuple(frames)
        gains = [model.robot.gains.get(name) for name in model.robot.joint_names]
        self._give = np.array([1 / gain.stiffness if gain and gain.stiffness > 0 else 0.0 for gain in gains])
        self._damping = np.array([gain.damping if gain else 0.0 for gain in gains])
        self._J = np.zeros((3 * len(self._frames), model.nv))
        self.reset()

    def reset(self) -> None:
        """At rest."""
        self._v, self._a = np.zeros(self.model.nv), np.zeros(self.model.nv)
        self.forces, self.inertial = np.zeros((len(self._frames), 3)), np.zeros(self.model.nv)

    def lead(self, q: Array, step: Array, load: Array) -> Array:
        """How far joints are to be told ahead of q, to which the last step has led; one load for each limb."""
        v = step / self.period
        self._a += FRESH * ((v - self._v) / self.period - self._a)
        self._v = v
        at = self.model.at(q, v)
        need = at.M @ self._a + at.h
        self.inertial = need - at.g
        J = self._J
        for index, frame in enumerate(self._frames):
            J[3 * index : 3 * index + 3] = at.jacobian(frame)[:3]
        G = J[:, :6].T
        weighted = G * np.maximum(np.repeat(load, 3), LEAST_LOAD)
        f = weighted.T @ np.linalg.solve(weighted @ G.T, need[:6])
        self.forces = f.reshape(-1, 3)
        efforts = (need - J.T @ f)[6:]
        return np.asarray((efforts + self._damping * v[6:]) * self._give)
