"""The pattern keeps its zero moment point under the feet, its legs in reach, and goes on smoothly when changed."""

from dataclasses import replace

import numpy as np
import pytest

from wholebody import robots
from wholebody.errors import BadFootsteps, BadGait
from wholebody.locomotion.balance.stabilizers import as_planned
from wholebody.locomotion.balance.support_area import Soles, nearest_inside
from wholebody.locomotion.walking.footsteps import Feet, Place, Velocity, along, in_place, to_place
from wholebody.locomotion.walking.gait import SOLES, gait_of, standing
from wholebody.locomotion.walking.legs import Legs
from wholebody.locomotion.walking.pattern import Pattern, later
from wholebody.locomotion.walking.swing import from_rest_to_rest
from wholebody.model import Model

PERIOD = 0.005


@pytest.fixture(scope="module")
def model():
    return Model(robots.load("hubo2plus"), watch=SOLES)


def new_pattern(model, step_time=0.8):
    gait = gait_of(model, step_time)
    feet, _ = standing(model)
    return Pattern(gait, Feet(*(foot.seen_from(feet.middle) for foot in feet)))


def walked(pattern, until, begin=0.0):
    return [pattern.at(begin + k * PERIOD) for k in range(round((until - begin) / PERIOD))]


GOALS = [(0.8, 0.0, 0.0), (-0.3, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 1.0)]


@pytest.mark.parametrize("goal", GOALS)
def test_the_zero_moment_point_stays_in_the_support_polygon(model, goal):
    pattern, soles = new_pattern(model), Soles(model.robot, margin=0.02)
    pattern.follow(to_place(pattern.feet, Place(*goal), pattern.gait.limits), 0.0)
    for target in walked(pattern, 12.0):
        area = soles.area(target.support, target.left.place, target.right.place)
        assert np.allclose(nearest_inside(area, target.zmp), target.zmp, atol=1e-9)
    assert pattern.standing
    assert np.allclose(pattern.feet.middle, goal, atol=1e-9)


def test_feet_that_bear_rest_on_the_ground_and_the_other_is_lifted(model):
    pattern = new_pattern(model)
    pattern.follow(in_place(pattern.feet, 4, pattern.gait.limits), 0.0)
    highest = 0.0
    for target in walked(pattern, 6.0):
        for side in ("left", "right"):
            if target.support in (side, "both"):
                assert target.foot(side).height == 0.0
        highest = max(highest, target.left.height, target.right.height)
    assert highest == pytest.approx(pattern.gait.lift, rel=0.01)


def test_centre_of_mass_and_feet_are_continuous_also_where_the_plan_changes(model):
    pattern = new_pattern(model)
    gait = pattern.gait
    pattern.follow(along(pattern.feet.middle, Velocity(0.1), 0.8, 8, gait.limits.spacing, "right"), 0.0)
    targets = walked(pattern, 4.0)
    feet = pattern.feet_after(3)
    side = pattern.steps[3].side
    more = along(feet.middle, Velocity(0.25, 0.0, 0.2), 0.8, 5, gait.limits.spacing, side)
    pattern.follow(more, 4.0, keep=3)
    targets += walked(pattern, 10.0, 4.0)
    com = np.array([target.com for target in targets])
    feet = np.array([[*target.left.place, target.left.height] for target in targets])
    speed = np.diff(com, axis=0) / PERIOD
    assert np.abs(np.diff(speed, axis=0)[400:]).max() < 0.02  # m/s in one period, after the weight begins to shift
    assert np.abs(np.diff(feet, axis=0)).max() / PERIOD < 2.5
    dcm = np.array([target.dcm for target in targets])
    assert np.abs(np.diff(dcm, axis=0))[790:810].max() < 0.004  # where the plan changed


@pytest.mark.slow(but="goal0")
@pytest.mark.parametrize("goal", GOALS)
def test_a_halt_ends_on_both_feet_after_one_step_at_most_without_a_jump(model, goal):
    whole = Soles(model.robot)
    for instant in np.arange(0.05, 4.0, 0.15):
        pattern, soles = new_pattern(model), Soles(model.robot, scale=0.8)
        pattern.follow(to_place(pattern.feet, Place(*goal), pattern.gait.limits), 0.0)
        if walked(pattern, instant)[-1] and pattern.settled:
            break
        before = pattern.at(instant)
        pattern.halt(instant, lambda support, feet, soles=soles: soles.area(support, *feet))
        after = walked(pattern, instant + 4.0, instant)
        assert len(pattern.steps) == 0
        assert np.allclose(after[0].dcm, before.dcm, atol=1e-9)
        assert np.allclose(after[0].com, before.com, atol=1e-9)
        one_foot = [target.time for target in after if target.support != "both"]
        assert not one_foot or max(one_foot) - instant < pattern.gait.step_time
        for target in after:
            area = whole.area(target.support, target.left.place, target.right.place)
            assert np.allclose(nearest_inside(area, target.zmp), target.zmp, atol=1e-9)
        assert np.allclose(after[-1].com_velocity, 0.0, atol=1e-4)


