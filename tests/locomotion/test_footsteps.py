"""Footsteps lead where they are told, by legs that do not cross, or say why they cannot."""

import math
from dataclasses import replace

import numpy as np
import pytest

from wholebody import robots
from wholebody.errors import BadFootsteps
from wholebody.locomotion.balance.support_area import in_world, nearest_inside
from wholebody.locomotion.walking.footsteps import (
    MOST_STEPS,
    OTHER,
    OUTWARD,
    Feet,
    Footstep,
    Place,
    SoleRoom,
    StepLimits,
    Velocity,
    along,
    beside_body,
    in_place,
    to_place,
)
from wholebody.locomotion.walking.gait import gait_of
from wholebody.model import Model
from wholebody.model.support import convex_hull

LIMITS = StepLimits()
FEET = Feet(Place(0.0, 0.0935, 0.0), Place(0.0, -0.0935, 0.0))


def end_of(steps, feet=FEET):
    for step in steps:
        feet = feet.after(step)
    return feet.middle


@pytest.mark.parametrize(
    "goal",
    [(2.0, 0.0, 0.0), (-0.5, 0.0, 0.0), (0.0, 0.3, 0.0), (0.0, -0.3, 0.0), (0.0, 0.0, math.pi / 2), (1.0, 0.2, -1.0)],
)
def test_steps_end_at_the_goal_with_the_feet_side_by_side_and_within_limits(goal):
    steps = to_place(FEET, Place(*goal), LIMITS)
    LIMITS.check(steps, FEET)
    end = end_of(steps)
    assert np.allclose(end, goal, atol=1e-12)
    feet = FEET
    for step in steps:
        feet = feet.after(step)
    apart = feet.left.seen_from(feet.right)
    assert np.allclose(apart, (0.0, LIMITS.spacing, 0.0), atol=1e-12)


def test_a_goal_from_a_turned_stance_is_seen_from_the_robot():
    feet = Feet(*(Place(1.0, 2.0, math.pi / 2).beside(0.0, side * 0.0935) for side in (1, -1)))
    end = end_of(to_place(feet, Place(0.5, 0.0, 0.0), LIMITS), feet)
    assert np.allclose(end, (1.0, 2.5, math.pi / 2))


def test_no_way_needs_no_step_and_steps_in_place_come_back_to_where_they_were():
    assert to_place(FEET, Place(0.0, 0.0, 0.0), LIMITS) == ()
    assert np.allclose(end_of(in_place(FEET, 6, LIMITS)), (0, 0, 0))


def test_places_seen_from_each_other_are_inverse_and_a_circle_closes():
    here, there = Place(0.3, -0.2, 1.1), Place(-1.0, 0.4, -2.0)
    assert np.allclose(here.beside(*there.seen_from(here)), there)
    body = Place(0.0, 0.0, 0.3)
    assert np.allclose(body.moved(Velocity(0.2, 0.0, math.tau / 8), 8.0)[:2], body[:2], atol=1e-12)


def test_turning_steps_with_a_velocity_follow_an_arc_of_the_right_radius():
    steps = along(Place(0, 0, 0), Velocity(0.2, 0.0, 0.4), 0.5, 20, 0.187, "right")
    center = np.array([0.0, 0.5])  # radius v / ω
    radii = [np.linalg.norm(np.array(step.at[:2]) - center) for step in steps]
    outer = [r for r, step in zip(radii, steps, strict=True) if step.side == "right"]
    assert np.allclose(outer, 0.5 + 0.187 / 2, atol=1e-12)


@pytest.mark.parametrize(
    ("step", "what"),
    [
        (Footstep("left", Place(0.5, 0.0935, 0.0)), "0.500 m long"),
        (Footstep("left", Place(0.1, -0.12, 0.0)), "crosses"),
        (Footstep("right", Place(0.1, 0.05, 0.0)), "too near|crosses"),
        (Footstep("right", Place(0.0, -0.5, 0.0)), "beside the other foot"),
        (Footstep("left", Place(0.0, 0.0935, 0.9)), "turns 0.900 rad"),
        (Footstep("left", Place(math.nan, 0.0935, 0.0)), "no place"),
    ],
)
def test_what_legs_cannot_do_is_refused_by_name(step, what):
    with pytest.raises(BadFootsteps, match=what):
        LIMITS.check([step], FEET)


def test_one_foot_twice_is_refused():
    step = beside_body(Place(0.1, 0, 0), "left", LIMITS.spacing)
    with pytest.raises(BadFootsteps, match="take turns"):
        LIMITS.check([step, step], FEET)


def test_a_step_out_of_reach_is_moved_to_the_nearest_that_can_be_done_and_no_other_is_moved():
    far = Footstep("left", Place(3.0, -2.0, 2.0))
    kept = LIMITS.kept(far, FEET.right)
    replace(LIMITS, length=LIMITS.in_need).check([kept], FEET)
    good = Footstep("left", Place(0.1, 0.1, 0.1))
    assert np.allclose(LIMITS.kept(good, FEET.right).at, good.at)


