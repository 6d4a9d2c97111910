"""Impedance: an internal model makes positions and velocities of efforts, near the robot and within its limits."""

from dataclasses import dataclass

import numpy as np
import pytest

from wholebody import robots
from wholebody.control.impedance import Impedance
from wholebody.control.result import Fault
from wholebody.errors import BadProblem
from wholebody.model import Model

PERIOD = 0.005


@dataclass
class Given:
    """A solution on paper."""

    acceleration: np.ndarray
    effort: np.ndarray
    fault: Fault | None = None


class Solver:
    """A controller that always says the same."""

    period = PERIOD

    def __init__(self, model):
        joints = len(model.joint_names)
        self.model, self.answer = model, Given(np.zeros(model.nv), np.zeros(joints))

    def prepare(self, problem):
        pass

    def solve(self, snapshot, problem):
        return self.answer


@pytest.fixture(scope="module")
def model():
    return Model(robots.load("hubo2plus"))


@pytest.fixture
def standing(model):
    return model.at(model.posture("stand"))


def test_what_asks_for_no_acceleration_stays_where_the_robot_is(model, standing):
    impedance = Impedance(Solver(model))
    for _ in range(100):
        command = impedance.solve(standing, None)
    assert command.position == pytest.approx(standing.q[7:], abs=1e-12)
    assert command.velocity == pytest.approx(0.0, abs=1e-12)


def test_without_a_leak_the_internal_model_moves_as_the_acceleration_says(model):
    solver = Solver(model)
    impedance = Impedance(solver, leak=0.0, window=10.0, offset=False)
    knee = model.robot.index["RKN"]
    solver.answer.acceleration[6 + knee] = 0.8
    q = model.posture("stand")
    for _ in range(100):
        command = impedance.solve(model.at(q), None)
    assert command.velocity[knee] == pytest.approx(0.8 * 100 * PERIOD)
    assert command.position[knee] - q[7 + knee] == pytest.approx(0.5 * 0.8 * (100 * PERIOD) ** 2, rel=0.02)


def test_a_position_that_is_sent_alone_gives_the_effort_of_position_velocity_and_effort_together(model):
    rng = np.random.default_rng(3)
    both = [Impedance(Solver(model), offset=offset) for offset in (True, False)]
    q, v = model.posture("stand"), 0.1 * rng.normal(size=model.nv)
    for each in both:
        each.controller.answer = Given(rng.normal(size=model.nv), 5 * np.ones(len(model.joint_names)))
    both[1].controller.answer = both[0].controller.answer
    for _ in range(5):
        alone, together = (each.solve(model.at(q, v), None) for each in both)
    kp, kd, joints, speeds = alone.stiffness, alone.damping, q[7:], v[6:]
    by_position = kp * (alone.position - joints) - kd * speeds
    by_all = kp * (together.position - joints) + kd * (together.velocity - speeds) + together.effort
    assert by_position == pytest.approx(by_all, abs=1e-9)


def test_a_joint_that_is_blocked_is_pushed_no_further_than_its_window(model, standing):
    solver = Solver(model)
    solver.answer.acceleration[:] = 50.0
    impedance = Impedance(solver, offset=False)
    for _ in range(2000):
        command = impedance.solve(standing, None)
    ahead = command.position - standing.q[7:]
    assert (ahead <= impedance.window + 1e-12).all()
    strongest = np.array([joint.effort for joint in model.robot.moving])
    assert (command.stiffness * ahead <= strongest * (1 + 1e-9)).all(), "the servo is asked for no more than it has"
    solver.answer.acceleration[:] = -50.0
    cycles = 0
    while (impedance.position > standing.q[7:]).any():
        impedance.solve(standing, None)
        cycles += 1
    longest = np.sqrt(2 * impedance.window.max() / 50.0)
    assert cycles < longest / PERIOD + 2, "it comes back at once: nothing was wound up"


def test_positions_and_velocities_stay_within_the_limits_of_the_joints(model):
    solver, rng = Solver(model), np.random.default_rng(0)
    impedance = Impedance(solver, window=100.0, leak=0.0, offset=False)
    lower, upper, fastest = np.array([(j.lower, j.upper, j.velocity) for j in model.robot.moving]).T
    standing = model.at(model.posture("stand"))
    for _ in range(500):
        solver.answer.acceleration[:] = rng.normal(0.0, 500.0, model.nv)
        command = impedance.solve(standing, None)
        assert (command.position >= lower).all()
        assert (command.position <= upper).all()
        assert (np.abs(command.velocity) <= fastest).all()


def test_a_fault_leaves_the_internal_model_where_it_is_and_at_rest(model, standing):
    solver = Solver(model)
    impedance = Impedance(solver, offset=False)
    solver.answer.acceleration[:] = 1.0
    for _ in range(10):
        impedance.solve(standing, None)
    before = impedance.position.copy()
    solver.answer = Given(np.full(model.nv, np.nan), np.full(len(before), np.nan), Fault("no number"))
    command = impedance.solve(standing, None)
    assert command.fault is not None
    assert np.array_equal(command.position, before)
    assert not command.velocity.any()
    assert np.isfinite(command.effort).all()


def test_what_is_left_behind_leaks_out_of_the_internal_model(model, standing):
    impedance = Impedance(Solver(model), leak=2.0, offset=False)
    impedance.restart(standing)
    impedance.position += 0.01
    for _ in range(round(0.5 / PERIOD)):
        impedance.solve(standing, None)
    assert impedance.position - standing.q[7:] == pytest.approx(0.01 * np.exp(-1.0), rel=0.01)


@pytest.mark.parametrize(
    "wrong", [{"leak": -1.0}, {"leak": 1e4}, {"window": 0.0}, {"stiffness": 0.0}, {"damping": -1.0}]
)
def test_what_makes_no_sense_is_refused(model, wrong):
    with pytest.raises(BadProblem):
        Impedance(Solver(model), **wrong)
