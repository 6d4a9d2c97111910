"""How fast whole-body control is: the paper's Tables 3 and 4 on our Dreamer, Valkyrie with 15 tasks, and growth.

A cycle is `model.at(q, v)` and `WBOSC.solve(snapshot, problem)`, from Python, timed call by call over random states
near the robot's posture, with five tasks on Dreamer: position and orientation (2D or 3D) of both hands in one, two or
four levels, and the posture below. `NAME_reference` is the same with the paper's formulas and the tasks in numpy
(`tests/rigs/wbosc_reference.py`), in turns with ours. `dreamer22_…` is Dreamer with its base held by six constraints,
the 22 degrees of freedom of the paper; `dreamer_…` is bolted to the world, with 16. `NAME_loop` and the stages are of
the whole servo loop in real time, with the model updated in the loop, and `beside` it by a thread (`wbc_servo`).
`NAME_qp` is `QuadraticController` with every kind of limit (`wbc_qp`). TSID and PlaCo are
measured too once `wholebody bench wbc_peers` has made their environments.
"""

from __future__ import annotations

from dataclasses import replace

from benchmarks import wbc_growth, wbc_peers, wbc_qp, wbc_servo
from benchmarks.report import Progress, Report, Section, no_garbage_collection, part
from benchmarks.wbc_timing import Results, cycles
from wholebody import robots
from wholebody.constraints import Coactuation, Constraint, FixedBase
from wholebody.control import Problem
from wholebody.model import Model
from wholebody.tasks import CartesianPositionTask, JointPositionTask, Orientation2DTask, Orientation3DTask, Task

HANDS = ("right_palm", "left_palm")
PAPER_MS = {
    "2_2d": (0.820, 0.528),
    "2_3d": (1.289, 0.999),
    "3_2d": (0.764, 0.494),
    "3_3d": (1.068, 0.788),
    "5_2d": (0.744, 0.477),
    "5_3d": (0.882, 0.603),
}
"""Table 4 of the paper, one thread and several, on an Intel i7-4771: by levels and kind of orientation task."""


def run(quick: bool, progress: Progress) -> Report:
    """Measure, about a minute in all."""
    report = Report()
    rounds = 20 if quick else 300
    with no_garbage_collection():
        report.sections += dreamers(rounds, part(progress, 0.0, 0.4))
        progress("growth with tasks and joints", 0.4)
        grown = wbc_growth.growth(rounds)
        progress("limits that are active", 0.6)
        limited = wbc_qp.sections(10 if quick else 75)
    report.sections += [*grown, *limited]
    report.notes.append(wbc_growth.draw(grown))
    if any(wbc_peers.python_of(name).exists() for name in wbc_peers.PACKAGES):
        sections, notes = wbc_peers.measured(rounds // 3 + 5, part(progress, 0.7, 1.0))
        report.sections += sections
        report.notes += notes
    for name in (each for each in report.results if each.startswith("dreamer") and each.endswith(("_2d", "_3d"))):
        report.limit_ratio(name, f"{name}_reference", 0.02)
    report.limit_ratio("valkyrie_15_tasks", "valkyrie_15_tasks_reference", 0.02)
    wbc_peers.limit(report)
    wbc_qp.limit(report)
    wbc_servo.limit(report)
    report.notes.append(wbc_servo.beside_the_paper(report))
    report.notes.append(beside_table_4(report))
    return report


def beside_table_4(report: Report) -> str:
    """Both columns of ours and of the paper."""
    parts = []
    for name, (single, multi) in PAPER_MS.items():
        ours = [report.timing(f"dreamer22_{name}_loop{column}").median for column in ("", "_beside")]
        parts.append(f"{name} {ours[0]:.0f}, {ours[1]:.0f} ({1e3 * single:.0f}, {1e3 * multi:.0f})")
    return (
        "Table 4, medians of whole cycles in µs, model updated in the loop and beside it, in brackets the paper's "
        f"means, one thread and several (i7-4771, another machine): {'; '.join(parts)}"
    )


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
                if model.floating:
                    table |= wbc_servo.totals(f"{name}_{levels}_{kind}", model, problem, 3 * rounds)
        found.append(Section(f"Table 4: {name}, levels and orientation tasks", table))
        if model.floating:
            problem = Problem(dreamer_levels(model, 2, "2d"), held)
            table = wbc_servo.stages(model, problem, 10 * rounds)
            found.append(Section("Table 3: stages of the servo loop, dreamer22_2_2d", table))
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
