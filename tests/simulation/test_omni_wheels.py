"""Wheels with rollers: a simulated robot on three of them drives wherever they roll, and each can turn alone."""

from dataclasses import replace

import numpy as np
import pytest

from wholebody import robots
from wholebody.rotations import roll_pitch_yaw
from wholebody.simulation import Simulation

TRIKEY = robots.load("trikey")
S, DISTANCE, RADIUS = np.sin(4 * np.pi / 3), 0.272, 0.098
WHEELS_OF_BASE = -np.array([[DISTANCE, S, -0.5], [DISTANCE, -S, -0.5], [DISTANCE, 0, 1]]) / RADIUS
"""Rates of the wheels for ω_z, v_x, v_y of the base."""


def driven(robot, angles, seconds=2.0):
    """Turn the wheels by angles, smoothly; how far they went, and heading, x and y of the base then."""
    with Simulation(robot) as simulation:
        reference = simulation.new_reference()
        cycles = round(seconds / simulation.period)
        for cycle in range(cycles + 100):
            share = 0.5 - 0.5 * np.cos(np.pi * min(cycle / cycles, 1.0))
            reference.position[:] = share * np.array(angles)
            simulation.write(reference)
            simulation.advance()
        base = simulation.base_pose
        return np.array(simulation.truth.position), np.array([roll_pitch_yaw(base[3:])[2], *base[:2]])


@pytest.mark.parametrize("angles", [(1.0, 1.0, 1.0), (1.0, -1.0, 0.0), (0.5, 0.5, -1.0)])
def test_the_base_goes_where_the_wheels_roll(angles):
    went, base = driven(TRIKEY, angles)
    np.testing.assert_allclose(went, angles, atol=0.01)
    np.testing.assert_allclose(base, np.linalg.solve(WHEELS_OF_BASE, angles), atol=0.005)


def test_one_wheel_turns_while_the_others_stand_and_without_rollers_it_cannot():
    went, _ = driven(TRIKEY, (0.0, 0.0, 0.05), seconds=0.5)
    assert went[2] == pytest.approx(0.05, abs=0.005)
    assert np.abs(went[:2]).max() < 0.005
    stuck, _ = driven(replace(TRIKEY, groups={}), (0.0, 0.0, 0.05), seconds=0.5)
    assert stuck[2] < 0.02
