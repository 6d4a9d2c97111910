"""What accelerometers of a simulated robot say adds up to how fast it moves, however stiff its servos are."""

import numpy as np
import pytest

from wholebody import robots
from wholebody.simulation import Simulation

GRAVITY = np.array([0.0, 0.0, -9.81])
PERIOD = 0.005


def swaying(name, engine):
    """Standing, it shifts its hips to and fro; IMU in world and where it is, per period."""
    robot = robots.load(name)
    (imu,) = robot.sensors_of("imu")
    forces, places = [], []
    with Simulation(robot, engine=engine, control_period=PERIOD) as simulation:
        state, reference = simulation.new_state(), simulation.new_reference()
        start = reference.position.copy()
        hips = [robot.index[joint] for joint in ("RHR", "LHR")]
        ankles = [robot.index[joint] for joint in ("RAR", "LAR")]
        for tick in range(240):
            roll = 0.04 * np.sin(2 * np.pi * 0.5 * tick * PERIOD) ** 2
            reference.position[:] = start
            reference.position[hips] += roll
            reference.position[ankles] -= roll
            before = simulation.link_to_world(imu.link)
            simulation.write(reference)
            simulation.advance()
            simulation.read(state)
            after = simulation.link_to_world(imu.link)
            turned = 0.5 * (before + after)[:3, :3] @ imu.at.rotation
            forces.append(turned @ state.imu[0].linear_acceleration)
            places.append(after[:3, 3] + after[:3, :3] @ imu.at.xyz)
    return np.array(forces), np.array(places)


@pytest.mark.parametrize("engine", ["mujoco", "dart"])
def test_specific_force_and_gravity_add_up_to_the_velocity_and_that_to_the_way(engine):
    forces, places = swaying("hubo2plus", engine)
    start = 40
    velocity = (places[start + 1] - places[start - 1]) / (2 * PERIOD)
    velocities = velocity + np.cumsum((forces[start:] + GRAVITY) * PERIOD, axis=0)
    travelled = places[start] + np.cumsum(velocities, axis=0) * PERIOD
    assert np.ptp(places[:, 1]) > 0.02
    assert np.abs(travelled - places[start:]).max() < 0.004
