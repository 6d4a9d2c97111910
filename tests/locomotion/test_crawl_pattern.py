"""Crawling without physics: the plan of limbs and centre of mass, joints, loads from efforts, and odometry."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from wholebody import robots
from wholebody.errors import BadGait, SensorLost
from wholebody.estimation.limb_loads import LimbLoads
from wholebody.locomotion.crawling.crawler import Crawler
from wholebody.locomotion.crawling.gait import CrawlGait, crawl_gait_of
from wholebody.locomotion.crawling.joints import NEARING
from wholebody.locomotion.crawling.odometry import ROOTS, CrawlOdometry
from wholebody.locomotion.crawling.pattern import AT_PLACE, CrawlPattern, gait_places
from wholebody.locomotion.walking.footsteps import Place, Velocity
from wholebody.model import Model
from wholebody.model.support import SupportPolygon

WAYS = {
    "forward": Velocity(0.09),
    "backward": Velocity(-0.06),
    "turn": Velocity(turn=0.07),
    "arc": Velocity(0.05, 0, 0.03),
}


@pytest.fixture(scope="module")
def crawler():
    return Crawler(robots.load("atlas"))


@pytest.fixture(scope="module")
def gait():
    return crawl_gait_of(Model(robots.load("atlas")))


def rows(pattern, seconds, period=0.01):
    return [pattern.at(time) for time in np.arange(0.0, seconds, period)]


@pytest.mark.parametrize("way", WAYS)
def test_while_a_limb_swings_the_centre_of_mass_is_inside_of_what_bears(gait, way):
    pattern = CrawlPattern(gait)
    pattern.velocity = WAYS[way]
    for target in rows(pattern, 20.0):
        if not all(target.bearing):
            points = target.places[np.array(target.bearing)]
            assert SupportPolygon.of(points).margin((*target.com, 0.0)) > 0.5 * gait.margin


@pytest.mark.parametrize("way", WAYS)
def test_limbs_that_bear_stay_and_at_most_one_is_in_the_air(gait, way):
    pattern = CrawlPattern(gait)
    pattern.velocity = WAYS[way]
    targets = rows(pattern, 15.0)
    for before, after in pairwise(targets):
        assert sum(after.bearing) >= 3
        for limb in range(4):
            if before.bearing[limb] and after.bearing[limb]:
                assert np.allclose(before.places[limb], after.places[limb], atol=2e-3)
        assert np.linalg.norm(after.com - before.com) < 0.01


@pytest.mark.parametrize("way", WAYS)
def test_the_body_moves_at_the_velocity_it_is_told(gait, way):
    pattern = CrawlPattern(gait)
    pattern.velocity = WAYS[way]
    pattern.at(20.0)
    first = pattern.body
    while pattern.steps % 4 or pattern.steps < 24:
        pattern.at(pattern._step.end + 1e-9)
    start, began = pattern.body, pattern._step.end
    for _ in range(8):
        pattern.at(pattern._step.end + 1e-9)
    wanted = start.moved(WAYS[way], pattern._step.end - began)
    assert np.allclose(pattern.body, wanted, atol=0.02)
    assert not np.allclose(pattern.body, first, atol=0.05)


def test_a_new_velocity_counts_from_the_next_step_and_rest_brings_limbs_to_their_places(gait):
    pattern = CrawlPattern(gait)
    pattern.velocity = Velocity(0.08)
    pattern.at(12.0)
    pattern.velocity = Velocity(turn=-0.05)
    pattern.at(20.0)
    assert pattern.body.yaw < -0.2
    pattern.velocity = Velocity()
    target = pattern.at(40.0)
    assert pattern.standing
    assert np.allclose(target.places, gait_places(gait, pattern.body), atol=AT_PLACE)
    assert np.allclose(target.com, np.array(pattern.body[:2]), atol=1e-6)


def test_a_slower_pace_makes_longer_steps_at_the_same_velocity(gait):
    strides = []
    for pace in (1.0, 0.7):
        pattern = CrawlPattern(replace(gait, pace=pace))
        pattern.velocity = Velocity(0.05)
        pattern.at(30.0)
        strides.append(0.05 * pattern.period)
    assert strides[1] > 1.2 * strides[0]


@pytest.mark.parametrize("speed", [0.03, 0.05, 0.08, 0.1, 0.103, 0.106, 0.11, 0.12, -0.05, -0.08])
def test_steps_become_quicker_only_where_longer_ones_do_not_suffice_and_stay_so(gait, speed):
    pattern = CrawlPattern(gait)
    pattern.velocity = Velocity(speed)
    flies = np.array([not pattern.at(time).bearing[2] for time in np.arange(60.0, 90.0, 0.005)], int)
    lifts, lands = np.flatnonzero(np.diff(flies) == 1), np.flatnonzero(np.diff(flies) == -1)
    swings = 0.005 * (lands[lands > lifts[0]] - lifts[: len(lands[lands > lifts[0]])])
    assert np.ptp(swings) < 0.011, "they do not change on and on"
    assert (swings[0] > gait.swing - 0.011) == (speed < 0.103)


def test_a_velocity_beyond_reach_keeps_its_direction(gait):
    slow = gait.clamped(Velocity(1.0, 0.5, 0.0), 4.0)
    assert slow.leftward == pytest.approx(0.5 * slow.forward)
    assert 4.0 * slow.forward < gait.forward
    assert gait.clamped(Velocity(0.01), 4.0) == Velocity(0.01)


def test_limbs_that_are_not_at_four_corners_make_no_gait(gait):
    with pytest.raises(BadGait, match="hands before the body"):
        CrawlGait(-gait.places, gait.com, gait.height)


def test_a_robot_without_the_posture_is_told_so():
    with pytest.raises(BadGait, match="no posture 'crawl'"):
        crawl_gait_of(Model(robots.load("hubo2plus")))


@pytest.mark.parametrize("way", ["forward", "backward", "turn"])
def test_joints_bring_limbs_and_centre_of_mass_to_their_places_smoothly_and_within_limits(crawler, way):
    crawler.begin_anew(0.0)
    crawler.pattern.velocity = WAYS[way]
    robot = crawler.model.robot
    lower, upper = (np.array([getattr(joint, end) for joint in robot.moving]) for end in ("lower", "upper"))
    before = crawler.q
    for time in np.arange(0.0, 4.5, 0.005):
        target = crawler.pattern.at(time)
        crawler._solved(target)
        q = crawler.q
        assert crawler.joints.gaps(q, target.places).max() < 0.002
        assert np.linalg.norm(crawler.model.at(q).com_in_world[:2] - target.com) < 0.002
        assert (q[7:] >= lower - 1e-9).all()
        assert (q[7:] <= upper + 1e-9).all()
        assert np.abs(q[7:] - before[7:]).max() / 0.005 < 4.0
        before = q


def at_rest(crawler, load):
    """Efforts that hold the robot, from how far servos must be led."""
    gains = crawler.model.robot.gains
    stiffness = np.array([gains[name].stiffness for name in crawler.model.joint_names])
    return crawler.efforts.lead(crawler.q, np.zeros(crawler.model.nv), load) * stiffness


@pytest.mark.parametrize("way", ["forward", "turn"])
def test_efforts_and_forces_of_limbs_move_the_robot_as_planned(crawler, way):
    """Newton, of the whole robot: forces of limbs change its momentum, and nothing else does but gravity."""
    crawler.begin_anew(0.0)
    crawler.pattern.velocity = WAYS[way]
    model, momentum, pushed = crawler.model, [], []
    for time in np.arange(0.0, 3.0, 0.005):
        crawler._solved(crawler.pattern.at(time))
        at = model.at(crawler.q, crawler.joints.step / 0.005)
        momentum.append(at.momentum.copy())
        arms = np.array([at.position(frame) for frame in crawler.joints.frames]) - at.com_in_world
        forces = crawler.efforts.forces
        pushed.append([*forces.sum(axis=0), *np.cross(arms, forces).sum(axis=0)])
    gravity = np.array([0, 0, -9.81 * model.total_mass, 0, 0, 0])
    change = np.array(momentum)[-1] - np.array(momentum)[40]
    impulse = 0.005 * (np.array(pushed)[41:] + gravity).sum(axis=0)
    assert np.allclose(impulse, change, atol=4.0)
    assert np.abs(np.array(pushed)[:, 3:]).max() > 20.0


def test_joints_slow_down_before_their_limits_and_goals_share_what_they_cannot_do(crawler):
    crawler.begin_anew(0.0)
    joints, q = crawler.joints, crawler.q.copy()
    places = gait_places(crawler.gait, Place(0.0, 0.0, 0.0))
    places[0, 0] += 0.6  # out of reach
    lower, upper = joints._lower, joints._upper
    nearest = []
    for _ in range(300):
        q = joints.solve(q, places, crawler.target.ground, crawler.target.com, 0.0)
        assert ((q[7:] > lower - 1e-9) & (q[7:] < upper + 1e-9)).all()
        nearest.append(np.minimum(q[7:] - lower, upper - q[7:]))
    assert np.min(nearest) < 0.05, "some joint is near its limit"
    for before, after in pairwise(nearest):
        assert (after > (1 - NEARING) * before - 1e-9).all(), "no joint goes more than its share"


def test_loads_of_limbs_are_found_from_the_efforts_that_hold_them(crawler):
    crawler.begin_anew(0.0)
    model, rng = crawler.model, np.random.default_rng(3)
    loads = LimbLoads(model, crawler.joints.frames)
    at = model.at(crawler.q)
    for bears in ((1, 1, 1, 1), (0, 1, 1, 1), (1, 1, 0, 1)):
        crawler.efforts.reset()
        efforts = at_rest(crawler, np.array(bears, float))
        for _ in range(60):
            loads.update(at, efforts + rng.normal(0.0, 0.5, len(efforts)))
        bear = crawler.efforts.forces[:, 2]
        assert np.allclose(loads.forces[:, 2], bear, atol=15.0)
        assert (loads.touching == (bear > 0.05 * 9.81 * model.total_mass)).all()
    with pytest.raises(SensorLost):
        loads.update(at, np.full(len(efforts), np.nan))


def test_odometry_follows_a_trunk_round_a_circle_from_limbs_that_stand_still():
    odometry, limbs = CrawlOdometry(Place(0.2, -0.1, 0.0)), np.array([[1.0, 1, 0], [1, -1, 0], [-1, 1, 0], [-1, -1, 0]])
    odd = Rotation.from_euler("z", 0.7)  # the IMU's world is turned against ours
    trunk = Place(0.2, -0.1, 0.0)
    for step in range(1500):
        place = trunk.moved(Velocity(0.1, 0.0, 0.01), float(step))
        here = np.array([place.x, place.y, 0.5])
        turned = Rotation.from_euler("ZYX", (place.yaw, 0.8, 0.1 * math.sin(step)))
        heading_kept = Rotation.from_euler("z", place.yaw - _heading(turned.as_matrix())) * turned
        rotation = (odd * heading_kept).as_matrix()
        seen = heading_kept.inv().apply(limbs - here)
        odometry.update(rotation, seen, np.array([0.0, 1.0, 2.0, 1.0]))
    assert np.allclose(odometry.trunk[:2], place[:2], atol=0.02)
    assert odometry.trunk.yaw == pytest.approx(place.yaw, abs=1e-6)  # more than two circles


def _heading(rotation):
    return math.atan2(-rotation[0, 1], rotation[1, 1])


@pytest.mark.parametrize("root", ROOTS.values(), ids=ROOTS)
def test_where_limbs_agree_every_root_gives_the_same_centre_of_mass_and_a_slip_counts_by_its_weight(crawler, root):
    crawler.begin_anew(0.0)
    at, target = crawler.model.at(crawler.q), crawler.target
    com, limbs = at.com_in_world.copy(), np.array([at.position(frame) for frame in crawler.joints.frames])
    weights = root(np.array([1.0, 0.0, 1.0, 1.0]), np.array([500.0, 10.0, 600.0, 300.0]))
    yaw = crawler._planned_trunk.yaw
    found = crawler._com_in_plan(com - crawler.q[:3], limbs - crawler.q[:3], yaw, weights)
    assert np.allclose(found, target.com, atol=2e-3)
    limbs[2, 0] += 0.04
    slipped = crawler._com_in_plan(com - crawler.q[:3], limbs - crawler.q[:3], yaw, weights)
    assert found[0] - slipped[0] == pytest.approx(0.04 * weights[2] / weights.sum(), abs=1e-9)
