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

(…)⁺ truncates: eigenvalues up to `least` count as zero. Where that would be a step, the mean of all τ so truncated is
taken, τ = ∫₀¹ τ(θ) ds(θ), s = θ² (3 − 2 θ), with `least` θ times what is regular, and with rows that are on their way
in or out where θ is below their activation: see `singular.c`. Springs are bounded as in `springs.c`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from wbosc_reference_levels import Dynamics, Stacked, shared, truncated, truncated_inverse

from wholebody.control.problem import Problem
from wholebody.control.wbosc import TASK_TOLERANCE
from wholebody.model.layout import Array, Integers
from wholebody.model.snapshot import Snapshot
from wholebody.tasks import (
    CenterOfPressureTask,
    ContactForceTask,
    InternalForceTask,
    JointLimitTask,
    JointPositionTask,
    Task,
)
from wholebody.tasks.kinds import CUSTOM

TURNING = 3
"""Rows of a task from here on are of another unit: they turn, those before them move."""

OnForces = CenterOfPressureTask | ContactForceTask | InternalForceTask


@dataclass(frozen=True)
class Answer:
    """What the formulas give: τ of the joints with motors, v̇, λ, and the directions in which a level is regular."""

    effort: Array
    acceleration: Array
    contact_forces: Array
    kept: tuple[Array, ...]  # of each level, as columns in the order of its rows


def solve(
    snapshot: Snapshot,
    problem: Problem,
    singular: str = "shared",
    task_tolerance: float | None = None,
    force_tolerance: float = 1e-6,
    hard_tolerance: float = 1e-11,
) -> Answer:
    """Efforts, accelerations and forces of contacts by the formulas above; no limits are enforced."""
    tolerance = TASK_TOLERANCE[singular] if task_tolerance is None else task_tolerance
    dynamics = constrained(snapshot, problem, hard_tolerance)
    levels = [stacked(snapshot, problem, dynamics, level) for level in problem.levels]
    if singular == "truncated":
        tau, kept, _ = truncated(dynamics, levels, [tolerance * np.max(each.size, initial=0.0) for each in levels])
    else:
        tau, kept = shared(dynamics, levels, tolerance, hard_tolerance)
    acceleration = dynamics.accelerations(tau)
    f = snapshot.M @ acceleration + dynamics.h
    contact = share_out(snapshot, problem, dynamics, f, force_tolerance, hard_tolerance)
    tau = dynamics.S @ (f - dynamics.Jc.T @ contact)
    return Answer(tau, acceleration, contact, kept)


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


def stacked(snapshot: Snapshot, problem: Problem, dynamics: Dynamics, level: Sequence[Task]) -> Stacked:
    """The rows of the tasks of a level that are enabled."""
    nothing = np.zeros(0)
    parts = [(np.zeros((0, snapshot.model.nv)), nothing, np.zeros(0, int), nothing, nothing, nothing, nothing)]
    for task in level:
        if task.state != "enabled":
            continue
        if isinstance(task, OnForces):
            J, a = _pressure_as_motion(snapshot, problem, dynamics, task)
            spring, asked, pull, activation = np.zeros(len(J)), np.zeros(len(J)), np.zeros(len(J)), np.ones(len(J))
        else:
            rows, at = task.rows(snapshot), task.selected(snapshot)
            J, a = rows.jacobian, rows.desired - rows.bias
            spring, pull = task.spring(snapshot), task.stiffness[at] * task.error_limit
            asked, activation = rows.desired + task.damping[at] * task.velocity(snapshot), task.activation(snapshot)
            if rows.force is not None:
                J_star = dynamics.pushed(J)
                a = a + J_star @ dynamics.phi @ J_star.T @ rows.force
                spring = np.zeros(len(J))
        block = _blocks(task, snapshot, len(J)) + 1 + np.max(np.concatenate([each[2] for each in parts]), initial=-1)
        parts.append((J, a, block, spring, asked, pull, activation))
    J, wanted, blocks, spring, asked, pull, activation = (np.concatenate(each) for each in zip(*parts, strict=True))
    J_star = dynamics.pushed(J)
    size = np.einsum("ij,jk,ik->i", J, dynamics.A_inverse, J)
    free = np.einsum("ij,jk,ik->i", J_star, dynamics.phi, J_star)
    return Stacked(J, J_star, wanted, size, free, blocks, spring, asked, pull, activation)


def _blocks(task: Task, snapshot: Snapshot, rows: int) -> Integers:
    """Which rows of a task are measured together: joints each alone; what moves, and what turns."""
    if isinstance(task, JointPositionTask | JointLimitTask):
        return np.arange(rows)
    if isinstance(task, OnForces) or task.describe(snapshot.model).kind == CUSTOM:
        return np.zeros(rows, int)
    which: Integers = np.arange(task.count_rows())[task.selected(snapshot)] // TURNING
    return which


def share_out(
    snapshot: Snapshot, problem: Problem, dynamics: Dynamics, f: Array, force_tolerance: float, tolerance: float
) -> Array:
    """λ with Sᵀ τ + Jcᵀ λ = f: first what joints without motors need, then tasks on forces, then the least ‖τ‖, ‖λ‖."""
    S, JcT = dynamics.S, dynamics.Jc.T
    without = np.flatnonzero(~S.any(axis=0))
    levels = [(JcT[without], f[without], tolerance)]
    for level in problem.levels:
        asked = [_on_forces(snapshot, problem, task) for task in level if isinstance(task, OnForces)]
        rows = [each for each in asked if each is not None]
        if rows:
            matrix, target = np.vstack([each[0] for each in rows]), np.concatenate([each[1] for each in rows])
            levels.append((matrix, target, force_tolerance))
    levels.append((S @ JcT, S @ f, tolerance))
    contact, N = np.zeros(JcT.shape[1]), np.eye(JcT.shape[1])
    for matrix, target, share in levels:
        projected = matrix @ N
        largest = np.max(np.sum(matrix**2, axis=1), initial=0.0)
        inverse = projected.T @ truncated_inverse(projected @ projected.T, share * largest)
        contact = contact + inverse @ (target - matrix @ contact)
        N = N @ (np.eye(len(N)) - inverse @ projected)
    return contact


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
