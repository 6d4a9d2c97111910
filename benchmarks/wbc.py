"""How fast whole-body control is: the paper's Tables 3 and 4 on our Dreamer, Valkyrie with 15 tasks, and growth.

A cycle is `model.at(q, v)` and `WBOSC.solve(snapshot, problem)`, from Python, timed call by call over random states
near the robot's posture, with five tasks on Dreamer: position and orientation (2D or 3D) of both hands in one, two or
four levels, and the posture below. `NAME_reference` is the same with the paper's formulas and the tasks in numpy
(`control/reference.py`), in turns with ours. `dreamer22_…` is Dreamer with a floating base held by six constraints,
the 22 degrees of freedom of the paper; `dreamer_…` is bolted to the world, with 16. In the stages, `model` is the
snapshot and `command` the solve. Reading, writing and publishing belong to the servo.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from benchmarks.report import Progress, Report, Section, Timing, no_garbage_collection, part
from wholebody import robots
from wholebody.constraints import Coactuation, Constraint, FixedBase, FlatContact
from wholebody.control import WBOSC, Problem, reference
from wholebody.model import Model
from wholebody.tasks import (
    CartesianPositionTask,
    CenterOfMassTask,
    CenterOfPressureTask,
    InternalForceTask,
    JointPositionTask,
    Orientation2DTask,
    Orientation3DTask,
    Task,
)

STATES = 20
HANDS = ("right_palm", "left_palm")
GROWING = ("trikey", "dreamer", "minihubo", "hoap3", "atlas", "valkyrie", "hubo2plus")
PAPER_MS = {"2_2d": 0.820, "2_3d": 1.289, "3_2d": 0.764, "3_3d": 1.068, "5_2d": 0.744, "5_3d": 0.882}
"""Table 4 of the paper, one thread, on an Intel i7-4771: by levels and kind of orientation task."""

Results = dict[str, Timing | float]


def run(quick: bool, progress: Progress) -> Report:
    """Measure, about half a minute in all."""
    report = Report()
    rounds = 20 if quick else 300
    with no_garbage_collection():
        report.sections += dreamers(rounds, part(progress, 0.0, 0.5))
        progress("valkyrie", 0.5)
        report.sections.append(Section("Valkyrie on two feet", valkyries(rounds)))
        progress("growth with joints", 0.75)
        report.sections.append(Section("growth with joints: hands, centre of mass, posture", joints(rounds)))
    for name in (each for each in report.results if each.startswith("dreamer") and each.endswith("d")):
        report.limit_min(name, 35.0)
        report.limit_ratio(name, f"{name}_reference", 0.1)
    report.limit_min("valkyrie_15_tasks", 150.0)
    report.notes.append("a budget `ratio` is the median of ours over that of the reference: ten times faster is 0.1")
    fastest = min(report.timing(f"dreamer22_{each}").median / (1e3 * ms) for each, ms in PAPER_MS.items())
    slowest = max(report.timing(f"dreamer22_{each}").median / (1e3 * ms) for each, ms in PAPER_MS.items())
    report.notes.append(
        f"beside the paper's Table 4 (one thread, i7-4771, another machine): "
        f"{1 / slowest:.0f} to {1 / fastest:.0f} times faster"
    )
    return report


# --- Dreamer ---------------------------------------------------------------------------------------


def dreamers(rounds: int, progress: Progress) -> list[Section]:
    """Table 4 in two forms, and Table 3."""
    bolted = robots.load("dreamer")
    forms = {"dreamer": bolted, "dreamer22": replace(bolted, floating=True)}
    found = []
    for index, (name, robot) in enumerate(forms.items()):
        model = Model(robot)
        held: list[Constraint] = [*Coactuation.of(model)]
        if model.floating:
            held.append(FixedBase("bolts"))
        table: Results = {f"{name}_dof": model.nv}
        for number, levels in enumerate((2, 3, 5)):
            progress(f"{name}, {levels} levels", (index + number / 3) / len(forms))
            for kind in ("2d", "3d"):
                problem = Problem(dreamer_levels(model, levels, kind), held)
                table |= cycles(f"{name}_{levels}_{kind}", model, problem, rounds, with_reference=True)
        found.append(Section(f"Table 4: {name}, levels and orientation tasks", table))
        if model.floating:
            problem = Problem(dreamer_levels(model, 2, "2d"), held)
            found.append(Section("Table 3: stages of a cycle, dreamer22_2_2d", stages(model, problem, rounds)))
    return found


def dreamer_levels(model: Model, levels: int, kind: str) -> list[list[Task]]:
    """Five tasks on 2, 3 or 5 levels, as in the paper."""
    now = model.at(model.posture("stand"))
    points: list[Task] = []
    turns: list[Task] = []
    for hand in HANDS:
        frame = model.frame(hand)
        points.append(CartesianPositionTask(f"{hand}_position", hand, now.position(frame) + 0.02))
        turns.append(
            Orientation3DTask(f"{hand}_orientation", hand, now.rotation(frame))
            if kind == "3d"
            else Orientation2DTask(f"{hand}_orientation", hand, (0, 0, 1), now.rotation(frame)[:, 2])
        )
    posture: list[Task] = [JointPositionTask("posture", model.robot.posture("stand"))]
    if levels == 2:
        return [points + turns, posture]
    if levels == 3:
        return [points, turns, posture]
    return [[each] for each in (*points, *turns, *posture)]


def stages(model: Model, problem: Problem, rounds: int) -> Results:
    """Table 3 as far as it is computation: update the model, compute the command."""
    controller = WBOSC(model)
    states = near(model)
    samples: dict[str, list[float]] = {"stage_model": [], "stage_command": []}
    for _ in range(rounds):
        for q, v in states:
            start = time.perf_counter_ns()
            now = model.at(q, v)
            middle = time.perf_counter_ns()
            controller.solve(now, problem)
            end = time.perf_counter_ns()
            samples["stage_model"].append((middle - start) * 1e-3)
            samples["stage_command"].append((end - middle) * 1e-3)
    return {name: Timing.of(each) for name, each in samples.items()}


# --- Valkyrie, and growth --------------------------------------------------------------------------


def valkyries(rounds: int) -> Results:
    """From 1 to 15 tasks; the last in turns with the reference."""
    model = Model(robots.load("valkyrie"))
    feet = [FlatContact("left_foot", "left_sole"), FlatContact("right_foot", "right_sole")]
    found: Results = {}
    for count in (1, 3, 5, 7, 9, 11, 13, 15):
        levels = fifteen_tasks(model)
        kept = [task for level in levels for task in level][-count:]
        problem = Problem([[task for task in level if task in kept] for level in levels], feet)
        found |= cycles(f"valkyrie_{count}_tasks", model, problem, rounds, with_reference=count == 15)
    return found


def fifteen_tasks(model: Model) -> list[list[Task]]:
    """Balance; wrists; chest, head and pelvis; the feet's forces; the posture."""
    now = model.at(model.posture("stand"))

    def point(name: str, frame: str) -> Task:
        return CartesianPositionTask(name, frame, now.position(model.frame(frame)) + 0.01)

    def turn(name: str, frame: str) -> Task:
        return Orientation3DTask(name, frame, now.rotation(model.frame(frame)))

    return [
        [CenterOfMassTask("com", now.com_in_world + 0.01)],
        [point("right_wrist", "right_palm"), point("left_wrist", "left_palm")],
        [turn("right_hand", "right_palm"), turn("left_hand", "left_palm")],
        [turn("chest", "torso"), turn("pelvis", "pelvis"), turn("head", "head_camera")],
        [
            CenterOfPressureTask("right_cop", "right_foot", (0.0, 0.0)),
            CenterOfPressureTask("left_cop", "left_foot", (0.0, 0.0)),
            InternalForceTask("tension", "left_foot", "right_foot", 0.0),
        ],
        [
            JointPositionTask("right_elbow", [-0.7], ["rightElbowPitch"]),
            JointPositionTask("left_elbow", [0.7], ["leftElbowPitch"]),
            JointPositionTask("neck", [0.0], ["neckYaw"]),
        ],
        [JointPositionTask("posture", model.robot.posture("stand"))],
    ]


