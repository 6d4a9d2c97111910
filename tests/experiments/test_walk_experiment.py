"""What the experiment of walking tells of a run: velocity, impact and the zero moment point are the true ones."""

import numpy as np
import pytest

from experiments.stabilizer_walk import SIDES, forward, run, true_zmp
from wholebody import robots
from wholebody.locomotion.walking.gait import SOLES
from wholebody.simulation import Simulation


@pytest.fixture(scope="module")
def short_walk():
    return run("dcm", 0.6, forward(0.2, 2), seed=0)


def test_the_velocity_is_of_the_time_from_when_it_was_told_to_walk(short_walk):
    assert short_walk.velocity == pytest.approx(short_walk.distance / (short_walk.time - 1.0), rel=1e-6)
    assert short_walk.distance == pytest.approx(0.4, abs=0.03)


def test_a_robot_that_only_stands_has_no_velocity_and_half_its_real_weight_on_each_foot():
    heavy, light = (run("none", None, None, seed=0, mass=mass, seconds=1.5) for mass in (1.05, 0.95))
    assert heavy.velocity == light.velocity == 0.0
    assert heavy.impact == pytest.approx(0.53, abs=0.03)  # it sways a little when it is let go
    assert heavy.impact == pytest.approx(light.impact, abs=0.02)


@pytest.mark.slow
def test_an_impact_is_the_highest_force_of_all_physics_steps(short_walk, monkeypatch):
    ends = Simulation.truth.fget

    def at_the_end_of_a_period(simulation):
        return np.array([force[2] for force in ends(simulation)["force_torque"]["force"]])

    monkeypatch.setattr(Simulation, "peak_forces", property(at_the_end_of_a_period))
    assert short_walk.impact > run("dcm", 0.6, forward(0.2, 2), seed=0).impact + 0.01


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["mujoco", "dart"])
def test_of_a_robot_at_rest_the_true_zero_moment_point_is_below_its_centre_of_mass(engine):
    with Simulation(robots.load("hubo2plus"), engine=engine) as simulation:
        while simulation.time < 1.5:
            simulation.advance()
        links = [sensor.link for sensor in simulation.robot.sensors_of("force_torque")]
        side, there = true_zmp(simulation, [links.index(simulation.robot.surface(sole).link) for sole in SOLES])
        sole = simulation.robot.surface(SOLES[SIDES.index(side)])
        frame = simulation.link_to_world(sole.link) @ sole.at.matrix
        in_world = frame @ (*there, 0.0, 1.0)
        assert in_world[:2] == pytest.approx(simulation.com_in_world[:2], abs=2e-3)


@pytest.mark.slow
def test_the_true_zero_moment_point_is_nearer_to_the_plan_with_balance_than_without(short_walk):
    alone = run("none with legs", 0.6, forward(0.2, 2), seed=0)
    assert short_walk.zmp_off_plan < 0.8 * alone.zmp_off_plan
    assert short_walk.zmp_off_plan < 0.06
