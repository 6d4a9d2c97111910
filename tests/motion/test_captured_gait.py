"""One cycle of a captured gait: who bears when, how far it goes, and how a robot may repeat it."""

import numpy as np
import pytest
from capture_examples import ORDER, crawling, person, standing
from hypothesis import given, settings
from hypothesis import strategies as st

from wholebody.errors import BadMotion, CannotImitate
from wholebody.model.support import SupportPolygon
from wholebody.motion.capture.capture import Capture
from wholebody.motion.capture.gait import CRAWLING, WALKING, CapturedGait, bearing, supporting_limbs
from wholebody.motion.capture.gait_plan import SLOWEST, SWAY, Stance, planned
from wholebody.motion.capture.imitator import deepest, within
from wholebody.motion.capture.retarget import grounded

PLACES = np.array([(0.25, 0.3, 0.0), (0.25, -0.3, 0.0), (-0.25, 0.12, 0.0), (-0.25, -0.12, 0.0)])
STANCE = Stance(PLACES, np.array([0.0, 0.0, 0.5]), np.zeros(7))


@pytest.fixture(scope="module")
def gait(tmp_path_factory):
    path = tmp_path_factory.mktemp("gait") / "crawl.bvh"
    return CapturedGait.of(Capture.read(crawling(path)))


@pytest.fixture(scope="module")
def trot(tmp_path_factory):
    path = tmp_path_factory.mktemp("trot") / "trot.bvh"
    return CapturedGait.of(Capture.read(crawling(path, period=1.6, swing=0.7, together=True)))


# --- what a capture shows ----------------------------------------------------------------------------


def test_a_cycle_has_the_stride_the_period_and_the_order_of_the_person(gait):
    assert gait.limbs == CRAWLING
    assert gait.stride == pytest.approx(0.3, rel=0.03)
    assert gait.period == pytest.approx(4.0, abs=0.05)
    assert gait.heading == pytest.approx(0.0, abs=0.02), "along z of the file, which is ahead"
    seen = [gait.limbs[swing.limb] for swing in gait.swings]
    first = ORDER.index(seen[0])
    assert seen == [*ORDER[first:], *ORDER[:first]]
    assert all(0.3 < duration <= 0.65 for duration in gait.durations), "what is slower than a tenth counts as bearing"
    assert all(swing.height.max() == pytest.approx(0.08, abs=0.02) for swing in gait.swings)


def test_limbs_bear_where_they_do_not_move(tmp_path):
    capture = Capture.read(crawling(tmp_path / "a.bvh"))
    flags = bearing(capture, CRAWLING)
    for limb, bears in zip(CRAWLING, flags.T, strict=True):
        speed = np.linalg.norm(np.gradient(capture.part(limb)[:, :2], capture.frame_time, axis=0), axis=1)
        assert speed[bears].max() < 0.25 * speed.max()
        assert 0.8 < bears.mean() < 0.95, "0.6 of 4 s are in the air"


def test_hands_reach_straight_down_from_shoulders_and_knees_from_hips(gait):
    for limb, (x, y, z) in zip(gait.limbs, gait.reach, strict=True):
        assert abs(x) < 0.02
        assert abs(y) < 1e-6
        assert z == pytest.approx(-0.45 if limb.endswith("wrist") else -0.40, abs=0.01)


def test_both_sides_reach_alike(gait):
    left, right = gait.reach[[0, 2]], gait.reach[[1, 3]]
    np.testing.assert_allclose(left, right * (1, -1, 1), atol=1e-12)


def test_one_who_stands_still_shows_no_gait(tmp_path):
    capture = Capture.read(standing(tmp_path / "a.bvh", person(), frames=200))
    assert supporting_limbs(capture) == WALKING
    with pytest.raises(CannotImitate, match="no cycle"):
        CapturedGait.of(capture)


def test_one_frame_is_no_motion(tmp_path):
    with pytest.raises(CannotImitate, match="1 frame"):
        CapturedGait.of(Capture.read(standing(tmp_path / "a.bvh", person(), frames=1)))


def test_a_limb_that_bears_is_put_to_the_ground_and_stays():
    rng = np.random.default_rng(0)
    way = np.cumsum(rng.normal(0.0, 0.01, (60, 3)), axis=0)
    flags = (np.arange(60) // 10) % 2 == 0
    moved = grounded(way, flags)
    for part in np.split(np.arange(60), np.arange(10, 60, 10))[::2]:
        assert np.ptp(moved[part], axis=0).max() < 1e-12
        assert moved[part, 2].max() == 0.0
    assert np.abs(np.diff(moved, axis=0)).max() < 0.15, "without jumps"


# --- where the centre of mass may be ---------------------------------------------------------------------

POINTS = st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=3, max_size=8)


@settings(max_examples=60, deadline=None)
@given(points=POINTS, wish=st.tuples(st.floats(-2, 2), st.floats(-2, 2)), margin=st.floats(0.0, 0.2))
def test_the_target_is_inside_by_the_margin_and_no_point_inside_is_nearer(points, wish, margin):
    polygon = SupportPolygon.of([(*point, 0.0) for point in points])
    if polygon.area < 0.01:
        return
    target = within([(*point, 0.0) for point in points], wish, margin)
    depth = polygon.margin((*target, 0.0))
    most = polygon.margin((*deepest(polygon.corners), 0.0))
    assert depth >= min(margin, most) - 1e-6
    if most > margin:
        around = np.random.default_rng(0).uniform(-1, 1, (300, 2))
        allowed = [p for p in around if polygon.margin((*p, 0.0)) >= margin]
        nearest = min((np.linalg.norm(p - np.array(wish)) for p in allowed), default=np.inf)
        assert np.linalg.norm(target - np.array(wish)) <= nearest + 1e-9


