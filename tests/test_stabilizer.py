"""Stabilizers: regions of any foot, smooth switches, and pushes survived that the pattern alone does not survive."""

import math
from dataclasses import replace

import numpy as np
import pytest

from experiments.stabilizer_walk import run
from wholebody import robots
from wholebody.errors import BadGait, UnknownName
from wholebody.estimation import AnkleSpring
from wholebody.locomotion.balance.recovery import capture_steps, closing_step, landing_instead
from wholebody.locomotion.balance.regions import Region, Regions, share_of
from wholebody.locomotion.balance.stabilizers import NAMES, stabilizer_named
from wholebody.locomotion.balance.support_area import Soles, nearest_inside, scaled
from wholebody.locomotion.footsteps import OTHER, Feet, Place, Velocity, along
from wholebody.locomotion.gait import SOLES, gait_of, standing
from wholebody.locomotion.pattern import Pattern
from wholebody.locomotion.walker import Walker
from wholebody.model import Model
from wholebody.simulation import AnkleFlexibility, SensorModel, Simulation

pytestmark = pytest.mark.timeout(240)  # a busy machine simulates slowly

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
    for name in NAMES:
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
    pattern.lead(place, target.time)
    moved = pattern.at(target.time)
    assert (moved.dcm - target.dcm)[0] * grown == pytest.approx(0.01 + 0.002 * grown, rel=1e-6)
    assert landing_instead(target, off, np.array([0.06, 0.0]), 0.01) is None  # it comes back by itself


def test_recovery_steps_go_to_the_side_of_the_fall_within_reach_and_close_again(model):
    gait = gait_of(model)
    feet, _ = standing(model)

    class Seen:
        def __init__(self, dcm):
            self.capture_point = np.array([*dcm, 0.0])

    for dcm, side in (((0.15, 0.02), "left"), ((0.15, -0.02), "right"), ((-0.15, -0.01), "right")):
        steps, quick = capture_steps(feet, Seen(dcm), gait)
        assert steps[0].side == side
        quick.limits.check(steps, feet)
        assert np.sign(steps[0].at.x - feet.of(side).x) == np.sign(dcm[0])
    spread = Feet(feet.left, feet.right.beside(0.2, 0.0))
    (closing,) = closing_step(spread, gait)
    after = spread.after(closing)
    assert after.left.seen_from(after.right).x == pytest.approx(0.0)
    assert closing_step(feet, gait) == ()
    assert OTHER[closing.side] == "right"


@pytest.mark.parametrize(("stabilizer", "falls"), [("none", True), ("dcm", False)])
def test_a_push_that_makes_the_open_loop_fall_is_survived_with_a_recovery_step(stabilizer, falls):
    assert run(stabilizer, None, None, push=(195.0, 0.0, 1.0), mass=1.0, seconds=4.5).fell == falls


def standing_on(stabilizer, ankles, push, seconds=3.0, spring=None):
    """How far the pelvis swings after a push, in the last second, rad."""
    robot = robots.load("hubo2plus")
    walker = Walker(robot, stabilizer=stabilizer, ankles=spring)
    swings = []
    with Simulation(robot, sensors=SensorModel.realistic(), ankles=ankles, posture=walker.stance()) as world:
        state, reference = world.new_state(), world.new_reference()
        world.push("Body_Torso", push, 0.1, start=1.0)
        while world.time < seconds:
            world.read(state)
            walker.cycle(state, reference)
            world.write(reference)
            world.advance()
            if world.time > 1.1:
                swings.append(world.base_to_world[0, 2])
    return float(np.ptp(swings)), walker


def test_ankle_balance_calms_a_robot_on_soft_ankles():
    push = (40.0, 0.0, 0.0)
    without, _ = standing_on("none", AnkleFlexibility(), push)
    calmed, _ = standing_on("ankle", AnkleFlexibility(), push)
    assert calmed < 0.8 * without


def test_feedback_of_the_divergent_component_calms_soft_ankles_that_it_knows():
    push = (40.0, 0.0, 0.0)
    without, _ = standing_on("none", AnkleFlexibility(), push)
    calmed, _ = standing_on("dcm", AnkleFlexibility(), push, spring=AnkleSpring())
    assert calmed < 0.5 * without


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
