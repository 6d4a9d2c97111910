"""The reference: whole-body operational space control in the formulas of its paper, corrected, to be read and compared.

It is slow, and it is the oracle of the fast form. With A the mass matrix, h Coriolis and gravity effort, S the joints
with motors (the paper's U), Jc and J̇c v of the constraints:

    J̄c = A⁻¹ Jcᵀ (Jc A⁻¹ Jcᵀ)⁺       Nc = 1 − J̄c Jc
    φ = S Nc A⁻¹ (S Nc)ᵀ             S̄Nc = A⁻¹ (S Nc)ᵀ φ⁺       the dynamically consistent inverse of S Nc
    J* = J S̄Nc                        J*ₚ = J* N*ₚ               what the levels before leave of a task
    Λ = (J*ₚ φ J*ₚᵀ)⁺
    F = Λ (ẍ* − J̇ v + J A⁻¹ Ncᵀ h + J J̄c J̇c v − J A⁻¹ (S Nc)ᵀ τₚ)
    τ = Σ J*ₚᵀ F                      N*ₚ ← N*ₚ (1 − φ J*ₚᵀ Λ J*ₚ)

Of the paper's Eq. 6–7 the last term of F is missing there: what the levels before do to this one. Forces between
contacts are added in the left null space of S Nc (Eq. 8), where they move nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wholebody.control.problem import Problem
from wholebody.model.layout import Array
from wholebody.model.snapshot import Snapshot
from wholebody.tasks import CenterOfPressureTask, ContactForceTask, InternalForceTask, Task

OnForces = CenterOfPressureTask | ContactForceTask | InternalForceTask


@dataclass(frozen=True)
class Answer:
    """What the formulas give: τ of the joints with motors, v̇, λ, and the directions each level did not truncate."""

    effort: Array
    acceleration: Array
    contact_forces: Array
    kept: tuple[Array, ...]  # of each level, as columns in the order of its rows


@dataclass(frozen=True)
class Dynamics:
    """What the constraints make of the robot."""

    A_inverse: Array
    h: Array
    S: Array
    Jc: Array
    Jc_rate: Array  # J̇c v
    Jc_inverse: Array  # J̄c
    Nc: Array
    SNc: Array
    phi: Array
    phi_inverse: Array

    def accelerations(self, efforts: Array) -> Array:
        """v̇ = A⁻¹ Ncᵀ (Sᵀ τ − h) − J̄c J̇c v: forward dynamics with the constraints."""
        free: Array = self.A_inverse @ self.Nc.T @ (self.S.T @ efforts - self.h) - self.Jc_inverse @ self.Jc_rate
        return free


def solve(snapshot: Snapshot, problem: Problem, task_tolerance: float = 1e-6, hard_tolerance: float = 1e-11) -> Answer:
    """Efforts, accelerations and forces of contacts by the formulas above; no limits are enforced."""
    dynamics = constrained(snapshot, problem, hard_tolerance)
    tau = np.zeros(len(dynamics.S))
    N = np.eye(len(tau))
    kept = []
    for level in problem.levels:
        J, wanted = stacked(snapshot, problem, dynamics, level)
        bound = J @ dynamics.A_inverse
        # J* = J A⁻¹ (S Nc)ᵀ φ⁺; where motors cannot push, neither can a task.
        J_star = bound @ dynamics.SNc.T @ dynamics.phi_inverse @ N
        unprojected = np.max(np.diag(bound @ J.T), initial=0.0)
        Lambda = truncated_inverse(J_star @ dynamics.phi @ J_star.T, task_tolerance * unprojected)
        kept.append(_range(Lambda))
        rest = wanted - J @ dynamics.accelerations(tau)
        F = Lambda @ rest
        tau = tau + J_star.T @ F
        N = N @ (np.eye(len(N)) - dynamics.phi @ J_star.T @ Lambda @ J_star)
    acceleration = dynamics.accelerations(tau)
    f = snapshot.M @ acceleration + dynamics.h
    contact = share_out(snapshot, problem, dynamics, f, hard_tolerance)
    tau = dynamics.S @ (f - dynamics.Jc.T @ contact)
    return Answer(tau, acceleration, contact, tuple(kept))


def constrained(snapshot: Snapshot, problem: Problem, tolerance: float = 1e-11) -> Dynamics:
    """J̄c, Nc, S Nc and φ at one instant."""
    A_inverse = np.asarray(np.linalg.inv(snapshot.M), np.float64)
    held = [each.rows(snapshot) for each in problem.constraints if each.state == "enabled"]
    Jc = np.vstack([np.zeros((0, snapshot.model.nv)), *(rows.jacobian for rows in held)])
    rate = np.concatenate([np.zeros(0), *(rows.bias for rows in held)])
    between = Jc @ A_inverse @ Jc.T
    Jc_inverse = A_inverse @ Jc.T @ truncated_inverse(between, tolerance * np.max(np.diag(between), initial=0.0))
    Nc = np.eye(snapshot.model.nv) - Jc_inverse @ Jc
    S = snapshot.model.selection
    SNc = S @ Nc
    phi = SNc @ A_inverse @ SNc.T
    phi_inverse = truncated_inverse(phi, tolerance * np.max(np.diag(phi), initial=0.0))
    h = snapshot.h - snapshot.g + snapshot.gravity_compensation
    return Dynamics(A_inverse, h, S, Jc, rate, Jc_inverse, Nc, SNc, phi, phi_inverse)


def stacked(snapshot: Snapshot, problem: Problem, dynamics: Dynamics, level: Sequence[Task]) -> tuple[Array, Array]:
    """The rows of the tasks of a level that are enabled: J, and the v̇-independent part ẍ* of J v̇ + J̇ v = ẍ*."""
    jacobians, wanted = [np.zeros((0, snapshot.model.nv))], [np.zeros(0)]
    for task in level:
        if task.state != "enabled":
            continue
        if isinstance(task, OnForces):
            J, a = _pressure_as_motion(snapshot, problem, dynamics, task)
        else:
            rows = task.rows(snapshot)
            J, a = rows.jacobian, rows.desired - rows.bias
            if rows.force is not None:
                J_star = J @ dynamics.A_inverse @ dynamics.SNc.T @ dynamics.phi_inverse
                a = a + J_star @ dynamics.phi @ J_star.T @ rows.force
        jacobians.append(J)
        wanted.append(a)
    return np.vstack(jacobians), np.concatenate(wanted)


def share_out(snapshot: Snapshot, problem: Problem, dynamics: Dynamics, f: Array, tolerance: float) -> Array:
    """λ with Sᵀ τ + Jcᵀ λ = f: first what joints without motors need, then tasks on forces, then the least ‖τ‖, ‖λ‖."""
    S, JcT = dynamics.S, dynamics.Jc.T
    without = np.flatnonzero(~S.any(axis=0))
    levels = [(JcT[without], f[without])]
    for level in problem.levels:
        asked = [_on_forces(snapshot, problem, task) for task in level if isinstance(task, OnForces)]
        rows = [each for each in asked if each is not None]
        if rows:
            levels.append((np.vstack([each[0] for each in rows]), np.concatenate([each[1] for each in rows])))
    levels.append((S @ JcT, S @ f))
    contact, N = np.zeros(JcT.shape[1]), np.eye(JcT.shape[1])
    for matrix, target in levels:
        projected = matrix @ N
        largest = np.max(np.sum(matrix**2, axis=1), initial=0.0)
        inverse = projected.T @ truncated_inverse(projected @ projected.T, tolerance * largest)
        contact = contact + inverse @ (target - matrix @ contact)
        N = N @ (np.eye(len(N)) - inverse @ projected)
    return contact


def truncated_inverse(symmetric: Array, least: float) -> Array:
    """The pseudo-inverse, with eigenvalues up to `least` taken for zero."""
    values, vectors = np.linalg.eigh((symmetric + symmetric.T) / 2)
    kept = values > max(least, 0.0)
    inverse: Array = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    return inverse


def _range(symmetric: Array) -> Array:
    """An orthonormal basis of the range of a truncated inverse, as columns."""
    values, vectors = np.linalg.eigh((symmetric + symmetric.T) / 2)
    basis: Array = vectors[:, values > 1e-12 * np.max(values, initial=0.0)]
    return basis


def _on_forces(snapshot: Snapshot, problem: Problem, task: OnForces) -> tuple[Array, Array] | None:
    """A task's rows on λ of all constraints that are enabled; None if a contact of it is off."""
    names = task.describe(snapshot.model).contacts
    enabled = [each for each in problem.constraints if each.state == "enabled"]
    if task.state != "enabled" or not set(names) <= {each.name for each in enabled}:
        return None
    frames = [problem.constraint(name).describe(snapshot.model).frame for name in names]
    asked = task.force_rows(snapshot, frames)
    blocks = []
    for each in enabled:
        rows = each.count_rows()
        block = np.zeros((len(asked.target), rows))
        if each.name in names:
            block[:] = asked.matrices[names.index(each.name)][:, :rows]
        blocks.append(block)
    return np.hstack(blocks), asked.target


def _pressure_as_motion(
    snapshot: Snapshot, problem: Problem, dynamics: Dynamics, task: OnForces
) -> tuple[Array, Array]:
    """Rows on v̇ of a centre of pressure, if motion alone decides λ = (S̄ Jcᵀ)⁺ S̄ (M v̇ + h); else none."""
    nothing = np.zeros((0, snapshot.model.nv)), np.zeros(0)
    rows = _on_forces(snapshot, problem, task)
    without = np.flatnonzero(~dynamics.S.any(axis=0))
    C = dynamics.Jc.T[without]
    if rows is None or not isinstance(task, CenterOfPressureTask) or np.linalg.matrix_rank(C) < C.shape[1]:
        return nothing
    matrix, target = rows
    on_effort = matrix @ np.linalg.pinv(C)
    return on_effort @ snapshot.M[without], target - on_effort @ dynamics.h[without]
