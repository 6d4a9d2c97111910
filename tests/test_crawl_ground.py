"""Atlas crawls in MuJoCo to where the ground is lower than it should be: it notices, and rests."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.crawl_gaits import FALLEN, start_of
from wholebody import robots
from wholebody.behaviors.crawling import Crawling
from wholebody.robots.robot import Placement
from wholebody.simulation import SensorModel, Simulation

EDGE, HEIGHT = 1.6, 0.1
"""m: where the platform ends, and how much lower the ground is from there on."""
HERE = EDGE - 0.42
"""m: the middle of the robot, its hands are before the edge."""


@pytest.mark.parametrize(("length", "trouble"), [(EDGE - 0.2, "off its plan"), (4.0, "")])
def test_a_hand_that_comes_down_too_low_makes_it_rest_and_it_does_not_fall(length, trouble):
    robot = robots.load("atlas")
    crawling = Crawling(robot)
    scene = f"steps:height={HEIGHT},count=1,ahead=0.2,depth={length}"
    with Simulation(robot, scene, seed=100, sensors=SensorModel.realistic()) as simulation:
        base = start_of(crawling).matrix.copy()
        base[:3, 3] += (HERE, 0.0, HEIGHT)
        simulation.reset(crawling.crawler.q[7:], base=Placement.of(base))
        state, reference = simulation.new_state(), simulation.new_reference()
        height = float(simulation.base_to_world[2, 3])
        crawling.crawl(velocity=(0.12, 0.0, 0.0))
        told = []
        while simulation.time < 6.0:
            simulation.read(state)
            crawling.cycle(state, reference)
            simulation.write(reference)
            simulation.advance()
            told.append(reference["position"].copy())
        fell = simulation.base_to_world[2, 3] < height - FALLEN
    assert not fell
    assert trouble in crawling.trouble
    assert bool(trouble) == bool(crawling.trouble)
    assert np.array_equal(told[-1], told[-100]) == bool(trouble)
