"""Laws of the kernels of problems: what their handles keep, what they refuse, and contacts against differences."""

import gc
from dataclasses import replace

import numpy as np
import pytest
import wbosc_reference as reference
from control_examples import ROBOTS, states, usual
from model_examples import chain, model
from scipy.linalg import cython_lapack

from wholebody import _kernels
from wholebody.constraints import FlatContact, LineContact, OmniWheelContact, PointContact
from wholebody.control import WBOSC, Problem
from wholebody.control.problem_layout import ProblemLayout
from wholebody.model import Model
from wholebody.tasks import CartesianPositionTask, JointPositionTask

H = 1e-6
DSYEVD = cython_lapack.__pyx_capi__["dsyevd"]
POINT, AXLE, RADIUS = (0.1, 0.2, 0.3), (0.0, 0.6, 0.8), 0.1


def bolted(count):
    return Model(replace(chain(count), floating=False))


def end_of(name):
    return {"trikey": "wheel1", "zoo": "tip", "dreamer": "right_palm"}.get(name, "left_sole")


@pytest.mark.parametrize("name", ROBOTS)
def test_what_a_contact_holds_is_the_velocity_of_its_point_and_of_its_frame(name):
    m, end = model(name), end_of(name)
    frame = m.frame(end)
    for now in states(name):
        ahead, back = (m.at(m.integrate(now.q, now.v, dt), now.v) for dt in (H, -H))
        there, here = (each.position(frame) + each.rotation(frame) @ POINT for each in (ahead, back))
        moving, turning = (there - here) / (2 * H), now.velocity(frame)[3:]
        assert PointContact("p", end, POINT).jacobian(now) @ now.v == pytest.approx(moving, abs=1e-6)
        line = LineContact("l", end, (0.6, 0.0, 0.8), POINT).jacobian(now) @ now.v
        axis = now.rotation(frame) @ (0.6, 0.0, 0.8)
        across = turning - axis * (axis @ turning)
        assert line[:3] == pytest.approx(moving, abs=1e-6)
        assert np.linalg.norm(line[3:]) == pytest.approx(np.linalg.norm(across), abs=1e-9)
        assert FlatContact("f", end).jacobian(now) == pytest.approx(now.jacobian(frame), abs=1e-12)


@pytest.mark.parametrize("name", ROBOTS)
def test_a_wheel_holds_its_height_and_the_velocity_of_its_rim_where_it_rolls(name):
    m, end, up = model(name), end_of(name), np.array([0.0, 0.0, 1.0])
    frame = m.frame(end)
    for now in states(name):
        v, w = np.split(now.velocity(frame), 2)
        rolling = np.cross(now.rotation(frame) @ AXLE, up)
        rim = v + np.cross(w, -RADIUS * up)
        held = OmniWheelContact("w", end, RADIUS, AXLE, up).jacobian(now) @ now.v
        assert held == pytest.approx([v[2], rim @ rolling / np.linalg.norm(rolling)], abs=1e-9)


def test_a_problem_lives_on_in_its_handle_when_python_has_let_go_of_all_that_it_was_made_of():
    m = bolted(5)
    layout = ProblemLayout(Problem([JointPositionTask("posture", np.ones(5))]), m)
    handle, seen = layout.handle, np.zeros(layout.parameters)
    settings = WBOSC(m)._settings
    solver = _kernels.control_wbosc(handle, settings, DSYEVD)
    now, expected = m.at(np.zeros(5)), WBOSC(m).solve(m.at(np.zeros(5)), layout.problem).effort
    del layout, handle, settings
    gc.collect()
    output = np.zeros(6 * 5 + 5 + 5)
    assert _kernels.control_wbosc_solve(solver, now.handle, output) == 0
    assert np.array_equal(output[:5], expected)
    del solver, seen
    gc.collect()


def test_what_does_not_fit_is_refused_by_name():
    m = bolted(5)
    layout = ProblemLayout(Problem([JointPositionTask("posture", np.ones(5))]), m)
    settings = WBOSC(m)._settings
    solver = _kernels.control_wbosc(layout.handle, settings, DSYEVD)
    with pytest.raises(ValueError, match="settings has 29 elements, not 30"):
        _kernels.control_wbosc(layout.handle, settings[:-1].copy(), DSYEVD)
    with pytest.raises(ValueError, match="dsyevd must be"):
        _kernels.control_wbosc(layout.handle, settings, cython_lapack.__pyx_capi__["dgesv"])
    with pytest.raises(ValueError, match="output has 3 elements, not 40"):
        _kernels.control_wbosc_solve(solver, m.at(np.zeros(5)).handle, np.zeros(3))
    with pytest.raises(ValueError, match="seen has 0 elements"):
        _kernels.control_changes(layout.handle, np.zeros(0), 1.0, 1.0)
    with pytest.raises(ValueError, match="a task of 5 integers and 3 numbers is none"):
        _kernels.tasks_task(np.array([1, -1, -1, 0, 2]), np.zeros(3))
    with pytest.raises(ValueError, match="name"):
        _kernels.control_changes(m.tree, np.zeros(0), 1.0, 1.0)


@pytest.mark.parametrize("count", [1, 2, 200])
def test_robots_of_one_joint_and_of_two_hundred_get_what_the_formulas_give(count):
    m = bolted(count)
    rng = np.random.default_rng(count)
    now = m.at(0.02 * rng.normal(size=count), 0.01 * rng.normal(size=count))
    tip = CartesianPositionTask("tip", m.frames[-1], now.position(len(m.frames) - 1) + 0.01)
    problem = Problem([[tip], [JointPositionTask("posture", np.zeros(count))]])
    command = WBOSC(m, enforce_effort_limits=False).solve(now, problem)
    expected = reference.solve(now, problem)
    assert command.fault is None
    assert command.acceleration == pytest.approx(expected.acceleration, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", ROBOTS)
def test_a_task_that_senses_or_is_disabled_takes_no_part_and_those_beside_it_do_not_notice(name):
    m, now = model(name), next(states(name))
    problem, less = usual(name), usual(name)
    watching = CartesianPositionTask("watching", end_of(name), (1.0, 2.0, 3.0), state="sensing")
    more = Problem([*less.levels, [watching]], less.constraints)
    plain, watched = WBOSC(m).solve(now, problem), WBOSC(m).solve(now, more)
    assert np.array_equal(plain.effort, watched.effort)
    assert watched.error("watching") == pytest.approx(watching.error(now), abs=1e-12)