def test_a_gait_that_allows_otherwise_for_its_legs_counts_from_the_next_walk_on_without_a_jump(model):
    pattern = new_pattern(model)
    pattern.follow(to_place(pattern.feet, Place(0.5, 0.0, 0.0), pattern.gait.limits), 0.0)
    instant = pattern.gait.begin + 1.5 * pattern.gait.step_time
    before = walked(pattern, instant)[-1]
    pattern.adopt(replace(pattern.gait, swing_share=0.0), instant, keep=2)
    after = pattern.at(instant)
    for one, other in ((before.com, after.com), (before.com_velocity, after.com_velocity), (before.zmp, after.zmp)):
        assert np.allclose(one, other, atol=0.01)
    assert after.pull.any()
    rest = walked(pattern, 12.0, instant)[-1]
    pattern.follow(to_place(pattern.feet, Place(0.5, 0.0, 0.0), pattern.gait.limits), 12.0)
    assert np.allclose(pattern.at(12.0).com, rest.com, atol=1e-4)
    assert not any(target.pull.any() for target in walked(pattern, 14.0, 12.0))


def test_the_legs_of_a_robot_that_names_none_are_not_allowed_for(model):
    nameless = Model(replace(model.robot, groups={}), watch=SOLES)
    assert gait_of(nameless).swing_share == 0.0
    assert gait_of(model).swing_share > 0.05


@pytest.mark.slow
def test_after_a_halt_the_centre_of_mass_goes_less_far_past_its_rest_than_its_divergent_component_when_it_landed(model):
    """That is where it would go if the weight only waited under it."""
    pattern, soles = new_pattern(model), Soles(model.robot, scale=0.8)
    pattern.follow(along(pattern.feet.middle, Velocity(0.2), 1.0, 8, pattern.gait.limits.spacing, "right"), 0.0)
    instant = pattern.gait.begin + 3.5 * pattern.gait.step_time
    walked(pattern, instant)
    pattern.halt(instant, lambda support, feet: soles.area(support, *feet))
    after = walked(pattern, instant + 4.0, instant)
    landed = next(target for target in after if target.support == "both")
    rest = after[-1].com[0]
    assert 0.0 < max(target.com[0] for target in after) - rest < landed.dcm[0] - rest


def test_the_legs_put_centre_of_mass_and_soles_where_the_pattern_has_them(model):
    pattern, legs = new_pattern(model, 0.6), Legs(model)
    pattern.follow(along(pattern.feet.middle, Velocity(0.2 / 0.6), 0.6, 4, 0.187, "right"), 0.0)
    q = model.neutral()
    for target in walked(pattern, 5.0)[::7]:
        command = as_planned(target)
        snapshot = legs.balance(command.com, command.rotation, command.soles)
        assert legs.reach < 1e-6
        pelvis = command.com - command.rotation @ snapshot.com_in_world
        q[:3], q[3:7] = pelvis, (0, 0, np.sin(target.body.yaw / 2), np.cos(target.body.yaw / 2))
        q[7:] = legs.joints
        found = model.at(q)
        assert np.allclose(found.com_in_world, command.com, atol=1e-9)
        for sole, pose in zip(SOLES, command.soles, strict=True):
            assert np.allclose(found.placement(model.surface(sole)), pose, atol=2e-3)


def test_a_foot_led_elsewhere_takes_all_that_follows_along(model):
    pattern = new_pattern(model)
    pattern.follow(along(pattern.feet.middle, Velocity(0.1), 0.8, 4, 0.187, "right"), 0.0)
    walked(pattern, 1.2)
    before, target = pattern.steps, pattern.at(1.2)
    assert target.landing is not None
    pattern.redirect(Place(target.landing.x + 0.05, target.landing.y - 0.02, target.landing.yaw), 1.2)
    for old, new in zip(before, pattern.steps, strict=True):
        assert np.allclose(np.array(new.at) - np.array(old.at), (0.05, -0.02, 0.0))
    far = pattern.steps[0].at
    pattern.redirect(Place(far.x + 9.0, far.y, far.yaw), 1.2)
    assert pattern.steps[0].at.seen_from(pattern.feet.left).x == pytest.approx(pattern.gait.limits.in_need)


def test_steps_that_cannot_be_done_are_refused_and_the_walk_goes_on_as_it_was(model):
    pattern = new_pattern(model)
    steps = in_place(pattern.feet, 4, pattern.gait.limits)
    pattern.follow(steps, 0.0)
    with pytest.raises(BadFootsteps):
        pattern.follow(to_place(pattern.feet, Place(5.0, 0, 0), replace(pattern.gait.limits, length=1.0)), 0.1)
    assert pattern.steps == steps


def test_a_robot_without_soles_cannot_walk():
    with pytest.raises(BadGait, match="cannot walk"):
        standing(Model(robots.load("dreamer")))
    with pytest.raises(BadGait, match="double support"):
        replace(gait_of(Model(robots.load("hoap3"))), double_support=5.0)


def test_the_way_of_the_feet_goes_on_as_the_polynomial_it_is():
    """Of the fifth order, from rest to rest: what it is some time later, in one step or in two, at rest at its end."""
    way = from_rest_to_rest(np.array([0.3, -0.1]), 0.7)
    ended = later(later(way, 0.25), 0.45)
    assert np.allclose(ended[0], [0.3, -0.1], atol=1e-12)
    assert np.allclose(ended[1:3], 0.0, atol=1e-12)
    assert np.allclose(
        (later(way, 0.3001)[:5] - later(way, 0.2999)[:5]) / 2e-4, later(way, 0.3)[1:], rtol=1e-4, atol=1e-3
    )
