"""Atlas crawls in MuJoCo to where the ground ends, or is lower than it should be: it takes its hand back, and rests."""

from __future__ import annotations

import pytest

from experiments.crawl_edge import UNPROVED, to_an_edge
from wholebody import robots
from wholebody.errors import GroundMissing
from wholebody.locomotion.crawling.gait import crawl_gait_of
from wholebody.locomotion.crawling.landing import PROBE, Landing
from wholebody.locomotion.crawling.pattern import CrawlPattern
from wholebody.locomotion.walking.footsteps import Velocity
from wholebody.model.model import Model

SECONDS = {0.5: 5.0, 0.76: 6.5}
"""Until it rests, by how far before it the ground ends."""


@pytest.mark.slow
@pytest.mark.parametrize(("ahead", "limb", "height"), [(0.5, "left", 0.5), (0.76, "right", 0.5), (0.5, "left", 0.1)])
def test_a_hand_that_finds_no_ground_goes_back_and_it_rests_on_all_limbs(ahead, limb, height):
    run = to_an_edge(ahead, seed=103, seconds=SECONDS[ahead], height=height)
    assert f"{limb}_wrist came down and bears nothing" in run.trouble
    assert not run.fell
    assert run.rests


def test_without_proof_of_the_ground_it_tips_over_the_edge():
    run = to_an_edge(0.5, seed=103, seconds=5.0, arm=UNPROVED)
    assert run.fell


def test_where_the_ground_goes_on_it_does_not_stop():
    assert to_an_edge(4.0, seed=103, seconds=5.0).trouble == ""


GAIT = crawl_gait_of(Model(robots.load("atlas")))


def lands(forces):
    """A hand comes down where nobody has been, and bears so much (N) in each cycle."""
    landing, target = Landing(least=50.0, period=0.005), CrawlPattern(GAIT).at(0.0)
    landing.swings(0, target, ahead=True)
    for force in forces:
        landing.bears(0, force, 100.0, target, ahead=True)
    return landing


def test_a_hand_that_bounces_has_ground_and_one_that_never_bears_has_none():
    bounces = ([-50.0] * 20 + [400.0] * 10) * 8
    assert lands(bounces).pressed[0] < 0.031
    with pytest.raises(GroundMissing):
        lands([-50.0] * len(bounces))


def test_a_hand_that_begins_to_bear_when_its_search_ends_is_not_given_up():
    pressed_far = [-50.0] * 34
    assert lands(pressed_far + [300.0] * 40).trust == 1.0
    with pytest.raises(GroundMissing):
        lands(pressed_far + [0.0] * 5)


def test_little_is_counted_on_a_hand_until_it_is_felt_and_all_from_then_on():
    assert lands([0.0] * 5).trust == PROBE
    assert lands([0.0] * 5 + [400.0] * 20).trust == 1.0
    assert lands([0.0] * 25).trust == 0.0, "it floats"


def test_whether_a_limb_came_down_ahead_is_said_by_the_step_in_which_it_did_not_by_later_orders():
    pattern, seen = CrawlPattern(GAIT), set()
    pattern.velocity = Velocity(0.0, 0.0, 0.1)
    for cycle in range(3000):
        pattern.at(0.01 * cycle)
        if pattern.steps == 5 and pattern.velocity.turn:
            pattern.velocity = Velocity(0.1)
        elif pattern.steps == 10:
            pattern.velocity = Velocity()
        seen.add((pattern.steps, pattern.landed_ahead))
    assert {steps for steps, ahead in seen if ahead} == set(range(7, 12)), "the step under way when it is told turns on"
    assert all(not ahead for steps, ahead in seen if steps <= 6)
