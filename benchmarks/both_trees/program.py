"""The quadratic program of a cycle, written down in numpy: what each level asks for, and every limit.

Of limits there are those of joints (stop before the end, velocity), of motors, and of soles: rows on the
accelerations v̇ and the contact forces λ, each divided by its length, or by the size of its bounds if that is more.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from wholebody.control import Problem
from wholebody.model import Model, Snapshot

Array = np.ndarray
FRICTION, BRAKING = 0.6, 20.0
PLAIN = {"acceleration_limit": np.inf, "contact_feedback": "none"}
"""Options of newer controllers that make them solve the program of the old one: bounds and feedback off."""


def plain(controller: type) -> dict[str, Any]:
    """Those of PLAIN that the controller knows."""
    known = inspect.signature(controller).parameters
    return {name: value for name, value in PLAIN.items() if name in known}


def level_objectives(now: Snapshot, problem: Problem, acceleration: Array) -> tuple[list[float], list[float]]:
    """Of each level |J v̇ − (desired − bias)|, and |desired − bias|, or 1 if that is less."""
    missing, sizes = [], []
    for level in problem.levels:
        rows = [task.rows(now) for task in level]
        wanted = np.concatenate([each.desired - each.bias for each in rows])
        got = np.concatenate([each.jacobian @ acceleration for each in rows])
        missing.append(float(np.linalg.norm(got - wanted)))
        sizes.append(max(1.0, float(np.linalg.norm(wanted))))
    return missing, sizes


def limits_of(model: Model, now: Snapshot, problem: Problem, period: float) -> tuple[Array, Array, Array]:
    """G, lower, upper with lower ≤ G (v̇, λ) ≤ upper."""
    joints = model.robot.moving
    n, base = model.nv, model.nv - len(joints)
    Jc = np.vstack([each.rows(now).jacobian for each in problem.constraints])
    held = len(Jc)
    rows, lower, upper = [], [], []
    for index, joint in enumerate(joints):
        v, q = now.v[base + index], now.q[len(now.q) - len(joints) + index]
        low, high = velocity_range(q, v, joint.lower, joint.upper, joint.velocity, period)
        rows.append(np.eye(n + held)[base + index])
        lower.append((low - v) / period)
        upper.append((high - v) / period)
    for index, joint in enumerate(joints):
        if joint.actuated:
            rows.append(np.concatenate([now.M[base + index], -Jc[:, base + index]]))
            lower.append(-joint.effort - now.h[base + index])
            upper.append(joint.effort - now.h[base + index])
    for number, each in enumerate(problem.constraints):
        R = np.kron(np.eye(2), now.rotation(model.frame(each.frame)).T)
        for row in sole_rows(np.array(model.robot.surface(each.frame).outline, float)) @ R:
            full = np.zeros(n + held)
            full[n + 6 * number : n + 6 * number + 6] = row
            rows.append(full)
            lower.append(0.0)
            upper.append(np.inf)
    return np.array(rows), np.array(lower), np.array(upper)


def limits_broken(model: Model, now: Snapshot, problem: Problem, command: Any, period: float) -> float:
    """By how much the worst limit is broken: constraints and the base's dynamics too."""
    G, lower, upper = limits_of(model, now, problem, period)
    x = np.concatenate([command.acceleration, command.contact_forces])
    value = G @ x
    finite = np.maximum(np.where(np.isfinite(lower), abs(lower), 0.0), np.where(np.isfinite(upper), abs(upper), 0.0))
    size = np.maximum(np.maximum(np.linalg.norm(G, axis=1), finite), 1.0)
    worst = float(np.max(np.maximum(lower - value, value - upper) / size, initial=0.0))
    rows = [each.rows(now) for each in problem.constraints]
    Jc = np.vstack([each.jacobian for each in rows])
    held = Jc @ command.acceleration + np.concatenate([each.bias for each in rows])
    passive = np.setdiff1d(np.arange(model.nv), model.actuated_joints)
    weight = now.M @ command.acceleration + now.h - Jc.T @ command.contact_forces
    size_of_weight = max(1.0, float(np.linalg.norm(now.h)))
    return max(worst, float(abs(held).max()), float(abs(weight[passive]).max()) / size_of_weight)


def velocity_range(q: float, v: float, lower: float, upper: float, fastest: float, period: float) -> Array:
    """Least and greatest velocity after a period with which a joint can still stop before its limits.

    v' ≤ −a dt + √(a² dt² + 2a (u − q)); one that is too fast brakes with a.
    """
    step = BRAKING * period

    def towards(room: float) -> float:
        if room >= 0.0:
            return float(-step + np.sqrt(step * step + 2.0 * BRAKING * room))
        return float(-0.1 * np.sqrt(-2.0 * BRAKING * room))

    high = min(fastest, towards(upper - q)) if np.isfinite(upper) else fastest
    low = max(-fastest, -towards(q - lower)) if np.isfinite(lower) else -fastest
    if low > high:
        low = high = 0.0
    return np.array([min(low, v + step), max(high, v - step)])


def sole_rows(corners: Array) -> Array:
    """Rows on a wrench in the axes of a sole that must not be negative: not to pull, slip or tip.

    Spinning is left out: what holds it back depends on the sole's shape.
    """
    k = FRICTION / np.sqrt(2.0)
    rows = [[0, 0, 1, 0, 0, 0], [1, 0, k, 0, 0, 0], [-1, 0, k, 0, 0, 0], [0, 1, k, 0, 0, 0], [0, -1, k, 0, 0, 0]]
    following = np.roll(corners, -1, axis=0)
    area = np.sum(corners[:, 0] * following[:, 1] - corners[:, 1] * following[:, 0])
    for corner, end in zip(corners, following, strict=True):
        edge = (end - corner) * np.sign(area) / np.linalg.norm(end - corner)
        normal = np.array([-edge[1], edge[0]])  # the centre of pressure is (−my, mx) / fz
        rows.append([0, 0, -normal @ corner, normal[1], -normal[0], 0])
    return np.array(rows, float)


def limb_solver(model: Model, goals: list[tuple[str, str]], fixed: str = "base", **options: Any) -> Callable[..., Any]:
    """Inverse kinematics for goals by kind and frame, which takes a start and targets: of goals, or of tasks."""
    from wholebody import kinematics, tasks

    if hasattr(kinematics, "PointGoal"):
        old = {
            "point": lambda name: kinematics.PointGoal(name, np.zeros(3)),
            "pose": lambda name: kinematics.PoseGoal(name, np.eye(4)),
            "orientation": lambda name: kinematics.OrientationGoal(name, np.eye(3)),
            "com": lambda _: kinematics.ComGoal(np.zeros(3)),
        }
        return kinematics.InverseKinematics(model, [old[kind](name) for kind, name in goals], fixed, **options).solve
    new = {
        "point": lambda name: tasks.CartesianPositionTask(name, name, 0.0),
        "pose": lambda name: tasks.PoseTask(name, name, 0.0),
        "orientation": lambda name: tasks.Orientation3DTask(name, name, np.eye(3)),
        "com": lambda _: tasks.CenterOfMassTask("com", 0.0),
    }
    solver = kinematics.InverseKinematics(model, [new[kind](name) for kind, name in goals], fixed, **options)

    def solve(start: Array, targets: list[Array]) -> Any:
        for task, target in zip(solver.tasks, targets, strict=True):
            if isinstance(task, tasks.PoseTask):
                task.goal_position, task.goal_orientation = target[:3, 3], target[:3, :3]
            else:
                task.goal = target
        return solver.solve(start)

    return solve
