"""Trikey turns its heading on three omni wheels in MuJoCo."""

import numpy as np
import pytest

from examples.trikey_heading import Turn, heading
from wholebody import robots
from wholebody.control import WBOSC
from wholebody.control.servo import Servo
from wholebody.model import Model
from wholebody.simulation import Simulation


@pytest.mark.parametrize("degrees", [90.0, -60.0, 0.0])
def test_it_turns_by_an_angle_on_the_spot(degrees):
    model = Model(robots.load("trikey"))
    with Simulation(model.robot, control_period=0.001) as simulation:
        Servo(simulation, simulation, WBOSC(model), Turn(np.radians(degrees), 1.5)).run(2.0)
        assert np.degrees(heading(simulation)) == pytest.approx(degrees, abs=3.0)
        assert np.linalg.norm(simulation.base_to_world[:2, 3]) < 0.005