def test_a_velocity_too_fast_is_clamped_in_its_direction_and_one_that_is_not_is_kept():
    slow = Velocity(0.1, 0.01, 0.1)
    assert LIMITS.clamped(slow, 0.8) == slow
    fast = LIMITS.clamped(Velocity(10.0, 0.5, 0.3), 0.8)
    assert 0.9 * LIMITS.length / 0.8 < fast.forward <= LIMITS.length / 0.8
    assert fast.leftward / fast.forward == pytest.approx(0.05)
    LIMITS.check(along(Place(0, 0, 0), fast, 0.8, 6, LIMITS.spacing, "right"), FEET)
    with pytest.raises(BadFootsteps):
        LIMITS.clamped(Velocity(math.nan, 0, 0), 0.8)


def soles_meet(one, other):
    """Whether two convex polygons do, by a grid of points on their borders."""
    for inner, outer in ((one, other), (other, one)):
        for share in np.linspace(0.0, 1.0, 100):
            for point in inner + share * (np.roll(inner, -1, axis=0) - inner):
                if np.array_equal(nearest_inside(outer, point), point):
                    return True
    return False


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_foot_put_as_far_aside_as_its_sole_needs_just_does_not_meet_the_other(side):
    random = np.random.default_rng(5)
    for _ in range(20):
        outlines = [convex_hull(random.uniform((-0.1, -0.06), (0.14, 0.07), (6, 2))) for _ in range(2)]
        forward, turn = random.uniform(-0.05, 0.05), random.uniform(-0.5, 0.5)
        aside = SoleRoom(*(tuple(map(tuple, each)) for each in outlines)).aside(side == "left", forward, turn)
        steps, stays = outlines if side == "left" else outlines[::-1]
        for more, meet in ((1e-3, False), (-1e-3, True)):
            put = in_world(steps, forward, OUTWARD[side] * (aside + more), turn)
            assert soles_meet(put, stays) == meet


def test_a_foot_far_ahead_of_the_other_needs_no_room_beside_it():
    sole = ((0.1, 0.05), (-0.1, 0.05), (-0.1, -0.05), (0.1, -0.05))
    assert SoleRoom(sole, sole).aside(True, 0.3, 0.2) == -math.inf


def feet_of(limits):
    return Feet(*(beside_body(Place(0.0, 0.0, 0.0), side, limits.spacing).at for side in OUTWARD))


@pytest.mark.parametrize("name", ["hubo2plus", "minihubo", "hoap3", "hrp2"])
@pytest.mark.parametrize("goal", [(0.0, 0.0, math.pi / 2), (0.0, 0.0, -0.35), (0.0, 0.1, 0.0), (0.4, 0.1, -1.0)])
def test_soles_of_feet_that_turn_never_meet(name, goal):
    robot = robots.load(name)
    limits = gait_of(Model(robot)).limits
    soles = {side: np.array(robot.surface(f"{side}_sole").outline) for side in OUTWARD}
    feet = feet_of(limits)
    steps = to_place(feet, Place(*goal), limits)
    limits.check(steps, feet)
    assert len(steps) < 30
    for step in steps:
        stays = OTHER[step.side]
        assert not soles_meet(in_world(soles[step.side], *step.at), in_world(soles[stays], *feet.of(stays)))
        feet = feet.after(step)


def test_a_foot_turned_where_it_may_stand_only_straight_is_refused_and_in_need_put_further_aside():
    limits = gait_of(Model(robots.load("hubo2plus"))).limits
    feet = feet_of(limits)
    near = feet.right.beside(0.0, limits.narrowest)
    limits.check([Footstep("left", near)], feet)
    turned = Footstep("left", near._replace(yaw=0.3))
    with pytest.raises(BadFootsteps, match=r"too near to the other foot.* when turned by 0.300 rad"):
        limits.check([turned], feet)
    kept = limits.kept(turned, feet.right)
    limits.check([kept], feet)
    assert kept.at.yaw == pytest.approx(0.3)


def test_feet_that_can_come_no_nearer_do_not_go_aside_and_are_told_so():
    narrow = replace(LIMITS, narrowest=LIMITS.spacing)
    assert to_place(FEET, Place(0.5, 0.0, 0.0), narrow)
    with pytest.raises(BadFootsteps, match="nowhere aside"):
        to_place(FEET, Place(0.0, 0.2, 0.0), narrow)


def test_ways_too_long_to_be_planned_at_once_are_refused():
    with pytest.raises(BadFootsteps, match=f"takes 4000000 steps; give a goal within {MOST_STEPS}"):
        to_place(FEET, Place(1e6, 0.0, 0.0), LIMITS)
    with pytest.raises(BadFootsteps, match=f"from 0 to {MOST_STEPS}"):
        in_place(FEET, 10**9, LIMITS)
    with pytest.raises(BadFootsteps, match="steps at once"):
        LIMITS.check(2 * in_place(FEET, MOST_STEPS, LIMITS), FEET)
