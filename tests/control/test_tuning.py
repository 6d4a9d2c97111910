"""What of a controller changes while it runs has the effect that it would have had from the start."""

import numpy as np
import pytest
import quadratic_examples as standing_hubo

from wholebody.control import WBOSC, Problem, QuadraticController
from wholebody.control.impedance import Impedance
from wholebody.control.transitions import Transitions
from wholebody.control.tuning import tune
from wholebody.errors import BadParameter
from wholebody.parameters import Parameters
from wholebody.tasks import JointPositionTask

MODEL = standing_hubo.model_of("hubo2plus")
JOINTS = len(MODEL.joint_names)
HARD = JointPositionTask("hard", np.full(JOINTS, 3.0), stiffness=900.0)
"""It asks for more than the robot can do in any way."""


def parameters_of(controller):
    parameters = Parameters()
    tune(parameters, "controller", controller)
    return parameters


def problem():
    return Problem([HARD], standing_hubo.feet(*standing_hubo.FEET))


def snapshot():
    """Fast, and with joints close to where they end."""
    q = MODEL.posture("stand").copy()
    q[-JOINTS:] = [each.upper - 0.001 for each in MODEL.robot.moving]
    return MODEL.at(q, np.full(MODEL.nv, 30.0))


@pytest.mark.parametrize("what", ["effort", "position", "velocity"])
def test_limits_switched_off_and_on_while_running_are_those_of_a_controller_made_so(what):
    without = WBOSC(MODEL, **{f"enforce_{what}_limits": False}).solve(snapshot(), problem())
    usual = WBOSC(MODEL).solve(snapshot(), problem())
    changing = WBOSC(MODEL)
    parameters = parameters_of(changing)
    for value, expected in ((0, without), (1, usual)):
        parameters.set(f"controller.enforce_{what}_limits", value)
        command = changing.solve(snapshot(), problem())
        assert np.array_equal(getattr(command, what), getattr(expected, what))
    assert not np.array_equal(getattr(without, what), getattr(usual, what)), "it matters here"


def test_a_limit_holds_for_the_joints_that_it_is_told_to_and_the_others_are_warned_of():
    controller = WBOSC(MODEL)
    parameters = parameters_of(controller)
    free, strongest = (
        WBOSC(MODEL, enforce_effort_limits=False).solve(snapshot(), problem()).effort,
        controller.limits[3],
    )
    beyond = np.flatnonzero(np.abs(free) > strongest)
    assert len(beyond) > 1
    switches = np.ones(JOINTS)
    switches[beyond[0]] = 0.0
    parameters.set("controller.enforce_effort_limits", switches)
    command = controller.solve(snapshot(), problem())
    assert command.effort[beyond[0]] == free[beyond[0]]
    assert np.array_equal(np.abs(command.effort[beyond[1:]]), strongest[beyond[1:]])
    warned = {each.joint for each in command.warnings if each.quantity == "effort"}
    assert warned == {MODEL.joint_names[index] for index in beyond}


def test_the_most_effort_can_be_less_than_the_robots_but_not_more():
    controller = WBOSC(MODEL)
    parameters, own = parameters_of(controller), controller.limits[3].copy()
    parameters.set("controller.max_effort", 0.5 * own)
    assert np.abs(controller.solve(snapshot(), problem()).effort).max() == pytest.approx(0.5 * own.max())
    parameters.set("controller.max_effort", 10 * own)
    assert np.array_equal(parameters.get("controller.max_effort"), own)
    assert np.array_equal(
        controller.solve(snapshot(), problem()).effort, WBOSC(MODEL).solve(snapshot(), problem()).effort
    )


def test_a_tolerance_is_the_one_that_it_is_set_to():
    near = MODEL.at(MODEL.posture("stand"))
    asked = standing_hubo.standing(MODEL, hand=(0.3, 0.0, 0.0))  # out of reach: the arm becomes straight
    changing = WBOSC(MODEL)
    parameters_of(changing).set("controller.task_tolerance", 0.2)
    command = changing.solve(near, asked).effort
    assert np.array_equal(command, WBOSC(MODEL, task_tolerance=0.2).solve(near, asked).effort)
    assert not np.array_equal(command, WBOSC(MODEL).solve(near, asked).effort), "it matters here"


def test_the_quadratic_controller_keeps_the_limits_that_are_switched_on():
    asked = standing_hubo.standing(MODEL, com=(0.0, 0.0, -0.2))
    now = MODEL.at(MODEL.posture("stand"), np.zeros(MODEL.nv))
    with_limits = QuadraticController(MODEL)
    without = QuadraticController(MODEL, limit_velocities=False, limit_efforts=False, limit_positions=False)
    changing = QuadraticController(MODEL)
    parameters = parameters_of(changing)
    for value, expected in ((0, without), (1, with_limits)):
        for what in ("effort", "position", "velocity"):
            parameters.set(f"controller.enforce_{what}_limits", value)
        assert changing.solve(now, asked).effort == pytest.approx(expected.solve(now, asked).effort, abs=1e-6)
    strongest = np.abs(with_limits.solve(now, asked).effort).max()
    parameters.set("controller.max_effort", 0.9 * strongest)
    command = changing.solve(now, asked)
    assert command.fault is None
    assert np.abs(command.effort).max() <= 0.9 * strongest + 1e-3


def test_what_is_inside_another_controller_is_there_too_and_nonsense_is_refused():
    parameters = parameters_of(Impedance(Transitions(WBOSC(MODEL))))
    assert {"controller.jump", "controller.task_tolerance", "controller.max_effort"} <= set(parameters.paths)
    for path, value in (
        ("task_tolerance", 0.0),
        ("task_tolerance", 1.0),
        ("enforce_effort_limits", 0.5),
        ("enforce_effort_limits", np.ones(JOINTS - 1)),
        ("max_effort", -1.0),
        ("max_effort", np.nan),
    ):
        with pytest.raises(BadParameter):
            parameters.set(f"controller.{path}", value)
