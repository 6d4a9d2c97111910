"""Stabilizers: regions of any foot, smooth switches, and pushes survived that the pattern alone does not survive."""

import math
from dataclasses import replace

import numpy as np
import pytest

from experiments.stabilizer_ankle import stand
from experiments.stabilizer_push import largest, survives
from experiments.stabilizer_walk import run
from wholebody import plugins, robots
from wholebody.errors import BadGait, UnknownName
from wholebody.estimation import BalanceEstimator
from wholebody.estimation.contacts import Feet as Soled
from wholebody.locomotion.balance.recovery import capture_steps, closing_step, landing_instead
from wholebody.locomotion.balance.region_stabilizer import Region, Regions, share_of
from wholebody.locomotion.balance.stabilizers import stabilizer_named
from wholebody.locomotion.balance.support_area import Soles, nearest_inside, scaled
from wholebody.locomotion.walking.footsteps import OTHER, Feet, Place, Velocity, along
from wholebody.locomotion.walking.gait import SOLES, UNDER_BODY, gait_of, standing, swing_share
from wholebody.locomotion.walking.pattern import Pattern
from wholebody.locomotion.walking.pendulum import frequency
from wholebody.locomotion.walking.walker import Walker
from wholebody.model import Model
from wholebody.simulation import Simulation

TRIANGLE = np.array([(0.0, 0.0), (0.3, 0.0), (0.0, 0.3)])
HERE, THERE = Place(0.1, 0.2, 0.4), Place(0.05, -0.1, 0.1)


@pytest.fixture(scope="module")
def model():
    return Model(robots.load("hubo2plus"), watch=SOLES)


def test_the_regions_of_any_convex_foot_are_its_scaled_copies():
    regions, random = Regions(), np.random.default_rng(1)
    middle = TRIANGLE.mean(axis=0)
    for _ in range(200):
        share = random.uniform(0.01, 1.3)
        edge = random.integers(3)
        point = TRIANGLE[edge] + random.uniform() * (TRIANGLE[(edge + 1) % 3] - TRIANGLE[edge])
        zmp = middle + share * (point - middle)
        assert share_of(TRIANGLE, zmp) == pytest.approx(share)
        wanted = Region.SAFE if share <= 0.5 else Region.NEARLY_CRITICAL if share <= 0.8 else Region.CRITICAL
        assert regions.of(TRIANGLE, zmp) == (wanted if share <= 1 else Region.OUTSIDE)


def test_regions_that_are_not_within_each_other_are_refused():
    with pytest.raises(BadGait):
        Regions(safe=0.9, nearly_critical=0.8)


@pytest.mark.parametrize("support", ["left", "right", "both"])
def test_the_support_area_holds_all_corners_of_the_feet_that_bear_and_no_more(model, support):
    soles = Soles(model.robot)
    area = soles.area(support, HERE, THERE)
    corners = []
    for side, place, outline in zip(("left", "right"), (HERE, THERE), soles.outlines, strict=True):
        if support in (side, "both"):
            corners += [np.array(place.beside(*corner)[:2]) for corner in outline]
    for corner in corners:
        assert share_of(area, corner) <= 1 + 1e-9
    for corner in area:
        assert min(np.linalg.norm(corner - other) for other in corners) < 1e-9


def with_sole(robot, outline):
    """The robot on soles of another shape."""
    surfaces = tuple(
        replace(each, outline=tuple(map(tuple, outline))) if each.name in SOLES else each for each in robot.surfaces
    )
    return replace(robot, surfaces=surfaces)


@pytest.mark.parametrize("support", ["left", "both"])
@pytest.mark.parametrize("shape", ["clockwise", "in any order", "notched"])
def test_a_sole_of_any_shape_stands_on_the_hull_of_its_corners_and_nowhere_else(model, shape, support):
    straight = np.array(model.robot.surface("left_sole").outline)
    outline = {
        "clockwise": straight[::-1],
        "in any order": straight[[0, 2, 1, 3]],
        "notched": np.insert(straight, 1, straight.mean(axis=0), axis=0),
    }[shape]
    area = Soles(with_sole(model.robot, outline)).area(support, HERE, THERE)
    usual = Soles(model.robot).area(support, HERE, THERE)
    assert sorted(map(tuple, area.round(9))) == sorted(map(tuple, usual.round(9)))
    middle, regions = area.mean(axis=0), Regions()
    assert regions.of(area, middle) is Region.SAFE
    for angle in np.linspace(0.0, math.tau, 24):
        away = middle + 0.5 * np.array([math.cos(angle), math.sin(angle)])
        assert regions.of(area, away) is Region.OUTSIDE


