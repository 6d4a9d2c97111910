"""Velocities and accelerations of the joints that make tasks move as told: first- and second-order kinematics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wholebody import _kernels
from wholebody.kinematics.inverse import goals_of
from wholebody.kinematics.inverse_variables import BASE, support_of, variables_of
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.tasks import Task


class Rows(NamedTuple):
    """The tasks at a state, one below the other."""

    error: Array
    velocity: Array  # ẋ*
    desired: Array  # ẍ*, with feedback
    bias: Array  # J̇ v
    J: Array  # m × nv


def rotation_gap(to: npt.ArrayLike, at: npt.ArrayLike) -> tuple[float, float, float]:
    """The rotation vector of R* Rᵀ, in world, by the shorter way: R* is 3 × 3 or by rows, `at` a 4 × 4 placement."""
    return _kernels.kinematics_rotation_gap(np.ascontiguousarray(to), np.ascontiguousarray(at))


def pseudo_inverse(J: Array, regularisation: float = 0.0, mobility: Array | None = None) -> Array:
    """The weighted, regularised pseudo-inverse, Eq. 4.10: J♯ = W⁻¹Jᵀ (J W⁻¹Jᵀ + C⁻¹)⁻¹.

    C⁻¹ is the regularisation times the unit matrix, mobility the diagonal of W⁻¹ (ones, unless told). Without
    regularisation, directions in which J is singular are left alone.
    """
    WJ = J.T if mobility is None else mobility[:, None] * J.T
    A = J @ WJ + regularisation * np.eye(len(J))
    inverse = np.linalg.inv(A) if regularisation > 0 else np.linalg.pinv(A, rcond=1e-10, hermitian=True)
    result: Array = WJ @ inverse
    return result


class ResolvedMotion:
    """Joint velocities and accelerations for tasks whose goals move.

        hand = CartesianPositionTask("hand", "left_palm", start)
        resolved = ResolvedMotion(model, [hand])
        hand.goal, hand.goal_velocity, hand.goal_acceleration = x, x_dot, x_ddot
        v_dot = resolved.accelerations(model.at(q, v))

    Velocities, Eq. 3.18:     v = J♯ (ẋ* + K_P e), with a rate K_P
    Accelerations, Eq. 3.19:  v̇ = J♯ (ẍ* + K_D ė + K_P e − J̇ v), with the gains of the tasks

    What the tasks leave free is braked by v̇ = −posture_damping · v, seen through the null space. Tasks, `fixed` and
    `joints` are those of InverseKinematics. Joint limits are not looked at: what integrates these must.
    """

    def __init__(
        self,
        model: Model,
        tasks: Sequence[Task],
        fixed: str | None = BASE,
        *,
        joints: Iterable[str] | None = None,
        posture_damping: float = 1.0,
        regularisation: float = 1e-6,
    ) -> None:
        self.model, self.tasks = model, tuple(tasks)
        goals_of(model, self.tasks)
        self.posture_damping, self.regularisation = posture_damping, regularisation
        self._support = support_of(model, fixed)
        variables = variables_of(model, joints, free_base=fixed is None and model.floating)
        self._selection = np.zeros((model.nv, len(variables.place)))
        moves = np.flatnonzero(variables.variable >= 0)
        self._selection[moves, variables.variable[moves]] = variables.ratio[moves]

    def velocities(self, snapshot: Snapshot, rate: float) -> Array:
        """v = J♯ (ẋ* + K_P e), Eq. 3.18; rate is K_P, in 1/s."""
        rows = self._look(snapshot)
        B, _ = self._response(snapshot)
        z_dot = pseudo_inverse(rows.J @ B, self.regularisation) @ (rows.velocity + rate * rows.error)
        v: Array = B @ z_dot
        return v

    def accelerations(self, snapshot: Snapshot) -> Array:
        """v̇ = J♯ (ẍ* + K_D ė + K_P e − J̇ v), Eq. 3.19."""
        rows = self._look(snapshot)
        B, drift = self._response(snapshot)
        J = rows.J @ B
        brake = -self.posture_damping * np.linalg.lstsq(self._selection, snapshot.v, rcond=None)[0]
        z_ddot = brake + pseudo_inverse(J, self.regularisation) @ (
            rows.desired - rows.bias - rows.J @ drift - J @ brake
        )
        v_dot: Array = B @ z_ddot + drift
        return v_dot

    def _look(self, snapshot: Snapshot) -> Rows:
        """The rows of all tasks that are enabled."""
        tasks = [task for task in self.tasks if task.state == "enabled"]
        return Rows(
            np.concatenate([task.error(snapshot) for task in tasks]),
            np.concatenate([task.goal_velocity[task.selected(snapshot)] for task in tasks]),
            np.concatenate([task.desired(snapshot) for task in tasks]),
            np.concatenate([task.bias(snapshot) for task in tasks]),
            np.concatenate([task.jacobian(snapshot) for task in tasks]),
        )

    def _response(self, snapshot: Snapshot) -> tuple[Array, Array]:
        """B and b with v = B ż and v̇ = B z̈ + b: how all joints and the base answer to the variables.

        A support that stands still asks for J_s v = 0 and J_s v̇ + J̇_s v = 0, which gives the base.
        """
        drift = np.zeros(self.model.nv)
        if self._support < 0:
            return self._selection, drift
        J = snapshot.jacobian(self._support)
        B = self._selection.copy()
        B[:6] = -np.linalg.solve(J[:, :6], J[:, 6:] @ B[6:])
        drift[:6] = -np.linalg.solve(J[:, :6], snapshot.bias(self._support))
        return B, drift
