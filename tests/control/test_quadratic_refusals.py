"""What the controller with inequalities says where limits contradict each other, and what it refuses from the start."""

import re

import numpy as np
import pytest
from quadratic_examples import feet, model_of, standing

from wholebody.constraints import Coactuation
from wholebody.control import Problem
from wholebody.control.quadratic import QuadraticController
from wholebody.control.quadratic.result import InfeasibleFault
from wholebody.errors import BadProblem, Infeasible, UnknownName, WrongRecord
from wholebody.tasks import JointPositionTask, Task


def test_motors_that_are_far_too_weak_are_named_with_the_tasks_that_lose_by_them():
    model = model_of("hubo2plus")
    weak = np.array([each.effort for each in model.robot.moving]) * 0.01
    command = QuadraticController(model, max_effort=weak).solve(model.at(model.posture("stand")), standing(model))
    assert command.fault is None  # it can still fall without breaking a limit
    assert np.all(np.abs(command.effort) <= weak)
    assert "effort of joint 'RKN'" in [str(each) for each in command.active]
    assert max(command.losses, key=lambda each: each.residual).residual > 1.0
    assert "com" in [each.task for each in command.losses]


def swinging_arm():
    """An arm that swings towards a limit too fast for motors that are far too weak."""
    model = model_of("dreamer")
    q, v = model.posture("stand"), np.zeros(model.nv)
    joint = model.column("right_elbow")
    q[joint], v[joint] = model.robot.moving[joint].upper - 0.001, 0.8
    problem = Problem([JointPositionTask("posture", goal=model.posture("stand"))], Coactuation.of(model))
    return model, model.at(q, v), problem


def test_limits_that_contradict_each_other_are_named_with_how_much_they_lack():
    model, snapshot, problem = swinging_arm()
    with pytest.raises(Infeasible, match=r"right_elbow.* by .*(rad/s²|N·m).*posture") as caught:
        QuadraticController(model, max_effort=0.01, raise_infeasible=True).solve(snapshot, problem)
    limits = {limit: (excess, unit) for limit, excess, unit in caught.value.violations}
    assert caught.value.lost == ("posture",)
    assert 1.0 < limits["motion of joint 'right_elbow'"][0] < 20.0
    assert limits["motion of joint 'right_elbow'"][1] == "rad/s²"


def test_joints_that_follow_each_other_into_opposite_limits_are_both_named():
    model = model_of("dreamer")
    q, v = model.posture("stand"), np.zeros(model.nv)
    for name in ("right_elbow", "left_elbow"):
        joint = model.column(name)
        q[joint], v[joint] = model.robot.moving[joint].upper - 0.001, 0.5
    gear = Coactuation("gear", "right_elbow", ["left_elbow"], -1.0)
    problem = Problem([JointPositionTask("posture", goal=model.posture("stand"))], [gear, *Coactuation.of(model)])
    with pytest.raises(Infeasible) as caught:
        QuadraticController(model, raise_infeasible=True).solve(model.at(q, v), problem)
    named = {limit for limit, _, _ in caught.value.violations}
    assert named == {"motion of joint 'right_elbow'", "motion of joint 'left_elbow'"}
    (one, other) = (excess for _, excess, _ in caught.value.violations)
    assert one == pytest.approx(other, rel=1e-3), "the least squares share it out evenly"
    assert re.fullmatch(
        r"the limits contradict each other; at best there would be exceeded: "
        r"motion of joint '\w+' by [\d.]+ rad/s², motion of joint '\w+' by [\d.]+ rad/s²; tasks that lost: posture",
        str(caught.value),
    )


def test_feet_that_must_press_harder_than_the_robot_weighs_are_named():
    model = model_of("hubo2plus")
    controller = QuadraticController(model, least_force=3000.0)
    command = controller.solve(model.at(model.posture("stand")), standing(model))
    assert "pull of contact" in command.fault.reason


def test_in_the_loop_the_last_safe_command_is_given_with_the_fault():
    model = model_of("hubo2plus")
    controller = QuadraticController(model)
    problem = standing(model)
    snapshot = model.at(model.posture("stand"))
    good = controller.solve(snapshot, problem)
    problem.task("com").__dict__["numbers"][-1] = np.nan
    bad = controller.solve(snapshot, problem)
    assert bad.fault is not None
    assert "'com'" in bad.fault.reason
    np.testing.assert_array_equal(bad.effort, good.effort)


def test_before_there_was_a_safe_command_the_robot_is_held_where_it_is():
    model, snapshot, problem = swinging_arm()
    command = QuadraticController(model, max_effort=0.01).solve(snapshot, problem)
    assert isinstance(command.fault, InfeasibleFault)
    assert command.fault.error.violations
    assert np.all(np.abs(command.effort) <= 0.01)
    np.testing.assert_array_equal(command.position, snapshot.q)


def test_the_task_that_loses_is_named():
    model = model_of("hubo2plus")
    command = QuadraticController(model).solve(model.at(model.posture("stand")), standing(model, com=(0.3, 0.0, 0.0)))
    assert "com" in [each.task for each in command.losses]
    assert max(each.residual for each in command.losses) > 1.0


class Broken(Task):
    row_count = 1

    def error(self, snapshot):
        if snapshot.q[0] > 0.5:
            raise RuntimeError("lost")
        return np.zeros(1)

    def jacobian(self, snapshot):
        return np.eye(1, snapshot.model.nv)


def test_a_users_own_task_counts_and_may_break():
    model = model_of("hubo2plus")
    problem = Problem([Broken("mine"), JointPositionTask("posture", goal=np.zeros(38))], feet())
    controller = QuadraticController(model)
    q = model.posture("stand")
    assert controller.solve(model.at(q), problem).fault is None
    q[0] = 1.0
    assert "mine" in controller.solve(model.at(q), problem).fault.reason


# --- what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"period": 0.0},
        {"braking": -1.0},
        {"acceleration_limit": 10.0},
        {"acceleration_limit": np.nan},
        {"friction": 0.0},
        {"friction": {"left_foot": -1.0}},
        {"inset": -0.1},
        {"max_effort": [1.0]},
        {"hard_tolerance": 2.0},
        {"clearance": np.nan},
    ],
    ids=str,
)
def test_options_that_mean_nothing_are_refused(options):
    with pytest.raises(BadProblem):
        QuadraticController(model_of("hubo2plus"), **options)


def test_the_friction_of_a_contact_that_is_not_there_is_refused():
    model = model_of("hubo2plus")
    with pytest.raises(UnknownName, match="left_foot"):
        QuadraticController(model, friction={"left_fot": 0.5}).prepare(standing(model))


def test_a_snapshot_of_another_model_is_refused():
    model = model_of("hubo2plus")
    other = model_of("atlas")
    with pytest.raises(WrongRecord):
        QuadraticController(model).solve(other.at(other.neutral()), standing(model))
    with pytest.raises(BadProblem):
        QuadraticController(model).weigh("com", 0.0)
