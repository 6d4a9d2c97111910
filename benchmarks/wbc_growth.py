"""How a cycle grows: with the tasks of Valkyrie, from 1 to 15, and with the joints of robots of all sizes."""

from __future__ import annotations

from pathlib import Path

from benchmarks.report import Section, Timing
from benchmarks.wbc_timing import Results, cycles
from wholebody import robots
from wholebody.constraints import Coactuation, FlatContact
from wholebody.control import Problem
from wholebody.model import Model
from wholebody.tasks import (
    CartesianPositionTask,
    CenterOfMassTask,
    CenterOfPressureTask,
    InternalForceTask,
    JointPositionTask,
    Orientation3DTask,
    Task,
)

ROBOTS = ("trikey", "dreamer", "minihubo", "hoap3", "atlas", "valkyrie", "hubo2plus")
TASKS = (1, 3, 5, 7, 9, 11, 13, 15)
PICTURE = Path("out") / "wbc_growth.png"


def growth(rounds: int) -> list[Section]:
    """Both, as sections."""
    return [
        Section("growth with tasks: Valkyrie on two feet", valkyries(rounds)),
        Section("growth with joints: hands, centre of mass, posture", joints(rounds)),
    ]


def valkyries(rounds: int) -> Results:
    """From 1 to 15 tasks; the last in turns with the reference."""
    model = Model(robots.load("valkyrie"))
    feet = [FlatContact("left_foot", "left_sole"), FlatContact("right_foot", "right_sole")]
    found: Results = {}
    for count in TASKS:
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
    for name in ROBOTS:
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


def draw(sections: list[Section]) -> str:
    """A picture of it in the folder `out`, and a note that says where; or why there is none."""
    try:
        import matplotlib
    except ImportError:
        return "no picture of the growth: matplotlib is not installed"
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    results = {name: result for section in sections for name, result in section.results.items()}
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    _line(axes[0], TASKS, [results[f"valkyrie_{count}_tasks"] for count in TASKS])
    axes[0].set_xlabel("tasks of Valkyrie, 38 degrees of freedom")
    sizes = {name: results[f"joints_{name}_dof"] for name in ROBOTS}
    order = sorted(ROBOTS, key=lambda name: sizes[name])
    _line(axes[1], [sizes[name] for name in order], [results[f"joints_{name}"] for name in order])
    for name in order:
        axes[1].annotate(
            name, (sizes[name], results[f"joints_{name}"].min), fontsize=7, xytext=(3, -9), textcoords="offset points"
        )
    axes[1].set_xlabel("degrees of freedom, 1 to 4 tasks")
    axes[1].margins(x=0.15)
    axes[0].set_ylabel("a whole cycle, µs")
    axes[0].legend(fontsize=8)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=100)
    plt.close(figure)
    return f"the growth as a picture: {PICTURE}"


def _line(axis, x, timings: list[Timing]) -> None:
    axis.plot(x, [each.min for each in timings], "o-", label="minimum")
    axis.plot(x, [each.median for each in timings], "s--", color="0.6", label="median")
    axis.set_ylim(0.0)
    axis.grid(alpha=0.3)
