"""Anchoring: a Balance moved to where the footsteps are, as a rigid motion about the vertical that keeps all else."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from wholebody import robots
from wholebody.estimation import BalanceEstimator
from wholebody.locomotion.walking.footsteps import Place
from wholebody.locomotion.walking.gait import SOLES
from wholebody.locomotion.walking.swing import FootPoint
from wholebody.locomotion.walking.walker import Anchoring
from wholebody.model import Model
from wholebody.simulation import Simulation

TURN, WHERE = 0.7, np.array([1.5, -0.4, 0.1])


@pytest.fixture(scope="module")
def seen():
    """A robot that stands, by its sensors."""
    robot = robots.load("hubo2plus")
    estimator = BalanceEstimator(Model(robot), feet=SOLES)
    with Simulation(robot) as world:
        state = world.new_state()
        world.push("Body_Torso", (30.0, 20.0, 0.0), 0.1)
        for _ in range(40):
            world.read(state)
            estimator.update(state)
            world.advance()
    return estimator


def turned(vector):
    c, s = math.cos(TURN), math.sin(TURN)
    return np.array([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1], vector[2]])


def foot(balance, side):
    """Where a sole would be, had the robot been put elsewhere."""
    sole = balance.sole_to_world[side]
    x, y, z = turned(sole[:3, 3]) + WHERE
    return FootPoint(Place(x, y, math.atan2(sole[1, 0], sole[0, 0]) + TURN), z)


@pytest.mark.slow
def test_a_robot_put_elsewhere_is_the_same_robot_elsewhere(seen):
    balance, anchoring = seen.balance, Anchoring(seen.balance)
    moved = anchoring.update(foot(balance, 0), foot(balance, 1))
    for name in ("base_in_world", "com_in_world", "capture_point", "cop_in_world"):
        assert getattr(moved, name) == pytest.approx(turned(getattr(balance, name)) + WHERE, abs=1e-12), name
    assert moved.com_velocity == pytest.approx(turned(balance.com_velocity), abs=1e-12)
    about_z = (0.0, 0.0, math.sin(TURN / 2), math.cos(TURN / 2))
    assert moved.orientation == pytest.approx(
        (Rotation.from_quat(about_z) * Rotation.from_quat(balance.orientation)).as_quat(), abs=1e-12
    )
    lean = np.array([*balance.lean, 0.0])
    assert moved.lean == pytest.approx(turned(lean)[:2], abs=1e-12)
    assert moved.turning == pytest.approx(turned(balance.turning), abs=1e-12)


def test_the_foot_that_bears_tells_where_the_robot_is(seen):
    balance = seen.balance._replace(wrench_in_sole=np.zeros((2, 6)), contact=np.array([False, True]))
    balance.wrench_in_sole[1, 2] = 400.0
    anchoring = Anchoring(balance)
    left, right = foot(balance, 0), foot(balance, 1)
    wrong = FootPoint(left.place.beside(0.3, 0.1, 0.2), 0.05)
    for _ in range(60):
        moved = anchoring.update(wrong, right)
    assert moved.com_in_world == pytest.approx(turned(balance.com_in_world) + WHERE, abs=1e-6)


def test_in_the_air_the_foot_that_bore_last_counts(seen):
    contact, wrench = np.array([True, False]), np.zeros((2, 6))
    wrench[0, 2] = 400.0
    balance = seen.balance._replace(wrench_in_sole=wrench, contact=contact)
    anchoring = Anchoring(balance)
    left, right = foot(balance, 0), foot(balance, 1)
    for _ in range(60):
        anchoring.update(left, right)
    contact[:], wrench[:] = False, 0.0
    moved = anchoring.update(left, FootPoint(right.place.beside(0.4, 0.0), 0.0))
    assert moved.com_in_world == pytest.approx(turned(balance.com_in_world) + WHERE, abs=1e-6)
