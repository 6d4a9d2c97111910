"""A captured crawl in the loop: what of it becomes the robot's gait, and whether Atlas stays above its limbs."""

from dataclasses import replace

import numpy as np
import pytest
from capture_examples import crawling, real_person

from experiments.crawl_capture import WITH, WITHOUT, crawl
from wholebody import robots
from wholebody.behaviors.imitation import Imitating
from wholebody.errors import CannotImitate
from wholebody.locomotion.crawling.gait import captured_crawl_gait_of, changes_of, crawl_gait_of, scaled_reach
from wholebody.locomotion.crawling.pattern import CrawlPattern
from wholebody.locomotion.walking.footsteps import Velocity
from wholebody.model import Model
from wholebody.motion.capture.capture import Capture
from wholebody.motion.capture.gait import CRAWLING, CapturedGait
from wholebody.motion.capture.retarget import imitate

SLOWER = 1.5
INSIDE = 0.95


@pytest.fixture(scope="module")
def model():
    return Model(robots.load("atlas"))


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    """One whose trunk surges, so that the robot's centre of mass is not where it has to be by itself."""
    return CapturedGait.of(Capture.read(crawling(tmp_path_factory.mktemp("a") / "a.bvh", cycles=2, surge=0.15)))


@pytest.fixture(scope="module")
def imitation(captured, model):
    return imitate(captured, model, slower=SLOWER, likeness=0.5, period=0.04)


@pytest.fixture(scope="module")
def gait(imitation, model):
    return captured_crawl_gait_of(model, imitation.plan)


def steps_of(gait, seconds=40.0):
    """Limbs that swing, one after the other, with how long each does, how high it gets and how long all bore before."""
    pattern, steps, before = CrawlPattern(gait), [], 0.0
    pattern.velocity = Velocity(1.0)
    for time in np.arange(0.0, seconds, 0.005):
        target = pattern.at(time)
        if all(target.bearing):
            before = before + 0.005 if steps and steps[-1][-1] else 0.0
            if steps:
                steps[-1][-1] = True
            continue
        limb = target.bearing.index(False)
        if not steps or steps[-1][-1]:
            steps.append([limb, 0.0, 0.0, before, False])
        steps[-1][1] += 0.005
        steps[-1][2] = max(steps[-1][2], target.places[limb, 2])
    return steps[:-1]


def test_limbs_swing_in_the_person_s_order_rhythm_and_height(captured, imitation, gait, model):
    long = replace(gait, rhythm=(2.0, *gait.rhythm[1:]), heights=(*gait.heights[:3], 3.0))
    steps = steps_of(long)
    limbs = [step[0] for step in steps]
    first = gait.order.index(limbs[0])
    assert limbs[:8] == 2 * [*gait.order[first:], *gait.order[:first]]
    for limb, seconds, height, before, _ in steps[4:]:
        assert seconds == pytest.approx(long.swing_of(limb, gait.forward), abs=0.06)
        assert height == pytest.approx(long.lift * long.heights[limb], abs=2e-3)
        assert before >= gait.pauses[limb] - 0.02


def test_the_gait_is_the_plan_s_stride_swings_and_pauses(captured, imitation, gait, model):
    assert gait.forward == imitation.stride
    assert gait.order == tuple(swing.limb for swing in captured.swings)
    for swing, seconds, pause in zip(captured.swings, captured.durations, captured.pauses, strict=True):
        assert gait.swing_of(swing.limb, gait.forward) == pytest.approx(SLOWER * seconds)
        assert gait.pauses[swing.limb] == pytest.approx(SLOWER * pause)
    assert captured.pauses.sum() + captured.durations.sum() == pytest.approx(captured.period, abs=0.05)
    assert gait.lift * max(gait.heights) == pytest.approx(0.1 * 0.377, abs=2e-3), "no higher, though the person's are"


def test_limbs_bear_between_the_robot_s_best_places_and_the_person_s(imitation, gait, model):
    own, theirs = crawl_gait_of(model).places, scaled_reach(model, imitation.plan)
    assert ((np.abs(gait.places) - np.abs(own)) * (np.abs(theirs) - np.abs(own)) >= 0).all()
    assert (np.abs(gait.places[2:, 1]) > np.abs(theirs[2:, 1])).all(), "knees are wider apart than the person's"
    assert f"knees {-gait.places[2, 0]:.2f} m behind it and {gait.places[2, 1]:.2f} m aside" in changes_of(imitation)


def test_another_order_is_followed_too_and_more_carefully(imitation, gait, model):
    order = tuple(CRAWLING.index(part) for part in ("left_wrist", "left_knee", "right_wrist", "right_knee"))
    careful = captured_crawl_gait_of(model, replace(imitation.plan, order=order))
    assert careful.sway < gait.sway
    limbs = [step[0] for step in steps_of(careful)]
    first = order.index(limbs[0])
    assert limbs[:4] == [*order[first:], *order[:first]]


def test_a_whole_motion_is_no_gait(imitation):
    with pytest.raises(CannotImitate, match="no cycle of a gait"):
        Imitating(replace(imitation, plan=None), 1)


# --- in the simulator ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_atlas_stays_above_its_limbs_with_rows_of_the_centre_of_mass_and_not_without(imitation):
    with_com, without = (crawl(imitation, seed=1, cycles=1, arm=arm) for arm in (WITH, WITHOUT))
    assert not with_com.fell
    assert not with_com.trouble
    assert with_com.inside >= INSIDE
    assert 0.8 * imitation.stride < with_com.forward < 1.2 * imitation.stride
    assert abs(with_com.across) < 0.1
    assert with_com.slow_down <= 5.0
    assert without.fell or without.trouble, "the control arm: the same places and timing"
    assert without.inside < with_com.inside - 0.1


@pytest.mark.slow
def test_atlas_stays_above_its_limbs_as_a_real_person_crawls(model):
    path = real_person("cmu_111_03_crawling.bvh")
    imitation = imitate(CapturedGait.of(Capture.read(path)), model)
    trial = crawl(imitation, seed=1, cycles=1)
    assert not trial.fell
    assert trial.inside >= INSIDE
    assert trial.forward > 0.8 * imitation.stride
