"""Atlas crawls in MuJoCo, with noise, delay and a mass that is not the model's; effort limits are enforced."""

from __future__ import annotations

import math

import numpy as np
import pytest

from experiments.crawl_gaits import trial
from wholebody import robots
from wholebody.behaviors.crawling import Crawling
from wholebody.cli.crawl import crawl
from wholebody.errors import BadFootsteps, BadGait, SensorLost, WholebodyError


def test_it_crawls_forward_to_where_it_is_told_and_rests():
    run = trial(lambda crawling: crawling.crawl(distance=0.3), seed=2, seconds=14.0)
    assert not run.fell
    assert run.rested
    assert run.forward == pytest.approx(0.3, abs=0.08)
    assert abs(run.aside) < 0.12
    assert abs(run.turned) < math.radians(5)


def test_without_feeling_its_loads_the_centre_of_mass_leaves_what_bears_more_often():
    def order(crawling):
        return crawling.crawl(velocity=(0.11, 0.0, 0.0))

    felt, numb = (trial(order, seed=1, seconds=5.5, feedback=feedback) for feedback in (True, False))
    assert not felt.fell
    assert felt.inside > 0.9
    assert felt.inside > numb.inside + 0.05


def test_orders_that_are_none_are_refused():
    crawling = Crawling(robots.load("atlas"))
    for wrong in ({}, {"distance": 1.0, "velocity": (0.1, 0, 0)}, {"distance": math.nan}):
        with pytest.raises(BadFootsteps):
            crawling.crawl(**wrong)


def test_a_sensor_that_stays_lost_makes_it_rest():
    robot = robots.load("atlas")
    crawling = Crawling(robot)
    state, reference = np.zeros(1, robot.state_dtype())[0], np.zeros(1, robot.reference_dtype())[0]
    state["imu"]["orientation"] = np.nan
    crawling.crawl(distance=1.0)
    for time in np.arange(0.0, 0.1, 0.005):
        state["time"] = time
        crawling.cycle(state, reference)
    assert "no number" in crawling.trouble
    assert np.allclose(reference["position"], crawling.crawler.command)
    with pytest.raises(SensorLost):
        crawling.crawl(distance=1.0)


def test_the_command_says_what_is_wrong_with_a_robot_or_a_file(tmp_path):
    with pytest.raises(BadGait, match="no posture 'crawl'"):
        crawl("hubo2plus", out=tmp_path, film=False, source=None)
    with pytest.raises(WholebodyError, match=r"no\.bvh"):
        crawl("atlas", out=tmp_path, film=False, source=tmp_path / "no.bvh")
