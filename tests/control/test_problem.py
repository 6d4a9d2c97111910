"""A problem is plain data, and whatever makes none is found before the loop."""

import numpy as np
import pytest
from control_examples import controller, feet, posture, usual
from model_examples import model

from wholebody.constraints import Coactuation, Constraint, FixedBase, FlatContact
from wholebody.control import WBOSC, Problem
from wholebody.errors import BadProblem, BadTask, UnknownName
from wholebody.tasks import (
    CartesianPositionTask,
    CenterOfMassTask,
    CenterOfPressureTask,
    InternalForceTask,
    JointPositionTask,
    Task,
)

COM = CenterOfMassTask("com", (0, 0, 1))


def test_a_level_of_one_task_may_be_that_task_and_empty_levels_vanish():
    one, two = CenterOfMassTask("one", (0, 0, 1)), CenterOfMassTask("two", (0, 0, 1))
    problem = Problem([one, [], [two]])
    assert problem.levels == ((one,), (two,))
    assert problem.task("two") is two
    assert [task.name for task in problem.tasks] == ["one", "two"]


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: Problem([]), BadProblem, "needs a task"),
        (lambda: Problem([[], []]), BadProblem, "needs a task"),
        (lambda: Problem([COM, CenterOfMassTask("com", (0, 0, 0))]), BadProblem, "'com' is there twice"),
        (lambda: Problem([COM], [FlatContact("com", "left_sole")]), BadProblem, "'com' is there twice"),
        (lambda: Problem([[COM, "posture"]]), BadProblem, "no task"),
        (lambda: Problem([COM], [COM]), BadProblem, "stands among the constraints"),
        (lambda: Problem([COM]).task("con"), UnknownName, "closest: 'com'"),
    ],
)
def test_what_makes_no_problem_is_refused_at_once(make, error, says):
    with pytest.raises(error, match=says):
        make()


class Short(Task):
    row_count = 3

    def error(self, snapshot):
        return np.zeros(2)

    def jacobian(self, snapshot):
        return np.zeros((2, snapshot.model.nv))


class Wide(Constraint):
    row_count = 1

    def jacobian(self, snapshot):
        return np.zeros((1, 3))


class All(Constraint):
    row_count = 16

    def jacobian(self, snapshot):
        return np.eye(16)


@pytest.mark.parametrize(
    ("levels", "constraints", "error", "says"),
    [
        (
            [CartesianPositionTask("h", "left_plam", (0, 0, 0))],
            [],
            UnknownName,
            "task 'h': no frame 'left_plam'; closest",
        ),
        ([CartesianPositionTask("h", "left_palm", (0, 0, 0), reference="x")], [], UnknownName, "no frame 'x'"),
        ([JointPositionTask("p", [0.0], ["knee"])], [], UnknownName, "task 'p': no moving joint 'knee'"),
        ([JointPositionTask("p", [0.0, 1.0])], [], BadTask, "2 goals, but valkyrie has 32 joints"),
        ([COM], [FlatContact("f", "left_shoe")], UnknownName, "constraint 'f': no frame"),
        (
            [COM],
            [FlatContact("f", "left_sole"), FlatContact("g", "left_sole")],
            BadProblem,
            "both hold frame 'left_sole'",
        ),
        (
            [COM],
            [Coactuation("a", "neckYaw", ["torsoYaw"]), Coactuation("b", "torsoRoll", ["torsoYaw"])],
            BadProblem,
            "'torsoYaw' cannot follow both 'neckYaw' and 'torsoRoll'",
        ),
        (
            [COM],
            [Coactuation("a", "neckYaw", ["torsoYaw"]), Coactuation("b", "torsoYaw", ["neckYaw"])],
            BadProblem,
            "follows itself",
        ),
        (
            [CenterOfPressureTask("c", "rihgt", (0, 0))],
            feet(),
            UnknownName,
            "task 'c': no contact 'rihgt'; closest: 'right'",
        ),
        ([CenterOfPressureTask("c", "base", (0, 0))], [FixedBase("base")], BadTask, "'base' is no FlatContact"),
        ([InternalForceTask("i", "left", "base", 0.0)], [*feet(), FixedBase("base")], BadTask, "is no FlatContact or"),
        ([Short("short")], [], BadProblem, "task 'short' has row_count 3"),
        ([COM], [Wide("wide")], BadProblem, "constraint 'wide' has row_count 1"),
    ],
)
def test_what_does_not_fit_the_robot_is_found_before_the_loop(levels, constraints, error, says):
    with pytest.raises(error, match=says):
        controller("valkyrie").prepare(Problem(levels, constraints))


def test_constraints_that_leave_nothing_to_move_are_refused():
    with pytest.raises(BadProblem, match=r"\(all\) leave the robot nothing"):
        controller("dreamer").prepare(Problem([posture("dreamer")], [All("all")]))


@pytest.mark.parametrize(
    "wrong",
    [
        {"period": 0.0},
        {"task_tolerance": -1.0},
        {"task_tolerance": 0.0},
        {"force_tolerance": 1.0},
        {"hard_tolerance": 0.0},
        {"singular": "damped"},
        {"max_effort": -1.0},
        {"max_effort": [1.0]},
    ],
)
def test_a_controller_refuses_settings_that_cannot_be(wrong):
    with pytest.raises(BadProblem):
        WBOSC(model("dreamer"), **wrong)


def test_the_same_tasks_at_other_levels_are_another_problem():
    m = model("dreamer")
    first = usual("dreamer")
    other = Problem(reversed(first.levels), first.constraints)
    now = m.at(m.neutral())
    a, b = (controller("dreamer").solve(now, each).effort.copy() for each in (first, other))
    assert not np.allclose(a, b)
    assert np.array_equal(controller("dreamer").solve(now, first).effort, a)
