"""Robots standing, and an independent solution of the same problems: dense programs in v̇ and λ, one for each level."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import piqp

from wholebody import robots
from wholebody.constraints import FlatContact
from wholebody.control import Problem
from wholebody.control.friction import sole_rows
from wholebody.control.quadratic_limits import velocity_range
from wholebody.model import Model
from wholebody.tasks import CartesianPositionTask, CenterOfMassTask, JointPositionTask

FEET = ("left_sole", "right_sole")


@cache
def model_of(name: str) -> Model:
    return Model(robots.load(name))


def feet(*names: str) -> list[FlatContact]:
    return [FlatContact(name.replace("sole", "foot"), name) for name in names or FEET]


def standing(model: Model, com=(0.0, 0.0, 0.0), hand=(0.0, 0.0, 0.0), posture=None, q=None, contacts=FEET) -> Problem:
    """Centre of mass, then a hand, then the posture; each goal beside where it is."""
    q = model.posture("stand") if q is None else q
    now = model.at(q)
    frame = "left_palm" if "left_palm" in model.frames else model.frames[len(model.frames) // 2]
    return Problem(
        [
            [CenterOfMassTask("com", now.com_in_world + com)],
            [CartesianPositionTask("hand", frame, now.position(model.frame(frame)) + hand)],
            [JointPositionTask("posture", goal=q[-len(model.joint_names) :] if posture is None else posture)],
        ],
        feet(*contacts),
    )


def near_standing(model: Model, rng: np.random.Generator, spread: float = 0.1, speed: float = 0.1):
    """A state about the standing posture, within the limits."""
    q = model.posture("stand")
    count = len(model.joint_names)
    lower, upper = np.array([(each.lower, each.upper) for each in model.robot.moving]).T
    q[-count:] = np.clip(q[-count:] + rng.uniform(-spread, spread, count), lower + 0.05, upper - 0.05)
    return q, rng.uniform(-speed, speed, model.nv)


@dataclass
class Limits:
    """lower ≤ G (v̇, λ) ≤ upper."""

    G: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def limits_of(model: Model, snapshot, problem: Problem, friction=0.6, braking=20.0, period=0.001) -> Limits:
    """Every limit once more, written down without any of the controller's kernels."""
    joints = model.robot.moving
    n, base = model.nv, model.nv - len(joints)
    Jc = np.vstack([each.jacobian(snapshot) for each in problem.constraints])
    held = len(Jc)
    rows, lower, upper = [], [], []
    for i, joint in enumerate(joints):
        v = snapshot.v[base + i]
        q = snapshot.q[len(snapshot.q) - len(joints) + i]
        low, high = velocity_range(q, v, joint.lower, joint.upper, joint.velocity, braking, period)
        rows.append(np.eye(n + held)[base + i])
        lower.append((low - v) / period)
        upper.append((high - v) / period)
    for i, joint in enumerate(joints):
        if joint.actuated:
            rows.append(np.concatenate([snapshot.M[base + i], -Jc[:, base + i]]))
            lower.append(-joint.effort - snapshot.h[base + i])
            upper.append(joint.effort - snapshot.h[base + i])
    at = 0
    for each in problem.constraints:
        R = np.kron(np.eye(2), snapshot.rotation(model.frame(each.frame)).T)
        for row in sole_rows(friction, 0.0, model.robot.surface(each.frame).outline, 0.0).matrix @ R:
            rows.append(np.concatenate([np.zeros(n + at), row, np.zeros(held - at - 6)]))
            lower.append(0.0)
            upper.append(np.inf)
        at += 6
    return Limits(np.array(rows), np.array(lower), np.array(upper))


def solve_level_by_level(model: Model, snapshot, problem: Problem, **options) -> list[np.ndarray] | None:
    """What each level lacks, in programs with the levels above as equalities; None if one does not converge."""
    limits = limits_of(model, snapshot, problem, **options)
    Jc = np.vstack([each.jacobian(snapshot) for each in problem.constraints])
    bias = np.concatenate([each.bias(snapshot) for each in problem.constraints])
    n, held = model.nv, len(Jc)
    passive = np.setdiff1d(np.arange(n), model.actuated_joints)
    A = np.vstack([np.hstack([Jc, np.zeros((held, held))]), np.hstack([snapshot.M[passive], -Jc[:, passive].T])])
    b = np.concatenate([-bias, -snapshot.h[passive]])
    scale = 1.0 / np.maximum(np.abs(limits.G).max(axis=1), 1.0)
    achieved = []
    for level in problem.levels:
        told = [task.rows(snapshot) for task in level]
        J = np.hstack([np.vstack([each.jacobian for each in told]), np.zeros((sum(len(t.bias) for t in told), held))])
        wanted = np.concatenate([each.desired - each.bias for each in told])
        solver = piqp.DenseSolver()
        solver.settings.eps_abs, solver.settings.eps_rel, solver.settings.max_iter = 1e-9, 1e-9, 1000
        solver.setup(
            np.asfortranarray(J.T @ J + 1e-9 * np.eye(n + held)),
            -J.T @ wanted,
            np.asfortranarray(A),
            b,
            np.asfortranarray(limits.G * scale[:, None]),
            limits.lower * scale,
            limits.upper * scale,
        )
        if solver.solve() != piqp.PIQP_SOLVED:
            return None
        x = solver.result.x
        achieved.append(J @ x - wanted)
        A, b = np.vstack([A, J]), np.concatenate([b, J @ x])
        keep = _independent(A)
        A, b = A[keep], b[keep]
    return achieved


def _independent(A: np.ndarray) -> list[int]:
    """Rows that do not depend on those before them."""
    kept, basis = [], np.zeros((0, A.shape[1]))
    for index, row in enumerate(A):
        rest = row - basis.T @ (basis @ row)
        rest = rest - basis.T @ (basis @ rest)
        if np.linalg.norm(rest) > 1e-7 * np.linalg.norm(row):
            basis = np.vstack([basis, rest / np.linalg.norm(rest)])
            kept.append(index)
    return kept
