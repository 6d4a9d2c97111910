"""warmup: compile every kernel of kinematics before it is needed, so that nothing compiles in a loop."""

from __future__ import annotations

from wholebody import robots
from wholebody.kinematics.closed_form import ClosedForm
from wholebody.kinematics.collision import Collisions
from wholebody.kinematics.iterative import InverseKinematics
from wholebody.kinematics.iterative_goals import PointGoal
from wholebody.model import Model
from wholebody.model.compiled import kernels_of
from wholebody.model.warmup import Progress, telling


def warmup(progress: Progress | None = None) -> None:
    """Compile all kernels of kinematics and keep them on disk: about a minute the first time."""
    say = progress or (lambda _what, _done: None)
    robot = robots.load("hoap3")
    with telling(say, kernels_of("wholebody.kinematics")):
        ClosedForm.of(robot, robot.root, "left_sole")
        Collisions(robot)
        InverseKinematics(Model(robot), [PointGoal("left_sole", (0.0, 0.0, 0.0))])
