"""Steps are as long as the joints of a robot are fast enough for, and no shorter than they need be."""

from dataclasses import replace

import pytest

from wholebody import robots
from wholebody.behaviors import Walking
from wholebody.locomotion.walking.gait import gait_of
from wholebody.locomotion.walking.gait_tuning import SHARE, needed
from wholebody.locomotion.walking.legs import Legs


@pytest.mark.parametrize("name", ["minihubo", "hoap3"])
def test_long_steps_are_shortened_until_the_joints_can_follow(name):
    walker = Walking(robots.load(name)).walker
    legs, feet, asked = Legs(walker.model), walker.pattern.feet, gait_of(walker.model).limits
    length = walker.gait.limits.length
    assert needed(legs, walker.gait, feet, length).speed <= SHARE
    assert needed(legs, replace(walker.gait, limits=asked), feet, asked.length).speed > 1.0
    assert needed(legs, replace(walker.gait, limits=asked), feet, 1.15 * length).speed > SHARE
    assert walker.gait.limits.in_need / asked.in_need == pytest.approx(length / asked.length)


def test_a_robot_that_is_fast_enough_keeps_its_steps_and_so_does_a_gait_of_ones_own():
    walker = Walking(robots.load("hubo2plus")).walker
    assert walker.gait == gait_of(walker.model)
    mine = gait_of(Walking(robots.load("hoap3")).walker.model)
    assert Walking(robots.load("hoap3"), mine).walker.gait == mine