def test_the_estimator_knows_the_edges_of_a_sole_whose_corners_are_given_clockwise(model):
    outline = model.robot.surface("left_sole").outline[::-1]
    feet = Soled.of(Model(with_sole(model.robot, outline)), SOLES)
    for point, inside in (((0.0, 0.0), True), ((0.5, 0.0), False), ((0.0, -0.5), False)):
        for edges in feet.edges(1.0):
            assert bool(np.all(edges[:, :2] @ point <= edges[:, 2])) == inside


def test_a_margin_is_kept_from_every_edge_of_a_sole_however_it_is_turned(model):
    straight, turn = np.array(model.robot.surface("left_sole").outline), Place(0.0, 0.0, 0.5)
    turned = np.array([turn.beside(*corner)[:2] for corner in straight])
    inner, usual = (Soles(with_sole(model.robot, each), margin=0.02).outlines[0] for each in (turned, straight))
    assert np.ptp(usual, axis=0) == pytest.approx(np.ptp(straight, axis=0) - 0.04)
    back = np.array([turn.beside(*corner)[:2] for corner in usual])
    assert len(inner) == len(back)
    assert max(np.linalg.norm(inner - corner, axis=1).min() for corner in back) < 1e-9
    nothing = Soles(model.robot, margin=1.0).outlines[0]
    assert nothing == pytest.approx(np.tile(straight.mean(axis=0), (len(nothing), 1)))


def test_the_nearest_point_inside_is_nearer_than_any_other():
    random = np.random.default_rng(2)
    for _ in range(50):
        point = random.uniform(-0.5, 0.8, 2)
        found = nearest_inside(TRIANGLE, point)
        assert share_of(TRIANGLE, found) <= 1 + 1e-9
        weights = random.dirichlet(np.ones(3), 300)
        assert np.linalg.norm(weights @ TRIANGLE - point, axis=1).min() >= np.linalg.norm(found - point) - 1e-9
    assert np.allclose(scaled(TRIANGLE, 1.0), TRIANGLE)


def test_every_name_makes_a_stabilizer_that_leaves_a_robot_at_rest_alone(model):
    for name in plugins.names("stabilizers"):
        walker = Walker(model.robot, stabilizer=name)
        with Simulation(model.robot, posture=walker.stance()) as world:
            state, reference = world.new_state(), world.new_reference()
            before = world.com_in_world
            for _ in range(200):
                world.read(state)
                walker.cycle(state, reference)
                world.write(reference)
                world.advance()
            assert np.linalg.norm(world.com_in_world - before) < 0.01
    with pytest.raises(UnknownName, match="stabilizer"):
        stabilizer_named("dmc", model)


@pytest.mark.parametrize("share", [0.0, 0.06, 0.13])
def test_a_step_is_led_to_where_the_divergent_component_will_be(model, share):
    gait = replace(gait_of(model), swing_share=share)
    feet, _ = standing(model)
    pattern = Pattern(gait, Feet(*(foot.seen_from(feet.middle) for foot in feet)))
    step = Place(0.1, -gait.limits.spacing / 2, 0.0)
    pattern.follow(along(step.beside(-0.1, 0.0935), Velocity(0.1), 1.0, 6, gait.limits.spacing, "right"), 0.0)
    target = pattern.at(gait.begin + 0.2)
    off, shift = np.array([0.012, 0.0]), np.array([0.01, 0.0])
    place = landing_instead(target, off, shift, 0.01)
    # The pendulum says where ξ is when the foot lands; the new plan asks for exactly that.
    grown = math.exp(target.omega * target.phase_left)
    pattern.redirect(place, target.time)
    moved = pattern.at(target.time)
    assert (moved.dcm - target.dcm)[0] * grown == pytest.approx(0.01 + 0.002 * grown, rel=1e-6)
    assert landing_instead(target, off, np.array([0.06, 0.0]), 0.01) is None  # it comes back by itself


def test_of_a_robot_whose_legs_go_along_only_the_divergent_component_by_the_gaits_omega_grows_as_it_says(model):
    """p = c − (1 + u w) c̈ / ω₀² with both feet at rest, so c = cosh ωt, from rest a metre off, over p = 0."""
    gait = gait_of(model)
    plain = frequency(gait.height)
    target = Pattern(gait, standing(model)[0]).at(0.0)
    period = math.sqrt(1.0 + UNDER_BODY * swing_share(model)) / plain

    def grown(divergent, time):
        com, velocity = np.cosh(time / period) * np.ones(2), np.sinh(time / period) / period * np.ones(2)
        return divergent(com, velocity)[0]

    for time in (0.1, 0.3):
        assert grown(target.divergent, time) == pytest.approx(math.exp(target.omega * time))
        by_height = grown(lambda com, velocity: com + velocity / plain, time)
        assert by_height < 0.99 * math.exp(plain * time)