@settings(max_examples=40, deadline=None)
@given(points=POINTS)
def test_no_point_is_deeper_inside_than_the_deepest(points):
    polygon = SupportPolygon.of([(*point, 0.0) for point in points])
    if polygon.area < 0.01:
        return
    most = polygon.margin((*deepest(polygon.corners), 0.0))
    others = np.random.default_rng(1).uniform(-1, 1, (300, 2))
    assert most >= max(polygon.margin((*point, 0.0)) for point in others) - 1e-9


def test_a_wish_that_is_no_number_is_refused():
    with pytest.raises(BadMotion):
        within([(0, 0, 0), (1, 0, 0), (0, 1, 0)], (np.nan, 0.0), 0.1)


# --- the plan ----------------------------------------------------------------------------------------


def plan_of(gait, **how):
    given = {"supports": 3, "margin": 0.04} | how
    return planned(gait, STANCE, given.pop("stride", 0.3), (1.0,) * 4, **given)


def test_limbs_that_swing_together_are_put_one_after_the_other(trot):
    lifts = [swing.lift for swing in trot.swings]
    downs = [swing.touchdown for swing in trot.swings]
    assert sorted(lifts)[1] < sorted(downs)[0], "the person has two limbs in the air at once"
    plan = plan_of(trot)
    for time in np.linspace(0.0, 2 * plan.period, 2000):
        assert sum(plan.bearing(time)) >= 3
    assert 1.0 < plan.slow_down <= SLOWEST


def test_a_gait_that_bears_on_three_limbs_keeps_its_order_and_is_hardly_slower(gait):
    plan = plan_of(gait, margin=0.08)
    assert [gait.limbs[limb] for limb in plan.order] == [gait.limbs[swing.limb] for swing in gait.swings]
    np.testing.assert_allclose(plan.downs - plan.lifts, gait.durations)
    assert 1.0 <= plan.slow_down < 2.5


def test_limbs_stay_where_they_are_while_they_bear_and_step_a_stride_when_they_do_not(gait):
    plan = plan_of(gait)
    times = np.linspace(0.0, plan.period, 800)
    for limb in range(4):
        places = np.array([plan.limb(limb, time) for time in times])
        bears = np.array([plan.bearing(time)[limb] for time in times])
        assert places[bears, 2].max() == 0.0
        assert places[~bears, 2].max() >= 0.04
        still = np.linalg.norm(np.diff(places, axis=0), axis=1)[bears[1:] & bears[:-1]]
        assert still.max() < 1e-12
        np.testing.assert_allclose(plan.limb(limb, plan.period) - plan.limb(limb, 0.0), [0.3, 0.0, 0.0], atol=1e-12)


def test_the_centre_of_mass_is_inside_of_what_bears_by_the_margin_at_all_times(gait):
    plan = plan_of(gait)
    for time in np.linspace(0.0, plan.period, 400):
        bears = plan.bearing(time)
        points = [plan.limb(limb, time) for limb in range(4) if bears[limb]]
        assert SupportPolygon.of(points).margin((*plan.com_at(time), 0.0)) >= 0.04 - 1e-6


def test_the_centre_of_mass_moves_no_faster_than_its_zero_moment_point_allows(gait):
    plan = plan_of(gait)
    times = np.arange(0.0, plan.period, 0.002)
    com = np.array([plan.com_at(time) for time in times])
    acceleration = np.linalg.norm(np.diff(com, 2, axis=0), axis=1) / 0.002**2
    assert STANCE.com[2] / 9.81 * np.quantile(acceleration, 0.999) < 1.02 * SWAY


def test_the_person_s_way_gets_one_stride_far_and_is_another(gait):
    plan = plan_of(gait)
    start, end = plan.captured_com_at(0.0), plan.captured_com_at(plan.period)
    np.testing.assert_allclose(end - start, [0.3, 0.0], atol=1e-9)
    apart = [np.linalg.norm(plan.captured_com_at(t) - plan.com_at(t)) for t in np.linspace(0, plan.period, 50)]
    assert max(apart) > 0.02


def test_a_cycle_that_would_take_more_than_five_times_as_long_is_refused(trot):
    with pytest.raises(
        CannotImitate, match=r"cannot be re-sequenced so that 3 of .* at most 5 times\. Tell a shorter stride"
    ):
        plan_of(trot, slower=8.0)


@pytest.mark.parametrize("supports", [0, 4])
def test_at_least_one_limb_bears_and_one_is_free(gait, supports):
    with pytest.raises(CannotImitate, match="limbs are to bear"):
        plan_of(gait, supports=supports)


def test_limbs_are_as_far_ahead_of_the_body_as_behind_it(gait):
    plan = plan_of(gait)
    times = np.linspace(0.0, plan.period, 500)
    for limb in range(4):
        away = [plan.limb(limb, time)[0] - plan.stride * (time / plan.period - 0.5) for time in times]
        assert np.mean(away) == pytest.approx(PLACES[limb, 0], abs=0.06)
