"""Ground that the planner does not know: feet stay where they meet it, go on down to it, and turn until they lie."""

import itertools

import numpy as np
import pytest

from experiments.stabilizer_ground import over_a_platform, up_a_ramp, up_a_slope
from wholebody import robots
from wholebody.estimation import BalanceEstimator
from wholebody.locomotion.balance.stabilizers import Command
from wholebody.locomotion.walking.footsteps import Feet, Velocity, along
from wholebody.locomotion.walking.gait import SOLES, gait_of, standing
from wholebody.locomotion.walking.ground_adaptation import GroundAdaptation, SoleCompliance, turned_about_itself
from wholebody.locomotion.walking.pattern import Pattern
from wholebody.locomotion.walking.pendulum import GRAVITY
from wholebody.model import Model

PERIOD = 0.005


@pytest.fixture(scope="module")
def model():
    return Model(robots.load("hubo2plus"), watch=SOLES)


@pytest.fixture
def pattern(model):
    """Some steps forward, the right foot first."""
    gait, (feet, _) = gait_of(model), standing(model)
    pattern = Pattern(gait, Feet(*(foot.seen_from(feet.middle) for foot in feet)))
    pattern.follow(along(pattern.feet.middle, Velocity(0.15), 1.0, 4, gait.limits.spacing, "right"), 0.0)
    return pattern


@pytest.fixture
def balance(model):
    seen = BalanceEstimator(model, feet=SOLES).balance
    return seen._replace(wrench_in_sole=np.zeros((2, 6)), cop_in_sole=np.zeros((2, 2)))


def walk(footing, pattern, balance, ground, until):
    """Feet that are pressed as soon as they are told to be below the ground under them: left and right, m."""
    found, weight = [], footing._weight
    for time in np.arange(0.0, until, PERIOD):
        target = footing.feel(pattern.at(float(time)), balance, PERIOD)
        heights = target.left.height, target.right.height
        for side in (0, 1):
            balance.wrench_in_sole[side, 2] = 0.5 * weight if heights[side] <= ground[side] + 1e-9 else 0.0
        if footing.early:
            pattern.land_early(float(time))
        found.append(target)
    return found


def test_on_level_ground_feet_go_as_planned(model, pattern, balance):
    footing = GroundAdaptation(model)
    for target in walk(footing, pattern, balance, (0.0, 0.0), pattern.gait.begin + 4 * pattern.gait.step_time):
        assert max(abs(target.ground), -min(target.left.height, target.right.height)) < 1e-3
        assert not footing.early


def test_a_foot_that_meets_the_ground_early_stays_there_and_all_that_follows_is_as_far_from_it(model, pattern, balance):
    footing, gait = GroundAdaptation(model), pattern.gait
    before = pattern.steps
    targets = walk(footing, pattern, balance, (0.0, 0.02), gait.begin + 0.99 * gait.single_support)
    landed = [target.right for target in targets[-15:]]
    assert np.ptp([foot.place for foot in landed], axis=0) == pytest.approx(0.0, abs=1e-9)
    assert 0.01 < landed[-1].height < 0.03
    assert pattern.steps[0].at == landed[-1].place
    for was, now in zip(itertools.pairwise(before), itertools.pairwise(pattern.steps), strict=True):
        assert now[1].at.seen_from(now[0].at) == pytest.approx(was[1].at.seen_from(was[0].at), abs=1e-9)


def test_feet_are_expected_to_land_on_ground_that_goes_on_as_it_lies_under_both(model, pattern, balance):
    footing, gait, lean = GroundAdaptation(model), pattern.gait, np.array([-0.08, 0.03])
    weight = footing._weight
    for time in np.arange(0.0, gait.begin + 0.999 * gait.single_support, PERIOD):
        target = footing.feel(pattern.at(float(time)), balance, PERIOD, lean)
        balance.wrench_in_sole[:, 2] = weight, 0.5 * weight * (time < gait.begin)
    away = np.array(target.right.place[:2]) - np.array(target.left.place[:2])
    assert target.right.height - target.left.height == pytest.approx(-lean @ away, abs=1e-3)
    assert abs(lean @ away) > 0.01


