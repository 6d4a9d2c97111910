"""A gantry: the robot hangs, is lowered onto its feet, and stands without it."""

import math

import pytest

from wholebody import robots
from wholebody.errors import BadSimulation
from wholebody.simulation import Simulation
from wholebody.simulation.gantry import HEIGHT, LOWERING, SETTLING, Gantry


def feet(simulation):
    """N that the ground bears."""
    return sum(each.force_in_world[2] for each in simulation.touches)


def height(simulation):
    return simulation.base_to_world[2, 3]


def test_it_hangs_until_told_is_lowered_slowly_and_let_go_when_its_feet_bear_it():
    said, told = [], []
    simulation = Simulation(robots.load("hubo2plus"), control_period=0.005)
    stands, weight = height(simulation), simulation.robot.mass * 9.81
    gantry = Gantry(simulation, 0.2, said.append)
    gantry.begins = lambda: bool(told)
    for _ in range(100):
        gantry.advance()
    assert height(simulation) == pytest.approx(stands + HEIGHT, abs=0.01)
    assert feet(simulation) == 0
    told.append(True)
    lowest = height(simulation)
    while not gantry.let_go:
        gantry.advance()
        assert lowest - height(simulation) < 2 * LOWERING * simulation.period + 2e-3
        lowest = height(simulation)
        assert simulation.time < 0.5 + 0.2 + HEIGHT / LOWERING + SETTLING + 1.0
    for _ in range(100):
        gantry.advance()
    assert height(simulation) == pytest.approx(stands, abs=0.01)
    assert feet(simulation) == pytest.approx(weight, rel=0.1)
    assert said == ["it hangs in its gantry; lowered in 0.2 s", "it stands on its feet and is let go"]


def test_without_its_ropes_it_falls_from_there():
    simulation = Simulation(robots.load("hubo2plus"), control_period=0.005)
    gantry = Gantry(simulation, math.inf)
    hung = height(simulation)
    gantry.let_go = True
    for _ in range(20):
        gantry.advance()
    assert height(simulation) < hung - 0.04


@pytest.mark.parametrize(("hang", "physics"), [(0.0, True), (math.nan, True), (1.0, False)])
def test_a_gantry_that_cannot_be_is_refused(hang, physics):
    with pytest.raises(BadSimulation, match="physics" if not physics else "positive"):
        Gantry(Simulation(robots.load("minihubo"), physics=physics), hang)
