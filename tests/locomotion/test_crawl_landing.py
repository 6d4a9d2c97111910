"""Limbs of a crawling Atlas come down where their ground is, and bear as soon as they do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from wholebody import robots
from wholebody.behaviors.crawling import Crawling
from wholebody.locomotion.crawling.gait import crawl_gait_of
from wholebody.locomotion.crawling.landing import FIRM_HANDS, Landing
from wholebody.locomotion.crawling.pattern import CrawlPattern
from wholebody.locomotion.crawling.step import KNEES
from wholebody.locomotion.walking.footsteps import Velocity
from wholebody.model import Model
from wholebody.operator.recordings.crawl_setup import base_of
from wholebody.simulation import SensorModel, Simulation

ATLAS = robots.load("atlas")
GAIT = crawl_gait_of(Model(ATLAS))
KNEELING = Rotation.from_euler("y", 90, degrees=True)  # of a shin, flat on the ground


def lowest(shape, turned):
    """How high the lowest point of a cylinder is over the origin of its link, which is turned."""
    radius, length = shape.size
    axis = turned.as_matrix() @ shape.at.rotation[:, 2]
    middle = (turned.as_matrix() @ np.array(shape.at.xyz))[2]
    return middle - length / 2 * abs(axis[2]) - radius * np.sqrt(1 - axis[2] ** 2)


@pytest.mark.parametrize("roll", [-20, -10, 0, 10, 20])
@pytest.mark.parametrize("toes_up", [5, 12])
def test_a_knee_touches_the_ground_where_the_shin_does_however_it_rolls(roll, toes_up):
    surface = ATLAS.surface("left_knee")
    shin = next(link for link in ATLAS.links if link.name == surface.link).shapes[0]
    turned = Rotation.from_euler("x", roll, degrees=True) * KNEELING * Rotation.from_euler("y", toes_up, degrees=True)
    corners = np.array([np.array(surface.at.xyz) + surface.at.rotation @ (x, y, 0.0) for x, y in surface.outline])
    assert turned.apply(corners)[:, 2].min() == pytest.approx(lowest(shin, turned), abs=0.005)


def waited(seconds=7.0, seed=103):
    """Seconds that the plan waits for a knee that came down, on average."""
    crawling, waits = Crawling(ATLAS), {}
    with Simulation(ATLAS, seed=seed, sensors=SensorModel.realistic()) as simulation:
        q = crawling.crawler.q
        simulation.reset(q[7:].copy(), base=base_of(crawling.crawler.model, q))
        state, reference = simulation.new_state(), simulation.new_reference()
        crawling.crawl(velocity=(0.12, 0.0, 0.0))
        while simulation.time < seconds:
            simulation.read(state)
            crawling.cycle(state, reference)
            simulation.write(reference)
            simulation.advance()
            pattern = crawling.crawler.pattern
            if pattern.steps and pattern.landed in KNEES:
                waits[pattern.steps] = waits.get(pattern.steps, 0.0) + simulation.period * crawling.crawler.landing.late
    assert len(waits) > 2
    return float(np.mean(list(waits.values())))


@pytest.mark.slow
def test_a_knee_bears_as_soon_as_it_comes_down_because_it_is_put_lower_than_the_ground(monkeypatch):
    assert waited() < 0.04
    monkeypatch.setattr("wholebody.locomotion.crawling.joints.FIRM_KNEES", -0.006)
    assert waited() > 0.08, "the control arm"


def test_a_hand_is_put_lower_than_the_ground_but_not_where_its_ground_has_to_be_proved():
    landing, target = Landing(least=50.0, period=0.005), CrawlPattern(GAIT).at(0.0)
    for ahead, pressed in ((False, FIRM_HANDS), (True, 0.0)):
        for _ in range(40):
            landing.swings(0, target, ahead=ahead)
        assert landing.pressed[0] == pytest.approx(pressed)


def test_who_stands_and_is_told_to_go_on_begins_at_once():
    pattern, told = CrawlPattern(GAIT), 3.017
    pattern.at(told)
    assert pattern.standing
    pattern.velocity = Velocity(0.12)
    pattern.at(told + 0.005)
    assert pattern.began == pytest.approx(told + 0.005)
    assert not pattern.standing
    lifted = next(time for time in np.arange(told, told + 2.0, 0.005) if not all(pattern.at(time).bearing))
    assert lifted - told < 0.35
