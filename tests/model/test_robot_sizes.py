"""Robots of 1 and of 200 joints: model, controllers and inverse kinematics are right, and NaN is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from wholebody.constraints import Constraint, FixedBase
from wholebody.control import WBOSC, Problem, QuadraticController
from wholebody.errors import WholebodyError
from wholebody.kinematics import InverseKinematics
from wholebody.model import Model
from wholebody.robots.formats.urdf import read_urdf
from wholebody.tasks import CartesianPositionTask, JointPositionTask

SIZES = (1, 200)
AXES = ("1 0 0", "0 1 0", "0 0 1")


ARM = 10
"""Joints in a row: of a longer one, M is so ill-conditioned that controllers rightly cut directions off."""


def tree(count: int) -> str:
    """The URDF of so many joints in arms, 5 cm apart, about axes that take turns."""
    inertial = (
        '<inertial><mass value="0.1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    links = [f'<link name="link{i}">{inertial}</link>' for i in range(count + 1)]
    joints = [
        f'<joint name="joint{i:03d}" type="revolute">'
        f'<parent link="link{i if i % ARM else 0}"/><child link="link{i + 1}"/>'
        f'<origin xyz="0.05 0 0.01"/><axis xyz="{AXES[(i + 1) % 3]}"/>'
        '<limit lower="-2" upper="2" effort="1e5" velocity="10"/></joint>'
        for i in range(count)
    ]
    return f'<robot name="chain">{"".join(links)}{"".join(joints)}</robot>'


@pytest.fixture(scope="module", params=SIZES)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Model:
    path = tmp_path_factory.mktemp("chain") / "chain.urdf"
    path.write_text(tree(request.param))
    loaded = Model(read_urdf(path))
    loaded.path = path  # type: ignore[attr-defined]
    return loaded


def some_state(model: Model) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    q = np.zeros(model.nq)
    if model.floating:
        q[6] = 1.0
    q[model.nq - len(model.joint_names) :] = rng.uniform(-0.5, 0.5, len(model.joint_names))
    return q, rng.uniform(-0.1, 0.1, model.nv)


def test_mass_and_bias_are_those_of_pinocchio(model):
    q, v = some_state(model)
    other = pin.buildModelFromUrdf(str(Path(model.path)), *([pin.JointModelFreeFlyer()] if model.floating else []))
    data = other.createData()
    now = model.at(q, v)
    np.testing.assert_allclose(now.M, pin.crba(other, data, q), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(now.h, pin.nle(other, data, q, v), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("controller", [WBOSC, QuadraticController])
def test_controllers_give_the_acceleration_that_is_asked_for(model, controller):
    q, v = some_state(model)
    now = model.at(q, v)
    joints = len(model.joint_names)
    task = JointPositionTask("posture", q[-joints:] + 0.01)
    told = controller(model).solve(now, Problem([[task]], held(model)))
    expected = np.asarray(task.stiffness) * 0.01 - np.asarray(task.damping) * v[-joints:]
    assert told.acceleration[-joints:] == pytest.approx(np.broadcast_to(expected, joints), abs=1e-5)
    if not model.floating:
        assert told.effort == pytest.approx(now.M @ told.acceleration + now.h, rel=1e-6, abs=1e-6)


def held(model: Model) -> list[Constraint]:
    return [FixedBase("bolts")] if model.floating else []


def test_inverse_kinematics_comes_to_where_the_tip_was(model):
    q, _ = some_state(model)
    tip = f"link{len(model.joint_names)}"
    there = model.at(q).position(model.frame(tip)).copy()
    start = q.copy()
    start[model.nq - len(model.joint_names) :] *= 0.9
    found = InverseKinematics(model, [CartesianPositionTask("tip", tip, there)]).solve(start)
    assert model.at(found.q).position(model.frame(tip)) == pytest.approx(there, abs=2e-3)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_state_that_is_no_number_is_refused(model, value):
    q, v = some_state(model)
    q[-1] = value
    with pytest.raises(WholebodyError):
        model.at(q, v)
    q, v = some_state(model)
    v[0] = value
    with pytest.raises(WholebodyError):
        model.at(q, v)


@pytest.mark.parametrize("by", [-1, 1])
def test_a_state_of_another_size_is_refused(model, by):
    q, v = some_state(model)
    with pytest.raises(WholebodyError):
        model.at(np.zeros(len(q) + by), v)
    with pytest.raises(WholebodyError):
        model.at(q, np.zeros(len(v) + by))


def test_states_of_other_numbers_are_taken_as_numbers(model):
    """Single precision and every second number of an array are made what kernels need."""
    q, v = some_state(model)
    q = q.astype(np.float32)
    now = model.at(np.repeat(q, 2)[::2], np.repeat(v, 2)[::2])
    np.testing.assert_allclose(now.M, model.at(q.astype(float), v).M, rtol=1e-12)


@pytest.mark.parametrize("controller", [WBOSC, QuadraticController])
def test_a_goal_that_is_no_number_is_told_as_a_fault(model, controller):
    q, v = some_state(model)
    now = model.at(q, v)
    task = JointPositionTask("posture", q[-len(model.joint_names) :])
    problem = Problem([[task]], held(model))
    solver = controller(model)
    solver.solve(now, problem)
    task.goal[:] = np.nan
    told = solver.solve(now, problem)
    assert told.fault is not None
    assert np.isfinite(told.effort).all()
