"""warmup: compile every kernel of whole-body control before it is needed, so that nothing compiles in a loop."""

from __future__ import annotations

from wholebody import robots
from wholebody.control.compound import CompoundTask
from wholebody.control.problem import Problem
from wholebody.control.quadratic import QuadraticController
from wholebody.control.readings import Readings
from wholebody.control.transitions import Transitions
from wholebody.control.wbosc import WBOSC
from wholebody.kinematics.collision import Collisions
from wholebody.model import Model
from wholebody.model.compiled import kernels_of
from wholebody.model.warmup import Progress, telling
from wholebody.parameters import Parameters
from wholebody.tasks import Orientation2DTask, PoseTask


def warmup(progress: Progress | None = None) -> None:
    """Compile all kernels of tasks, constraints and control and keep them on disk: some minutes the first time."""
    say = progress or (lambda _what, _done: None)
    model = Model(robots.load("trikey"))
    snapshot = model.at(model.neutral())
    tasks = [PoseTask("pose", "base", (0.0, 0.0, 0.0)), Orientation2DTask("axis", "base", (1, 0, 0), (1, 0, 0))]
    problem = Problem(tasks)
    packages = ("wholebody.tasks", "wholebody.constraints", "wholebody.control")
    with telling(say, frozenset().union(*(kernels_of(each) for each in packages))):
        Transitions(WBOSC(model)).solve(snapshot, problem)
        QuadraticController(model, collisions=Collisions(model)).prepare(problem)
        for task in tasks:
            task.error(snapshot)
        Readings(Parameters(), CompoundTask(dict.fromkeys(tasks, 1)), 1)