@pytest.mark.parametrize("name", ["dcm", "regions"])
def test_a_robot_that_stands_is_told_to_bear_its_weight_with_the_feet_that_make_the_ground_push_where_it_shall(
    model, name
):
    """Σ share × foot = z across the feet, up to where one bears all; walking, the pattern says it."""
    feet, _ = standing(model)
    pattern = Pattern(gait_of(model), Feet(*(foot.seen_from(feet.middle) for foot in feet)))
    seen = BalanceEstimator(model, feet=SOLES).balance
    for target in (pattern.at(0.0), replace(pattern.at(0.0), phase_left=0.3)):
        for aside in (-0.3, -0.03, 0.0, 0.02, 0.3):
            stabilizer = stabilizer_named(name, model)
            balance = seen._replace(com_in_world=np.array([target.com[0], target.com[1] + aside, target.height]))
            for _ in range(200):
                told = stabilizer.correct(target, balance, 0.005)
            left, right = target.left.place.y, target.right.place.y
            z = min(max(told.zmp[1], right), left) if math.isinf(target.phase_left) else target.zmp[1]
            assert told.left_share * left + (1.0 - told.left_share) * right == pytest.approx(z, abs=1e-9)


@pytest.mark.slow
def test_recovery_steps_go_to_the_side_of_the_fall_within_reach_and_close_again(model):
    gait = gait_of(model)
    feet, _ = standing(model)
    for dcm, side in (((0.15, 0.02), "left"), ((0.15, -0.02), "right"), ((-0.15, -0.01), "right")):
        steps, quick = capture_steps(feet, np.array(dcm), gait)
        assert steps[0].side == side
        quick.limits.check(steps, feet)
        assert np.sign(steps[0].at.x - feet.of(side).x) == np.sign(dcm[0])
    spread = Feet(feet.left, feet.right.beside(0.2, 0.0))
    (closing,) = closing_step(spread, gait)
    after = spread.after(closing)
    assert after.left.seen_from(after.right).x == pytest.approx(0.0)
    assert closing_step(feet, gait) == ()
    assert OTHER[closing.side] == "right"


@pytest.mark.slow(but=["none-True", "dcm-False"])
@pytest.mark.parametrize(("stabilizer", "falls"), [("none", True), ("dcm", False), ("regions", False)])
def test_a_push_that_makes_the_open_loop_fall_is_survived_with_a_recovery_step(stabilizer, falls):
    assert run(stabilizer, None, None, push=(195.0, 0.0, 1.0), mass=1.0, seconds=4.5).fell == falls


@pytest.fixture(scope="module")
def open_loop():
    """The largest force ahead that the pattern alone survives, N."""
    return largest(lambda force: survives("none", 0.0, force), 6.0, weakest=140.0, strongest=180.0)


@pytest.mark.slow
@pytest.mark.parametrize(("stabilizer", "without_steps", "with_steps"), [("dcm", 1.1, 1.5), ("regions", 1.0, 1.5)])
def test_pushed_ahead_it_survives_more_than_the_open_loop_and_much_more_with_steps(
    open_loop, stabilizer, without_steps, with_steps
):
    assert survives(f"{stabilizer} without steps", 0.0, without_steps * open_loop)
    assert survives(stabilizer, 0.0, with_steps * open_loop)


@pytest.mark.slow
@pytest.mark.parametrize(("stabilizer", "share"), [("ankle", 0.8), ("dcm", 0.5)])
def test_a_robot_on_soft_ankles_swings_less_after_a_push(stabilizer, share):
    without, calmed = stand("none"), stand(stabilizer)
    assert not calmed.fell
    assert calmed.first < share * without.first
    assert calmed.last < share * without.last


def test_legs_give_way_when_pushed_down_and_come_up_again():
    robot = robots.load("hubo2plus")
    walker = Walker(robot, stabilizer="damping")
    with Simulation(robot, posture=walker.stance()) as world:
        state, reference = world.new_state(), world.new_reference()
        tall = float(world.com_in_world[2])
        world.push("Body_Torso", (0.0, 0.0, -200.0), 2.0, start=1.0)
        heights = []
        while world.time < 5.5:
            world.read(state)
            walker.cycle(state, reference)
            world.write(reference)
            world.advance()
            heights.append(float(world.com_in_world[2]))
    heights = np.array(heights)
    assert heights.min() < tall - 0.02
    assert heights[-1] == pytest.approx(tall, abs=0.005)
    fall = heights[200 : 200 + int(np.argmin(heights)) - 200]
    assert (np.diff(fall) < 5e-4).all()  # over-damped: down without swinging
