"""Velocities and accelerations of the joints that make frames move as told: first- and second-order kinematics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadGoal
from wholebody.kinematics.inverse_goals import (
    ANGULAR,
    BASE,
    COM,
    ComGoal,
    Goal,
    flat_target,
    name_of,
    rotation_gap,
    rows_of,
    support_of,
    variables_of,
)
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot


@dataclass(frozen=True)
class GoalMotion:
    """How a goal moves at an instant: its target, and in the axes of the world its velocity and acceleration.

    Velocity and acceleration are three numbers for a point or the centre of mass, three (angular) for an orientation,
    six (linear, angular) for a pose; zero, unless told.
    """

    target: npt.ArrayLike
    velocity: npt.ArrayLike | None = None
    acceleration: npt.ArrayLike | None = None


class Rows(NamedTuple):
    """The goals at a state, one row for each coordinate."""

    error: Array  # target − present
    velocity: Array  # J v
    bias: Array  # J̇ v
    J: Array  # m × nv


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
    """Joint velocities and accelerations for goals that move.

        resolved = ResolvedMotion(model, [PointGoal("left_palm", start)])
        v_dot = resolved.accelerations(model.at(q, v), [GoalMotion(x, x_dot, x_ddot)])

    Velocities, Eq. 3.18:     v = J♯ (ẋ* + K_P e)
    Accelerations, Eq. 3.19:  v̇ = J♯ (ẍ* + K_D ė + K_P e − J̇ v)

    What the goals leave free is braked by v̇ = −posture_damping · v, seen through the null space. Goals, `fixed` and
    `joints` are those of InverseKinematics. Joint limits are not looked at: what integrates these must.
    """

    def __init__(
        self,
        model: Model,
        goals: Sequence[Goal],
        fixed: str | None = BASE,
        *,
        joints: Iterable[str] | None = None,
        stiffness: float = 100.0,
        damping: float = 20.0,
        posture_damping: float = 1.0,
        regularisation: float = 1e-6,
    ) -> None:
        if not goals:
            raise BadGoal("there are no goals: give at least one")
        self.model, self.goals = model, tuple(goals)
        self.stiffness, self.damping, self.posture_damping = stiffness, damping, posture_damping
        self.regularisation = regularisation
        self._support = support_of(model, fixed)
        self._frames = [None if isinstance(goal, ComGoal) else model.frame(goal.frame) for goal in self.goals]
        self._rows = [rows_of(goal, index) for index, goal in enumerate(self.goals)]
        variables = variables_of(model, joints, free_base=fixed is None and model.floating)
        self._selection = np.zeros((model.nv, len(variables.place)))
        moves = np.flatnonzero(variables.variable >= 0)
        self._selection[moves, variables.variable[moves]] = variables.ratio[moves]

    def velocities(self, snapshot: Snapshot, motions: Sequence[GoalMotion]) -> Array:
        """v = J♯ (ẋ* + K_P e), Eq. 3.18."""
        rows, (velocity, _) = self._look(snapshot, motions), self._wanted(motions)
        B, _ = self._response(snapshot)
        z_dot = pseudo_inverse(rows.J @ B, self.regularisation) @ (velocity + self.stiffness * rows.error)
        v: Array = B @ z_dot
        return v

    def accelerations(self, snapshot: Snapshot, motions: Sequence[GoalMotion]) -> Array:
        """v̇ = J♯ (ẍ* + K_D ė + K_P e − J̇ v), Eq. 3.19."""
        rows, (velocity, acceleration) = self._look(snapshot, motions), self._wanted(motions)
        B, drift = self._response(snapshot)
        wanted = acceleration + self.damping * (velocity - rows.velocity) + self.stiffness * rows.error
        J = rows.J @ B
        brake = -self.posture_damping * np.linalg.lstsq(self._selection, snapshot.v, rcond=None)[0]
        z_ddot = brake + pseudo_inverse(J, self.regularisation) @ (wanted - rows.bias - rows.J @ drift - J @ brake)
        v_dot: Array = B @ z_ddot + drift
        return v_dot

    def _look(self, snapshot: Snapshot, motions: Sequence[GoalMotion]) -> Rows:
        """The rows of all goals at a state."""
        if len(motions) != len(self.goals):
            raise BadGoal(f"{len(motions)} motions for {len(self.goals)} goals; give one for each")
        error, velocity, bias, J = [], [], [], []
        for goal, frame, rows, motion in zip(self.goals, self._frames, self._rows, motions, strict=True):
            target = flat_target(goal, motion.target)
            for _, what, axis, _ in rows:
                if what == COM or frame is None:
                    error.append(target[9 + axis] - snapshot.com_in_world[axis])
                    velocity.append(snapshot.com_velocity[axis])
                    bias.append(snapshot.com_bias[axis])
                    J.append(snapshot.com_jacobian[axis])
                    continue
                if what == ANGULAR:
                    gap, row = rotation_gap(target[:9], snapshot.placement(frame))[axis], 3 + axis
                else:
                    gap, row = float(target[9 + axis] - snapshot.position(frame)[axis]), axis
                error.append(gap)
                velocity.append(snapshot.velocity(frame)[row])
                bias.append(snapshot.bias(frame)[row])
                J.append(snapshot.jacobian(frame)[row])
        return Rows(np.array(error), np.array(velocity), np.array(bias), np.array(J))

    def _wanted(self, motions: Sequence[GoalMotion]) -> tuple[Array, Array]:
        """ẋ* and ẍ* of all rows."""
        parts: tuple[list[float], list[float]] = ([], [])
        for goal, rows, motion in zip(self.goals, self._rows, motions, strict=True):
            poses = len({what for _, what, _, _ in rows}) == 2
            for values, given in zip(parts, (motion.velocity, motion.acceleration), strict=True):
                rate = np.zeros(6 if poses else 3) if given is None else np.asarray(given, np.float64)
                if rate.shape != (6 if poses else 3,) or not np.isfinite(rate).all():
                    raise BadGoal(f"the motion of {name_of(goal)} needs {6 if poses else 3} numbers, not {given}")
                values += [float(rate[3 + axis if poses and what == ANGULAR else axis]) for _, what, axis, _ in rows]
        return np.array(parts[0]), np.array(parts[1])

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
