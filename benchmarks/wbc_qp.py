"""How fast whole-body control with inequalities is: Hubo2+ and Valkyrie on two feet, with all limits.

A cycle is `model.at(q, v)` and `QuadraticController.solve(snapshot, problem)`, from Python, timed call by call in a
loop at 1 kHz that integrates what it commands. Tasks are the centre of mass, then both hands, then the posture. Limits
are those of contacts (pull, slip, tip, spin), of positions, velocities and efforts of all joints, and of distances
between links. The centre of mass is asked to sway fore and aft so fast that the soles are about to tip now and then,
and the hands come together and go apart, nearer than they may. `NAME_qp` are all cycles; `NAME_qp_inactive` those in
which WBOSC alone would have kept all limits; `NAME_qp_active` those in which limits are reached, a share of
`NAME_qp_active_share`; `NAME_qp_steps` is the mean number of sets of active limits that were tried in these.
`NAME_qp_apart` are cycles without limits of distances, and `NAME_daqp` daqp's own cold solve of the same levels and
limits, in turns with them: the matrices are given to it ready made.
"""

from __future__ import annotations

import time
from importlib.util import find_spec

import numpy as np

from benchmarks.both_trees.program import limits_of
from benchmarks.report import Report, Section, Timing
from benchmarks.yardsticks import Beside
from wholebody import robots
from wholebody.constraints import FlatContact
from wholebody.control import Problem
from wholebody.control.quadratic import QuadraticController
from wholebody.kinematics.collision import Collisions
from wholebody.model import Model, Snapshot
from wholebody.tasks import CartesianPositionTask, CenterOfMassTask, JointPositionTask

LIMITS = {"hubo2plus": 60.0, "valkyrie": 70.0}
"""Matrix products in whose time a cycle is done, with active limits too."""

PERIOD = 0.001
SWAY = 0.03  # m
SWAY_PERIOD = 1.0  # s


class Swaying:
    """Centre of mass, hands, posture, on two feet, with goals that move."""

    def __init__(self, model: Model) -> None:
        q = model.posture("stand")
        now = model.at(q)
        self.start = np.array(now.com_in_world)
        self.hands_at = [np.array(now.position(model.frame(f"{side}_palm"))) for side in ("left", "right")]
        self.com = CenterOfMassTask("com", self.start)
        self.hands = [
            CartesianPositionTask(f"{side}_hand", f"{side}_palm", at)
            for side, at in zip(("left", "right"), self.hands_at, strict=True)
        ]
        contacts = [FlatContact(f"{side}_foot", f"{side}_sole") for side in ("left", "right")]
        self.problem = Problem([self.com, self.hands, JointPositionTask("posture", goal=q[7:])], contacts)

    def move(self, seconds: float) -> None:
        """Set the goals of an instant."""
        phase = 2 * np.pi * seconds / SWAY_PERIOD
        self.com.goal[0] = self.start[0] + SWAY * np.sin(phase)
        together = 0.5 - 0.5 * np.cos(phase / 2)
        middle = sum(self.hands_at) / 2 + np.array([0.25, 0.0, 0.15])
        for task, at in zip(self.hands, self.hands_at, strict=True):
            task.goal[:] = at + together * (middle - at)


def sections(rounds: int) -> list[Section]:
    """The figures of both robots; a round is 20 cycles."""
    return [
        Section(f"{name} on two feet, with inequalities", cycles(name, 20 * rounds) | beside_daqp(name, 10 * rounds))
        for name in LIMITS
    ]


def limit(report: Report) -> None:
    """The budgets."""
    for name, limit in LIMITS.items():
        for which in (f"{name}_qp", f"{name}_qp_active"):
            if which in report.results:
                report.limit_ratio(which, f"{name}_matrix_product", limit)
        if f"{name}_daqp" in report.results:
            report.limit_ratio(f"{name}_qp_apart", f"{name}_daqp", 1.0)
    if find_spec("daqp") is None:
        report.notes.append("daqp is left out; it needs pip install 'wholebody[bench]'")


