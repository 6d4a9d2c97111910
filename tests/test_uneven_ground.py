"""Feet in a robot that tilts: those that swing land level, those that stand lie as the ground does."""

import math

import numpy as np
import pytest

from experiments.stabilizer_ground import on_the_plate
from wholebody import robots
from wholebody.estimation import BalanceEstimator
from wholebody.locomotion.balance.ground_tilt import GroundTilt
from wholebody.locomotion.balance.stabilizers import Command, turned
from wholebody.locomotion.gait import SOLES
from wholebody.locomotion.level_swing import turned_back
from wholebody.model import Model
from wholebody.simulation import Simulation

pytestmark = pytest.mark.timeout(600)  # a busy machine simulates slowly


def test_a_foot_turned_back_is_where_it_shall_be_in_a_robot_that_tilts():
    sole, about, tilt = np.eye(4), np.array([0.1, -0.2, 0.0]), np.array([0.1, -0.2])
    sole[:3, :3], sole[:3, 3] = turned(np.array([0.0, 0.0, 0.5])), (0.4, 0.1, 0.05)
    told = turned_back(sole, about, tilt)
    delta = turned(np.array([*tilt, 0.0]))
    assert delta @ told[:3, :3] == pytest.approx(sole[:3, :3], abs=1e-12)
    assert about + delta @ (told[:3, 3] - about) == pytest.approx(sole[:3, 3], abs=1e-12)


@pytest.mark.parametrize("rocking", [(1,), (0, 1)])
def test_a_foot_on_its_edge_shows_nothing_and_is_turned_as_the_other_shows_that_lies_flat(rocking):
    model = Model(robots.load("hubo2plus"))
    estimator = BalanceEstimator(model, feet=SOLES)
    balance = estimator.balance._replace(contact=np.ones(2, bool), cop_in_sole=np.zeros((2, 2)))
    balance = balance._replace(sole_to_world=np.tile(np.eye(4), (2, 1, 1)))
    balance.sole_to_world[0, :3, :3] = turned(np.array([0.03, 0.05, 0.0]))
    balance.sole_to_world[1, :3, :3] = turned(np.array([-0.05, 0.0, 0.0]))
    for side in rocking:
        balance.cop_in_sole[side] = (estimator.feet.outlines[side][:, 0].max(), 0.0)
    ground = GroundTilt(estimator.feet.outlines)
    for _ in range(200):
        command = Command(np.zeros(3), np.zeros(2), np.eye(3), (np.eye(4), np.eye(4)), np.zeros(2), 0.5)
        ground.correct(command, balance, 0.005)
    shown = balance.sole_to_world[0, :3, 2] if rocking == (1,) else np.array([0.0, 0.0, 1.0])
    for sole in command.soles:
        assert sole[:3, 2] == pytest.approx(shown, abs=1e-3)


def test_the_plate_tilts_as_it_is_told():
    robot, tilts = robots.load("hubo2plus"), []
    with Simulation(robot, "plate:angle=0.0873,frequency=0.5") as world:
        foot = robot.surface("left_sole").link
        flat = world.link_to_world(foot)[:3, :3]
        while world.time < 5.0:
            world.advance()
            if world.time > 3.0:
                turn = flat.T @ world.link_to_world(foot)[:3, :3]
                tilts.append(math.atan2(turn[0, 2], turn[2, 2]))
    assert math.degrees(max(tilts)) == pytest.approx(5.0, abs=0.7)
    assert math.degrees(min(tilts)) == pytest.approx(-5.0, abs=0.7)


def test_on_a_plate_that_tilts_the_robot_stays_upright_and_open_loop_tilts_with_it():
    upright, along = (on_the_plate(arm, 7, seconds=4.0) for arm in ("uneven", "none"))
    assert not upright.fell
    assert upright.tilt < 0.4 * along.tilt