def test_a_foot_that_finds_no_ground_goes_down_to_it_and_only_the_other_bears_meanwhile(model, pattern, balance):
    footing, gait = GroundAdaptation(model), pattern.gait
    targets = walk(footing, pattern, balance, (0.0, -0.02), gait.begin + gait.step_time)
    late = [target for target in targets if target.right.height < -0.001]
    assert late[-1].right.height == pytest.approx(-0.02, abs=0.004)
    alone = [target for target in late if target.support == "left"]
    assert alone
    assert all(target.left_share == 1.0 for target in alone)
    assert late[-1].support == "both"


def test_the_body_follows_its_feet_without_swinging(model, pattern, balance):
    footing, gait = GroundAdaptation(model), pattern.gait
    pattern.follow((), 0.0)
    targets = walk(footing, pattern, balance, (0.02, 0.02), gait.begin + 4 * gait.step_time + 3.0)
    levels = np.array([target.ground for target in targets])
    feet = (targets[-1].left.height + targets[-1].right.height) / 2
    assert feet > 0.01
    assert levels[-1] == pytest.approx(feet, abs=1e-4)
    assert levels.max() < max(targets[-1].left.height, targets[-1].right.height) + 1e-3


def command_of(zmp):
    soles = (np.eye(4), np.eye(4))
    soles[1][1, 3] = -0.2
    return Command(np.zeros(3), np.zeros(2), np.eye(3), soles, np.array(zmp), 1.0)


def test_a_foot_on_its_heel_is_turned_about_it_until_it_is_pressed_where_it_shall_be(model, balance):
    soles, weight = SoleCompliance(model), model.total_mass * GRAVITY
    balance.wrench_in_sole[0, 2] = weight
    balance.cop_in_sole[0] = heel = np.array([-0.1, 0.0])
    rise = 0.0
    for _ in range(60):
        command = command_of((0.0, 0.0))
        soles.correct(command, balance, PERIOD)
        rise += soles.rises[0]
    left = turned_about_itself(np.eye(4), soles.leans[0])
    assert command.soles[0] == pytest.approx(left)
    toe = (command.soles[0] @ np.array([0.1, 0.0, 0.0, 1.0]))[2] + rise
    at_heel = (command.soles[0] @ np.array([*heel, 0.0, 1.0]))[2] + rise
    assert toe < -0.01
    assert abs(at_heel) < 0.1 * abs(toe)
    assert soles.leans[1] == pytest.approx(0.0)


def test_a_foot_that_is_pressed_as_it_shall_be_is_not_turned(model, balance):
    soles = SoleCompliance(model)
    balance.wrench_in_sole[0, 2] = model.total_mass * GRAVITY
    balance.cop_in_sole[0] = (0.02, -0.01)
    for _ in range(60):
        command = command_of((0.03, -0.01))
        soles.correct(command, balance, PERIOD)
    assert command.soles[0] == pytest.approx(np.eye(4))


@pytest.mark.slow
@pytest.mark.parametrize(("arm", "falls"), [("none with legs", True), ("rough", False)])
def test_two_centimetres_up_and_down_that_nobody_planned_are_walked_and_open_loop_falls(arm, falls):
    assert over_a_platform(arm, 0.02, 5).fell == falls


@pytest.mark.slow
@pytest.mark.parametrize("degrees", [-5, 5])
def test_slopes_under_its_feet_that_nobody_planned_are_walked(degrees):
    assert not up_a_slope("rough", degrees, 1).fell


@pytest.mark.slow
@pytest.mark.parametrize("degrees", [3, 5])
def test_it_walks_upright_from_level_ground_up_a_ramp_that_nobody_planned_and_open_loop_tilts_or_falls(degrees):
    alone, feeling = (up_a_ramp(arm, degrees, 1) for arm in ("none with legs", "rough"))
    assert not feeling.fell
    assert feeling.tilt < 0.5 * min(np.radians(degrees), alone.tilt)