def joints(rounds: int) -> Results:
    """The same kind of problem on robots of all sizes."""
    found: Results = {}
    for name in GROWING:
        model = Model(robots.load(name))
        now = model.at(model.posture("stand"))
        frames = [each.name for each in model.robot.surfaces]
        hands: list[Task] = [
            CartesianPositionTask(each, each, now.position(model.frame(each))) for each in frames if "palm" in each
        ]
        feet = [FlatContact(f"{each} contact", each) for each in frames if "sole" in each]
        body: list[Task] = [CenterOfMassTask("com", now.com_in_world)] if feet else []
        posture: list[Task] = [JointPositionTask("posture", model.robot.posture("stand"))]
        problem = Problem([body, hands, posture], [*feet, *Coactuation.of(model)])
        found |= {f"joints_{name}_dof": model.nv} | cycles(f"joints_{name}", model, problem, rounds)
    return found


# --- timing ----------------------------------------------------------------------------------------


def near(model: Model) -> list[tuple[np.ndarray, np.ndarray]]:
    """States near the posture in which the robot stands."""
    rng = np.random.default_rng(0)
    home = model.posture("stand")
    moves = [0.05 * rng.normal(size=model.nv) for _ in range(STATES)]
    return [(model.integrate(home, move, 1.0), 0.1 * rng.normal(size=model.nv)) for move in moves]


def cycles(name: str, model: Model, problem: Problem, rounds: int, with_reference: bool = False) -> Results:
    """Time whole cycles, and every tenth round the reference in turns with them."""
    controller = WBOSC(model)
    controller.prepare(problem)
    states = near(model)
    ours: list[float] = []
    theirs: list[float] = []
    for turn in range(rounds):
        ours += timed(lambda q, v: controller.solve(model.at(q, v), problem), states)
        if with_reference and turn % 10 == 0:
            theirs += timed(lambda q, v: reference.solve(model.at(q, v), problem), states)
    found: Results = {name: Timing.of(ours)}
    return found | ({f"{name}_reference": Timing.of(theirs)} if theirs else {})


def timed(call: Callable[..., object], states: list[tuple[np.ndarray, np.ndarray]]) -> Iterator[float]:
    """Microseconds of each call, with the clock's own cost of about 0.05 µs."""
    for q, v in states:
        start = time.perf_counter_ns()
        call(q, v)
        yield (time.perf_counter_ns() - start) * 1e-3
