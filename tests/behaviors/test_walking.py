"""Hubo2+ walks in MuJoCo with noise, delay and wrong masses where the pattern alone falls; so do smaller robots."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

from experiments.stabilizer_push_walking import SIDES, pushed
from experiments.stabilizer_walk import forward, run
from wholebody import robots
from wholebody.behaviors import Walking
from wholebody.errors import BadFootsteps, BadGait, MissingSensor, SensorLost, VelocityClamped
from wholebody.locomotion.walking.walker import Walker
from wholebody.simulation import SensorModel, Simulation

FAST = (0.6, forward(0.2, 14))


@pytest.mark.slow
def test_the_pattern_alone_falls_in_a_fast_walk():
    assert run("none", *FAST, seed=0).fell


@pytest.fixture(scope="module")
def pattern_alone():
    """The fast walk by the same pattern, legs allowed for, that nothing balances: on level ground it does not fall."""
    return run("none with legs", *FAST, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("stabilizer", ["dcm", "regions"])
def test_with_a_stabilizer_the_fast_walk_goes_where_it_shall_and_far_steadier_than_by_the_same_pattern_alone(
    stabilizer, pattern_alone
):
    went = run(stabilizer, *FAST, seed=0)
    assert not went.fell
    assert went.distance == pytest.approx(2.8, abs=0.1)
    assert went.tilt < 0.6 * pattern_alone.tilt
    assert went.zmp_error < 0.8 * pattern_alone.zmp_error


@pytest.mark.slow(but=["none with legs-True-1", "dcm-False-1"])
@pytest.mark.parametrize("seed", [1, 60])
@pytest.mark.parametrize(("stabilizer", "falls"), [("none with legs", True), ("dcm", False), ("regions", False)])
def test_a_push_while_walking_is_caught_with_a_stabilizer_and_not_with_the_same_pattern_alone(stabilizer, falls, seed):
    assert pushed(stabilizer, SIDES["ahead"], seed).fell == falls


@pytest.mark.slow(but="minihubo")
@pytest.mark.parametrize("name", ["minihubo", "hoap3"])
def test_small_robots_walk_with_the_same_controller(name):
    went = run("dcm", None, forward(0.06, 6), seed=2, name=name)
    assert not went.fell
    assert went.distance == pytest.approx(0.36, abs=0.03)


class Told:
    """A robot in a world and its behaviour, period by period."""

    def __init__(self, seed=0):
        self.robot = robots.load("hubo2plus")
        self.walking = Walking(self.robot)
        self.world = Simulation(self.robot, sensors=SensorModel.realistic(), seed=seed)
        self.state, self.reference = self.world.new_state(), self.world.new_reference()
        self.spoil = None

    def go(self, seconds=60.0, until=None):
        """For some seconds, or until something is so."""
        end = self.world.time + seconds
        while self.world.time < end and not (until is not None and until()):
            self.world.read(self.state)
            if self.spoil is not None:
                self.spoil(self.state)
            self.walking.cycle(self.state, self.reference)
            self.world.write(self.reference)
            self.world.advance()
            assert self.world.base_to_world[2, 2] > 0.8, "it fell"
        return self

    def stands(self):
        self.go(0.1)
        self.go(60.0, lambda: self.walking.standing)
        assert self.walking.standing
        return self

    @property
    def yaw(self):
        R = self.world.base_to_world
        return math.atan2(R[1, 0], R[0, 0])


def test_it_stands_walks_changes_speed_and_direction_turns_and_stops():
    told = Told()
    told.walking.stand()
    told.stands()
    told.walking.walk(velocity=(0.15, 0.0, 0.0))
    told.go(3.0)
    told.walking.walk(velocity=(0.25, 0.0, 0.2))
    told.go(3.0)
    told.walking.stop()
    told.stands()
    walked, turned = told.world.com_in_world.copy(), told.yaw
    assert walked[0] > 0.5
    assert 0.1 < turned < 1.0
    told.walking.turn(-0.4)
    told.stands()
    assert told.yaw == pytest.approx(turned - 0.4, abs=0.05)
    assert np.linalg.norm((told.world.com_in_world - walked)[:2]) < 0.05


def test_a_controller_killed_in_mid_step_is_followed_by_another_that_recovers():
    told = Told()
    told.walking.stand()
    told.stands()
    told.walking.walk(distance=1.0)
    told.go(30.0, lambda: told.walking.walker.target and told.walking.walker.target.right.height > 0.03)
    for _ in range(40):  # nobody controls it: the joints are held
        told.world.advance()
    assert told.world.base_to_world[2, 2] > 0.8
    told.walking = Walking(told.robot)
    told.walking.stand()
    told.stands()
    told.walking.walk(distance=0.2)
    told.stands()


@pytest.mark.slow(but="force_torque-force-force-torque sensor")
@pytest.mark.parametrize(
    ("sensor", "reading", "named"),
    [("imu", "angular_velocity", "IMU"), ("force_torque", "force", "force-torque sensor")],
)
def test_a_sensor_that_dies_while_walking_stops_it_and_it_stands(sensor, reading, named):
    told = Told()
    told.walking.stand()
    told.stands()
    told.walking.walk(velocity=(0.1, 0.0, 0.0))
    told.go(3.0)

    def dead(state):
        state[sensor][reading] = math.nan

    told.spoil = dead
    told.stands()
    assert named in told.walking.trouble
    with pytest.raises(SensorLost):
        told.walking.walk(distance=1.0)


def test_one_bad_reading_does_not_stop_it():
    told = Told()
    told.walking.stand()
    told.stands()

    def once(state):
        if abs(told.world.time % 1.0) < 0.006:
            state.force_torque.force[:] = math.nan

    told.spoil = once
    told.walking.walk(distance=0.2)
    told.stands()
    assert told.walking.trouble == ""


def test_a_velocity_too_fast_is_clamped_and_said_and_nonsense_is_refused():
    walking = Walking(robots.load("hubo2plus"))
    with pytest.warns(VelocityClamped, match="faster than this robot"):
        walking.walk(velocity=(5.0, 0.0, 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        walking.walk(velocity=(0.1, 0.0, 0.0))
    for wrong in ({}, {"distance": 1.0, "steps_in_place": 3}):
        with pytest.raises(BadFootsteps, match="one of them"):
            walking.walk(**wrong)
    with pytest.raises(BadFootsteps):
        walking.walk(distance=math.nan)


def test_a_robot_without_feet_sensors_is_told_so():
    robot = robots.load("hubo2plus")
    for kind, error, what in (("force_torque", MissingSensor, "force-torque"), ("imu", BadGait, "IMU")):
        without = tuple(sensor for sensor in robot.sensors if sensor.kind != kind)
        with pytest.raises(error, match=what):
            Walker(replace(robot, sensors=without))


@pytest.mark.slow
def test_it_walks_by_raw_sensors_whatever_the_imu_thinks_its_own_orientation_is():
    told = Told()
    told.spoil = lambda state: state.imu.orientation.__setitem__(0, (0.0, 0.3, 0.0, 0.954))
    told.walking.stand()
    told.stands()
    told.walking.walk(distance=0.2)
    told.stands()
    assert told.walking.trouble == ""
