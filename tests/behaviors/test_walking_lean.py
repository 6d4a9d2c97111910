"""A trunk goes along with a push, and not with a tilt that only the sensors see."""

import math
from dataclasses import replace

import pytest

from wholebody import robots
from wholebody.behaviors import Walking
from wholebody.simulation import SensorModel, Simulation

WRONG = replace(SensorModel.realistic(), accelerometer_bias=(0.2, 0.0, 0.0))
"""As if the IMU were mounted askew by 1.2°."""


def lean_after(seconds, **gains):
    """The tilt of the pelvis, rad, of a robot that stands for so long."""
    robot = robots.load("hoap3")
    walking = Walking(robot)
    for name, value in gains.items():
        setattr(walking.walker.stabilizer.gains, name, value)
    world = Simulation(robot, sensors=WRONG)
    state, reference = world.new_state(), world.new_reference()
    walking.stand(0.5)
    while world.time < seconds:
        world.read(state)
        walking.cycle(state, reference)
        world.write(reference)
        world.advance()
    return math.acos(min(1.0, world.base_to_world[2, 2]))


@pytest.mark.slow
def test_a_robot_whose_imu_is_askew_does_not_lean_further_and_further():
    assert lean_after(6.0) < math.radians(1.5)
    assert lean_after(6.0, most_error=0.0) > math.radians(4), "it would, if it took that for a push"
