"""Feet in a robot that tilts, or on ground that does: those that stand lie as it does, and it stays upright."""

import math

import numpy as np
import pytest

from experiments.stabilizer_ground import on_the_plate
from wholebody import robots
from wholebody.behaviors import Walking
from wholebody.estimation import BalanceEstimator, SupportNoise
from wholebody.locomotion.balance.dcm_stabilizer import MOVING_GROUND
from wholebody.locomotion.balance.stabilizers import Command, turned
from wholebody.locomotion.walking.gait import SOLES
from wholebody.locomotion.walking.ground_adaptation import SoleCompliance, turned_back
from wholebody.locomotion.walking.pendulum import GRAVITY
from wholebody.locomotion.walking.walker import Walker
from wholebody.model import Model
from wholebody.simulation import Simulation


def test_a_foot_turned_back_is_where_it_shall_be_in_a_robot_that_tilts():
    sole, about, tilt = np.eye(4), np.array([0.1, -0.2, 0.0]), np.array([0.1, -0.2])
    sole[:3, :3], sole[:3, 3] = turned(np.array([0.0, 0.0, 0.5])), (0.4, 0.1, 0.05)
    told = turned_back(sole, about, tilt)
    delta = turned(np.array([*tilt, 0.0]))
    assert delta @ told[:3, :3] == pytest.approx(sole[:3, :3], abs=1e-12)
    assert about + delta @ (told[:3, 3] - about) == pytest.approx(sole[:3, 3], abs=1e-12)


@pytest.fixture
def stance():
    """Feet of Hubo2+ that bear half of its weight each and lie flat on level ground; its model, and what is seen."""
    model = Model(robots.load("hubo2plus"))
    balance = BalanceEstimator(model, feet=SOLES).balance
    balance = balance._replace(
        wrench_in_sole=np.zeros((2, 6)), cop_in_sole=np.zeros((2, 2)), sole_to_world=np.tile(np.eye(4), (2, 1, 1))
    )
    balance.wrench_in_sole[:, 2] = model.total_mass * GRAVITY / 2
    return model, balance


def stands(soles, balance, cycles=200):
    """The soles as they are told after some time on both feet."""
    for _ in range(cycles):
        command = Command(np.zeros(3), np.zeros(2), np.eye(3), (np.eye(4), np.eye(4)), np.zeros(2), 0.5)
        soles.correct(command, balance, 0.005)
    return command.soles


@pytest.mark.slow
@pytest.mark.parametrize("rocking", [(1,), (0, 1)])
def test_a_foot_on_its_edge_shows_nothing_and_is_turned_as_the_other_shows_that_lies_flat(stance, rocking):
    model, balance = stance
    soles = SoleCompliance(model)
    stands(soles, balance)
    balance.sole_to_world[0, :3, :3] = turned(np.array([0.03, 0.05, 0.0]))
    balance.sole_to_world[1, :3, :3] = turned(np.array([-0.05, 0.0, 0.0]))
    for side in rocking:
        balance.cop_in_sole[side] = (np.array(model.robot.surface(SOLES[side]).outline)[:, 0].max(), 0.0)
    shown = balance.sole_to_world[0, :3, 2] if rocking == (1,) else np.array([0.0, 0.0, 1.0])
    for sole in stands(soles, balance):
        assert sole[:3, 2] == pytest.approx(shown, abs=1e-3)


def test_it_begins_with_feet_as_they_stand(stance):
    model, balance = stance
    balance.sole_to_world[:, :3, :3] = turned(np.array([0.02, -0.06, 0.0]))
    for sole in stands(SoleCompliance(model), balance, cycles=1):
        assert sole[:3, 2] == pytest.approx(balance.sole_to_world[0, :3, 2], abs=1e-4)


@pytest.mark.parametrize(("left", "right", "expected"), [(0.05, 0.08, 0.05), (0.05, 0.0, 0.0), (0.05, -0.05, 0.0)])
def test_a_foot_that_swings_expects_of_the_ground_what_both_have_found(stance, left, right, expected):
    model, balance = stance
    soles = SoleCompliance(model)
    for side, pitch in enumerate((left, right)):
        balance.sole_to_world[side, :3, :3] = turned(np.array([0.0, pitch, 0.0]))
    stands(soles, balance)
    balance.wrench_in_sole[1, 2] = 0.0
    told = stands(soles, balance)
    assert told[0][0, 2] == pytest.approx(math.sin(left), abs=1e-3), "the one that stands stays as it is"
    assert told[1][0, 2] == pytest.approx(math.sin(expected), abs=1e-3)


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
    upright, along = (on_the_plate(arm, 7, seconds=4.0) for arm in ("rough", "none"))
    assert not upright.fell
    assert upright.tilt < 0.4 * along.tilt


def test_whoever_chooses_the_stabilizer_for_moving_ground_by_name_gets_the_estimator_for_it():
    robot = robots.load("hubo2plus")
    assert Walking(robot, stabilizer="rough").walker.estimator.filter.noise == MOVING_GROUND
    assert Walking(robot).walker.estimator.filter.noise == SupportNoise()
    assert Walker(robot, stabilizer="rough", noise=SupportNoise()).estimator.filter.noise == SupportNoise()


@pytest.mark.slow
def test_on_a_slope_a_robot_whose_imu_dies_while_it_walks_stops_and_stands():
    robot = robots.load("hubo2plus")
    walking, told = Walking(robot, stabilizer="rough"), False
    with Simulation(robot, "slope:angle=0.0873", posture=walking.walker.stance()) as world:
        state, reference = world.new_state(), world.new_reference()
        walking.stand(1.0)
        while world.time < 7.0:
            world.read(state)
            if world.time > 3.3:
                state.imu.measured[:] = 0
            if walking.up and not told:
                walking.walk(distance=1.0)
                told = True
            walking.cycle(state, reference)
            world.write(reference)
            world.advance()
        assert "it stops and stands" in walking.trouble
        assert walking.standing
        assert 0.2 < world.com_in_world[0] < 0.9
        assert math.acos(min(1.0, world.base_to_world[2, 2])) < 0.05