def beside_daqp(name: str, count: int) -> dict[str, Timing | float]:
    """Cycles and daqp's solves in turns, microseconds of CPU; nothing if there is no daqp here."""
    if find_spec("daqp") is None:
        return {}
    import daqp

    model = Model(robots.load(name))
    controller, swaying = QuadraticController(model, period=PERIOD), Swaying(model)
    q, v = model.posture("stand"), np.zeros(model.nv)
    ours, theirs = [], []
    for index in range(count):
        swaying.move(index * PERIOD)
        start = time.thread_time_ns()
        now = model.at(q, v)
        command = controller.solve(now, swaying.problem)
        ours.append((time.thread_time_ns() - start) * 1e-3)
        if index % 5 == 0:
            matrix, lower, upper, levels = hierarchy(model, now, swaying.problem)
            sense = np.zeros(len(matrix), np.int32)
            start = time.thread_time_ns()
            _, _, outcome, _ = daqp.solve(None, None, matrix, upper, lower, sense, levels)
            theirs.append((time.thread_time_ns() - start) * 1e-3)
            assert outcome > 0, outcome
        v = v + PERIOD * command.acceleration
        q = model.integrate(q, v, PERIOD)
    return {f"{name}_qp_apart": Timing.of(ours), f"{name}_daqp": Timing.of(theirs)}


def hierarchy(model: Model, now: Snapshot, problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """lower ≤ A (v̇, λ) ≤ upper, rows of dynamics, contacts and limits first, then level by level; where levels end."""
    G, low, high = limits_of(model, now, problem, PERIOD)
    held = [each.rows(now) for each in problem.constraints]
    Jc, bias = np.vstack([each.jacobian for each in held]), np.concatenate([each.bias for each in held])
    passive = np.setdiff1d(np.arange(model.nv), model.actuated_joints)
    fixed = np.vstack([np.hstack([Jc, np.zeros((len(Jc), len(Jc)))]), np.hstack([now.M[passive], -Jc[:, passive].T])])
    to = np.concatenate([-bias, -now.h[passive]])
    rows, lower, upper = [np.vstack([fixed, G])], [np.concatenate([to, low])], [np.concatenate([to, high])]
    for level in problem.levels:
        told = [task.rows(now) for task in level]
        J = np.vstack([each.jacobian for each in told])
        rows.append(np.hstack([J, np.zeros((len(J), len(Jc)))]))
        lower.append(np.concatenate([each.desired - each.bias for each in told]))
        upper.append(lower[-1])
    ends = np.cumsum([len(each) for each in rows]).astype(np.int32)
    return np.ascontiguousarray(np.vstack(rows)), np.concatenate(lower), np.minimum(np.concatenate(upper), 1e30), ends


def cycles(name: str, count: int) -> dict[str, Timing | float]:
    """Time a loop of so many cycles."""
    model = Model(robots.load(name))
    controller = QuadraticController(model, period=PERIOD, collisions=Collisions(model, margin=0.0))
    swaying = Swaying(model)
    controller.prepare(swaying.problem)
    q, v = model.posture("stand"), np.zeros(model.nv)
    samples, steps, beside = np.zeros(count), np.zeros(count), Beside()
    for index in range(count):
        swaying.move(index * PERIOD)
        start = time.perf_counter_ns()
        command = controller.solve(model.at(q, v), swaying.problem)
        samples[index] = (time.perf_counter_ns() - start) * 1e-3
        beside.take()
        steps[index] = command.steps
        v = v + PERIOD * command.acceleration
        q = model.integrate(q, v, PERIOD)
    active = steps > 0
    found: dict[str, Timing | float] = {f"{name}_qp": Timing.of(samples), f"{name}_matrix_product": beside.timing}
    for what, which in (("active", active), ("inactive", ~active)):
        if which.any():
            found[f"{name}_qp_{what}"] = Timing.of(samples[which])
    share, tried = float(active.mean()), float(steps[active].mean()) if active.any() else 0.0
    return found | {f"{name}_qp_active_share": round(share, 3), f"{name}_qp_steps": round(tried, 2)}
