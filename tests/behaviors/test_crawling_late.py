"""A crawling controller that is held up by a busy machine goes on where it was: its reference never leaps, and late
commands raise no false alarm."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np
import pytest

from wholebody import robots
from wholebody.behaviors.crawling import Crawling
from wholebody.operator.recordings.crawl_setup import base_of
from wholebody.simulation import SensorModel, Simulation

LATE, SECONDS = 0.03, 4.0  # s


def crawled(often, seed=1):
    """How far it comes, its greatest step of a joint in a cycle, and its trouble; so often it misses what comes."""
    robot, luck = robots.load("atlas"), np.random.default_rng(seed)
    crawling, missing, steps = Crawling(robot), 0.0, []
    with Simulation(robot, seed=seed, sensors=SensorModel.realistic()) as simulation:
        q = crawling.crawler.q
        simulation.reset(q[7:].copy(), base=base_of(crawling.crawler.model, q))
        state, reference = simulation.new_state(), simulation.new_reference()
        crawling.crawl(velocity=(0.1, 0.0, 0.0))
        before = crawling.crawler.command
        while simulation.time < SECONDS and not crawling.trouble:
            if simulation.time >= missing:
                simulation.read(state)
                crawling.cycle(state, reference)
                simulation.write(reference)
                steps.append(np.abs(crawling.crawler.command - before).max())
                before = crawling.crawler.command
                if luck.random() < often:
                    missing = simulation.time + LATE
            simulation.advance()
        return float(simulation.base_to_world[0, 3] - q[0]), max(steps), crawling.trouble


def test_one_that_misses_cycles_crawls_on_without_leaping_only_more_slowly():
    far, step, trouble = crawled(often=0.0)
    slower, step_when_late, trouble_when_late = crawled(often=0.1)
    assert not trouble
    assert not trouble_when_late, trouble_when_late
    assert 0.3 * far < slower < far
    assert step_when_late < 1.5 * step


def stopped_and_told_on(stop, seed, late=2):
    """Its trouble: it turns, is stopped at some time, and crawls on; commands reach joints so many cycles late."""
    robot, commands = robots.load("atlas"), deque()
    crawling = Crawling(robot)
    crawling.adopt(replace(crawling.gait, turn=0.3))
    with Simulation(robot, seed=seed, sensors=SensorModel.realistic()) as simulation:
        simulation.reset(crawling.crawler.q[7:].copy(), base=base_of(crawling.crawler.model, crawling.crawler.q))
        state, reference = simulation.new_state(), simulation.new_reference()

        def until(done):
            while not done() and not crawling.trouble and simulation.time < 30.0:
                simulation.read(state)
                crawling.cycle(state, reference)
                commands.append(reference.copy())
                if len(commands) > late:
                    simulation.write(commands.popleft())
                simulation.advance()

        crawling.crawl(velocity=(0.0, 0.0, 0.2))
        until(lambda: simulation.time > stop)
        crawling.stop()
        until(lambda: crawling.standing)
        if not crawling.trouble:
            crawling.crawl(distance=0.3)
            until(lambda: crawling.standing)
        return crawling.trouble


@pytest.mark.slow
def test_stopped_at_any_moment_of_a_turn_it_crawls_on_and_misses_no_ground_where_there_is_some(monkeypatch):
    stops = {seed: 0.5 + seed * 2 / 3 for seed in (1, 2, 4)}  # s
    for seed, stop in stops.items():
        assert not stopped_and_told_on(stop, seed), (stop, seed)
    monkeypatch.setattr("wholebody.locomotion.crawling.landing.PROBE", 1.0)  # its weight shakes a hand not felt yet
    monkeypatch.setattr("wholebody.locomotion.crawling.landing.SURE", 1.0)
    assert any(stopped_and_told_on(stop, seed) for seed, stop in stops.items()), "the control arm"
