"""How fast whole-body control with inequalities is: Hubo2+ and Valkyrie on two feet, with all limits.

A cycle is `model.at(q, v)` and `QuadraticController.solve(snapshot, problem)`, from Python, timed call by call in a
loop at 1 kHz that integrates what it commands. Tasks are the centre of mass, then both hands, then the posture. Limits
are those of contacts (pull, slip, tip, spin), of positions, velocities and efforts of all joints, and of distances
between links. The centre of mass is asked to sway fore and aft so fast that the soles are about to tip now and then,
and the hands come together and go apart, nearer than they may. `NAME_qp` are all cycles; `NAME_qp_inactive` those in
which WBOSC alone would have kept all limits; `NAME_qp_active` those in which limits are reached, a share of
`NAME_qp_active_share`; `NAME_qp_steps` is the mean number of sets of active limits that were tried in these.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.report import Report, Section, Timing
from wholebody import robots
from wholebody.constraints import FlatContact
from wholebody.control import Problem
from wholebody.control.quadratic import QuadraticController
from wholebody.kinematics.collision import Collisions
from wholebody.model import Model
from wholebody.tasks import CartesianPositionTask, CenterOfMassTask, JointPositionTask

LIMITS_US = {"hubo2plus": 700.0, "valkyrie": 1000.0}
"""Medians that the issue asks for; they are asked of the cycles with active limits, too."""

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
    return [Section(f"{name} on two feet, with inequalities", cycles(name, 20 * rounds)) for name in LIMITS_US]


def limit(report: Report) -> None:
    """The budgets."""
    for name, limit_us in LIMITS_US.items():
        for which in (f"{name}_qp", f"{name}_qp_active"):
            if which in report.results:
                report.limit_median(which, limit_us)


def cycles(name: str, count: int) -> dict[str, Timing | float]:
    """Time a loop of so many cycles."""
    model = Model(robots.load(name))
    controller = QuadraticController(model, period=PERIOD, collisions=Collisions(model, margin=0.0))
    swaying = Swaying(model)
    controller.prepare(swaying.problem)
    q, v = model.posture("stand"), np.zeros(model.nv)
    samples, steps = np.zeros(count), np.zeros(count)
    for index in range(count):
        swaying.move(index * PERIOD)
        start = time.perf_counter_ns()
        command = controller.solve(model.at(q, v), swaying.problem)
        samples[index] = (time.perf_counter_ns() - start) * 1e-3
        steps[index] = command.steps
        v = v + PERIOD * command.acceleration
        q = model.integrate(q, v, PERIOD)
    active = steps > 0
    found: dict[str, Timing | float] = {f"{name}_qp": Timing.of(samples)}
    for what, which in (("active", active), ("inactive", ~active)):
        if which.any():
            found[f"{name}_qp_{what}"] = Timing.of(samples[which])
    share, tried = float(active.mean()), float(steps[active].mean()) if active.any() else 0.0
    return found | {f"{name}_qp_active_share": round(share, 3), f"{name}_qp_steps": round(tried, 2)}
