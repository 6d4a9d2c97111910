"""How fast whole-body control with inequalities is: Hubo2+ and Valkyrie on two feet, with all limits.

A cycle is `model.at(q, v)` and `QuadraticController.solve(snapshot, problem)`, from Python, timed call by call. Tasks
are the centre of mass, then both hands, then the posture. Limits are those of contacts (pull, slip, tip, spin), and of
positions, velocities and efforts of all joints. `NAME_qp_free` goes from state to state near the standing posture with
goals nearby, where few limits are reached; in `NAME_qp_edge` the goal of the centre of mass is further ahead than the
soles permit, so that they are about to tip in every cycle, and programs are solved in each. `…_programs` is their mean
number.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.report import Timing
from wholebody import robots
from wholebody.constraints import FlatContact
from wholebody.control import Problem
from wholebody.control.quadratic import QuadraticController
from wholebody.model import Model
from wholebody.tasks import CartesianPositionTask, CenterOfMassTask, JointPositionTask

STATES = 20
LIMITS_US = {"hubo2plus": 700.0, "valkyrie": 1000.0}
"""Medians that the issue asks for."""


def problem_of(model: Model, ahead: float) -> Problem:
    """Centre of mass, hands, posture, on two feet; the centre of mass goes ahead by so much."""
    q = model.posture("stand")
    now = model.at(q)
    hands = [
        CartesianPositionTask(
            f"{side}_hand", f"{side}_palm", now.position(model.frame(f"{side}_palm")) + np.array([0.02, 0, 0.02])
        )
        for side in ("left", "right")
    ]
    com = CenterOfMassTask("com", now.com_in_world + np.array([ahead, 0.0, 0.0]))
    contacts = [FlatContact(f"{side}_foot", f"{side}_sole") for side in ("left", "right")]
    return Problem([com, hands, JointPositionTask("posture", goal=q[7:])], contacts)


def states(model: Model) -> list[tuple[np.ndarray, np.ndarray]]:
    """A slow way about the standing posture, within the limits, feet at rest."""
    lower, upper = np.array([(each.lower, each.upper) for each in model.robot.moving]).T
    found = []
    for step in range(STATES):
        q = model.posture("stand")
        sway = 0.002 * np.sin(2 * np.pi * step / STATES + np.arange(len(lower)))
        q[7:] = np.clip(q[7:] + sway, lower + 0.01, upper - 0.01)
        found.append((q, np.zeros(model.nv)))
    return found


def quadratic(rounds: int) -> dict[str, Timing | float]:
    """The figures of both robots."""
    results: dict[str, Timing | float] = {}
    for name in LIMITS_US:
        model = Model(robots.load(name))
        way = states(model)
        for case, ahead in (("free", 0.0), ("edge", 0.04)):
            problem, controller = problem_of(model, ahead), QuadraticController(model)
            for q, v in way:
                controller.solve(model.at(q, v), problem)
            samples, programs = [], 0
            for index in range(rounds * STATES):
                q, v = way[index % STATES]
                start = time.perf_counter_ns()
                command = controller.solve(model.at(q, v), problem)
                samples.append((time.perf_counter_ns() - start) * 1e-3)
                programs += command.steps
            results[f"{name}_qp_{case}"] = Timing.of(samples)
            results[f"{name}_qp_{case}_steps"] = round(programs / len(samples), 2)
    return results
