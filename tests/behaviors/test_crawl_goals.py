"""Crawling to a goal, without physics: it gets there, in few steps, and rests there."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from wholebody import robots
from wholebody.behaviors.crawling import NEAR, TURNED, Crawling
from wholebody.locomotion.crawling.pattern import AT_PLACE, gait_places
from wholebody.locomotion.crawling.step import KNEES
from wholebody.locomotion.walking.footsteps import Place, Velocity

ATLAS = robots.load("atlas")
PERIOD = 0.005
LONG = 60.0  # s


class Plan:
    """A robot that does exactly what it is told, and knows it."""

    def __init__(self):
        self.crawling = Crawling(ATLAS, heading=False)
        self.crawling.crawler.feedback = False
        self.state, self.reference = (np.zeros(1, kind)[0] for kind in (ATLAS.state_dtype(), ATLAS.reference_dtype()))
        self.swings = []

    @property
    def pattern(self):
        return self.crawling.crawler.pattern

    def go_on(self):
        """One period."""
        self.state.time += PERIOD
        self.crawling.cycle(self.state, self.reference)
        target = self.crawling.crawler.target
        if not all(target.bearing) and (not self.swings or self.pattern.began != self.swings[-1][0]):
            self.swings.append((self.pattern.began, target.bearing.index(False)))
        return target

    def go(self, seconds=LONG):
        """Until it stands; the centre of mass and the body, cycle by cycle."""
        way = []
        for _ in range(round(seconds / PERIOD)):
            target = self.go_on()
            way.append([*target.com, *target.body])
            if self.crawling.standing:
                return np.array(way)
        raise AssertionError("it does not come to rest")


@pytest.fixture
def plan():
    return Plan()


@pytest.mark.parametrize("distance", [0.7, -0.7, 0.2, 1.5])
def test_it_rests_at_its_goal_with_its_limbs_at_their_places(plan, distance):
    plan.crawling.crawl(distance=distance)
    plan.go()
    place, target = plan.crawling.place, plan.crawling.crawler.target
    assert np.allclose(place, (distance, 0.0, 0.0), atol=NEAR)
    assert np.allclose(target.places, gait_places(plan.crawling.gait, place), atol=AT_PLACE + 1e-9)


@pytest.mark.slow(but="-1.5707963267948966")
@pytest.mark.parametrize("angle", [math.pi / 2, -math.pi / 2, 2 * math.pi])
def test_a_turn_goes_all_the_way_also_where_it_began(plan, angle):
    plan.crawling.turn(angle)
    way = plan.go(90.0)
    assert plan.crawling.place.yaw == pytest.approx(angle, abs=TURNED)
    assert np.abs(np.diff(way[:, 4])).max() < 0.3 * PERIOD, "not by a leap"


@pytest.mark.parametrize("distance", [0.7, -0.7])
def test_it_does_not_creep_to_its_goal(plan, distance):
    plan.crawling.crawl(distance=distance)
    plan.go()
    gait = plan.crawling.gait
    strides = abs(distance) / (gait.forward if distance > 0 else gait.backward)
    assert len(plan.swings) <= 4 * math.ceil(strides) + 1, "two whole gaits, and a knee that closes"


@pytest.mark.parametrize(("slip", "more"), [(0.5 * NEAR, False), (2.5 * NEAR, True)])
def test_a_goal_stays_while_limbs_are_put_beside_it_and_what_is_left_then_is_made_good(plan, monkeypatch, slip, more):
    """The robot slips back when limbs are put beside the goal; in the plan the goal is farther away then."""
    crawling, slipped, moved = plan.crawling, [], []
    crawling._heading = True
    monkeypatch.setattr(crawling.crawler, "drift", lambda: Place(-slip if slipped else 0.0, 0.0, 0.0))
    crawling.crawl(distance=0.7)
    while not crawling.standing:
        before, closing = plan.pattern.goal, plan.pattern.closing
        slipped += [True] * closing
        plan.go_on()
        if closing and plan.pattern.goal != before:
            moved.append(len(plan.swings))
            assert plan.pattern.body_velocity == Velocity(), "it rests"
    assert len(moved) == more
    assert [len(plan.swings) > count for count in moved] == [True] * more
    assert plan.pattern.body.x - slip == pytest.approx(0.7, abs=NEAR)


@pytest.mark.slow
def test_knees_that_swing_beside_their_hips_roll_the_trunk_more_slowly():
    rates = {}
    for outward in (0.0, Plan().crawling.gait.outward):
        plan, rolls = Plan(), []
        plan.crawling.adopt(replace(plan.crawling.gait, outward=outward))
        plan.crawling.crawl(velocity=(0.1, 0.0, 0.0))
        for _ in range(round(8.0 / PERIOD)):
            plan.go_on()
            turned = Rotation.from_quat(plan.crawling.crawler.q[3:7]).as_matrix()
            rolls.append(math.atan2(turned[2, 1], turned[2, 2]))
        rates[outward] = np.abs(np.diff(rolls)).max() / PERIOD
    below, beside = rates.values()
    assert beside < 0.85 * below


def test_it_does_not_go_past_its_goal(plan):
    plan.crawling.crawl(distance=0.7)
    way = plan.go()
    assert way[:, 2].max() < 0.7 + NEAR


def test_it_stands_only_when_its_weight_is_between_its_limbs(plan):
    plan.crawling.crawl(distance=0.3)
    way = plan.go()
    com, body = way[-1, :2], way[-1, 2:4]
    assert np.allclose(com, body, atol=1e-6)
    aside = np.abs(way[:, 1] - way[:, 3])
    assert aside.max() > 0.03, "it leaned on its way"


@pytest.mark.slow
def test_from_rest_a_knee_begins_whichever_limb_came_down_last(plan):
    last = set()
    for distance in (0.7, 0.3, -0.7, -0.3, 0.5):
        count = len(plan.swings)
        plan.crawling.crawl(distance=distance)
        plan.go()
        assert plan.swings[count][1] in KNEES
        last.add(plan.swings[-1][1])
    assert len(last) > 1, "it is not always the same"


def test_what_is_told_on_the_way_counts(plan):
    plan.crawling.crawl(distance=2.0)
    for _ in range(round(4.0 / PERIOD)):
        plan.go_on()
    plan.crawling.stop()
    plan.go()
    assert 0.1 < plan.crawling.place.x < 1.0
