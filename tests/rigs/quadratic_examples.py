"""Robots standing, every limit once more, and how to tell whether a command is the best that they permit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy

from wholebody import robots
from wholebody.constraints import FlatContact
from wholebody.control import WBOSC, Problem
from wholebody.control.contact_limits import sole_rows
from wholebody.control.quadratic.limits import velocity_range
from wholebody.model import Model
from wholebody.tasks import CartesianPositionTask, CenterOfMassTask, JointPositionTask

FEET = ("left_sole", "right_sole")
UNLIMITED = {f"limit_{what}": False for what in ("contacts", "positions", "velocities", "efforts")} | {
    "acceleration_limit": np.inf,
    "contact_feedback": "none",
}


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
        lower.append(max((low - v) / period, -braking))
        upper.append(min((high - v) / period, braking))
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


def pull_of_levels(model: Model, snapshot, problem: Problem, command, **options) -> list[float]:
    """Of each level, the share of its pull on the motion that neither limits nor levels above hold back.

    At the best that they permit, the gradient of the level's squares is a sum of gradients of limits that are reached,
    none with a negative factor, and of rows of constraints and levels above, with any. That is what an optimum of a
    convex problem is; it does not matter how it was found.
    """
    limits = limits_of(model, snapshot, problem, **options)
    x, n = of_all(command), model.nv
    Jc = np.vstack([each.jacobian(snapshot) for each in problem.constraints])
    held = len(Jc)
    passive = np.setdiff1d(np.arange(n), model.actuated_joints)
    fixed = np.vstack([np.hstack([Jc, np.zeros((held, held))]), np.hstack([snapshot.M[passive], -Jc[:, passive].T])])
    value, length = limits.G @ x, np.linalg.norm(limits.G, axis=1)
    G = limits.G / length[:, None]
    near = 1e-6 * np.maximum(1.0, np.abs(value))
    reached = np.vstack([G[value < limits.lower + near], -G[value > limits.upper - near]])
    shares = []
    for level in problem.levels:
        told = [task.rows(snapshot) for task in level]
        J = np.hstack([np.vstack([each.jacobian for each in told]), np.zeros((sum(len(t.bias) for t in told), held))])
        missing = J @ x - np.concatenate([each.desired - each.bias for each in told])
        pull = J.T @ missing
        Q = scipy.linalg.orth((fixed / np.linalg.norm(fixed, axis=1)[:, None]).T, rcond=1e-9)
        free, limited = pull - Q @ (Q.T @ pull), reached - (reached @ Q) @ Q.T
        left = scipy.optimize.nnls(limited.T, free, maxiter=5000)[1] if len(reached) else np.linalg.norm(free)
        shares.append(float(left / np.linalg.norm(pull)) if np.linalg.norm(missing) > 1e-6 else 0.0)
        fixed = np.vstack([fixed, J])
    return shares


def hard_cases(name, count=6):
    """States and goals that run into limits of all kinds."""
    model, rng = model_of(name), np.random.default_rng(5)
    for _ in range(count):
        q, v = near_standing(model, rng)
        posture = q[-len(model.joint_names) :] + rng.uniform(-0.5, 0.5, len(model.joint_names))
        problem = standing(model, rng.uniform(-0.05, 0.05, 3), rng.uniform(-0.2, 0.2, 3), posture, q)
        J = np.vstack([each.jacobian(model.at(q)) for each in problem.constraints])
        yield model, model.at(q, v - np.linalg.pinv(J) @ (J @ v)), problem


def of_all(result):
    return np.concatenate([result.acceleration, result.contact_forces])


def achieved(problem, snapshot, command, name):
    told = problem.task(name).rows(snapshot)
    return told.jacobian @ command.acceleration + told.bias


def assert_same(one, other, tolerance=1e-6):
    for what in ("acceleration", "effort", "contact_forces", "position", "velocity"):
        a, b = getattr(one, what), getattr(other, what)
        scale = max(1.0, float(np.abs(b).max(initial=0.0)))
        assert np.abs(a - b).max(initial=0.0) <= tolerance * scale, what


def unlimited_wbosc(model):
    """WBOSC by the paper's law of singular levels, which the quadratic controller keeps too, and without limits."""
    unlimited = {f"enforce_{what}_limits": False for what in ("effort", "position", "velocity")}
    return WBOSC(model, singular="truncated", **unlimited)
