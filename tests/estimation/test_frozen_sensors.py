"""FrozenSensors: what reads the same to the last bit while the robot moves is named; what rests, or is idle, is not."""

import numpy as np
import pytest

from wholebody import robots
from wholebody.errors import BadEstimator
from wholebody.estimation import BalanceEstimator, FrozenSensors, FrozenSettings
from wholebody.model import Model
from wholebody.simulation import Simulation

DT, WEIGHT = 0.005, 400.0
FEET, JOINTS = ("right_sole", "left_sole"), ("hip", "knee")
NAMES = {
    "gyro": "the gyro",
    "accelerometer": "the accelerometer",
    "left foot": "the force-torque sensor of 'left_sole'",
    "knee": "the encoder of 'knee'",
}


class Body:
    """Sensors with noise on a robot whose joints move, all but what is held."""

    def __init__(self, speed=1.0, noise=1.0):
        self.watch = FrozenSensors(FEET, JOINTS, WEIGHT)
        self.speed, self.noise, self.rng = speed, noise, np.random.default_rng(0)
        self.motion, self.wrenches, self.joints, self.reference = np.ones(10), np.ones((2, 6)), np.zeros(2), np.zeros(2)
        self.borne, self.held = WEIGHT, ""

    def go(self, seconds):
        """The first name within so many seconds, and when it was said."""
        for period in range(round(seconds / DT)):
            self.reference += self.speed * DT
            if self.held != "knee":
                self.joints[1] = self.reference[1]
            self.joints[0] = self.reference[0]
            if self.held != "gyro":
                self.motion[4:7] += self.noise * self.rng.normal(size=3)
            if self.held != "accelerometer":
                self.motion[7:] += self.noise * self.rng.normal(size=3)
            for foot in range(2):
                if not (foot == 1 and self.held == "left foot"):
                    self.wrenches[foot] += self.noise * self.rng.normal(size=6)
            name = self.watch.update(self.motion, self.wrenches, self.joints, self.reference, self.borne, DT)
            if name:
                return name, period * DT
        return "", seconds


def test_sensors_with_noise_are_not_frozen():
    assert Body().go(2.0)[0] == ""


@pytest.mark.parametrize("held", NAMES)
def test_a_sensor_that_repeats_itself_while_the_robot_moves_is_named_soon_and_until_it_does_not(held):
    body = Body()
    body.go(0.5)
    body.held = held
    name, after = body.go(1.0)
    assert name == NAMES[held]
    assert after == pytest.approx(body.watch.settings.after, abs=2 * DT)
    body.speed = 0.0
    assert body.go(DT)[0] == name, "it is no better because the robot stands still"
    body.held, body.speed = "", 1.0
    assert body.go(1.0)[0] == ""


@pytest.mark.parametrize("held", NAMES)
def test_a_robot_that_rests_may_repeat_itself(held):
    body = Body(speed=0.0)
    body.held = held
    assert body.go(5.0)[0] == ""


def test_a_foot_that_reads_exactly_nothing_is_in_the_air_as_long_as_the_others_bear():
    body = Body()
    body.held, body.wrenches[1] = "left foot", 0.0
    assert body.go(1.0)[0] == ""
    body.borne = 0.3 * WEIGHT
    assert body.go(1.0)[0] == NAMES["left foot"]


def test_without_noise_a_robot_at_rest_is_not_frozen():
    robot = robots.load("hoap3")
    estimator = BalanceEstimator(Model(robot))
    with Simulation(robot) as simulation:
        state = simulation.new_state()
        while simulation.tick() < 3.0:
            simulation.read(state)
            estimator.update(state)
    assert estimator.faults.total == 0


def test_the_estimate_goes_on_without_a_gyro_that_is_frozen():
    robot = robots.load("hoap3")
    estimator = BalanceEstimator(Model(robot))
    with Simulation(robot) as simulation:
        state, reference = simulation.new_state(), simulation.new_reference()
        bend = reference.position.copy()
        arm = robot.index["R_SFE"]
        while simulation.tick() < 2.0:
            reference.position[:] = bend
            reference.position[arm] += 0.5 * np.sin(4.0 * simulation.time)
            simulation.write(reference)
            simulation.read(state)
            if simulation.time > 0.5:
                state.imu.angular_velocity[:] = (0.0, 0.5, 0.0)
            estimator.update(state)
        assert estimator.faults.last == "the gyro"
        tilt = estimator.balance.tilt - np.arccos(simulation.base_to_world[2, 2])
    assert abs(tilt) < np.radians(3.0), "0.5 rad/s for 1.5 s is 43°"


def test_settings_that_cannot_be_are_refused():
    for bad in ({"after": 0.0}, {"moved": -1.0}, {"borne": 2.0}, {"after": np.nan}):
        with pytest.raises(BadEstimator, match="positive"):
            FrozenSettings(**bad)
