"""Atlas crawls in MuJoCo, with noise, delay and a mass that is not the model's; effort limits are enforced."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from blind_crawler import Blind
from scipy.spatial.transform import Rotation

from experiments.crawl_gaits import trial
from wholebody import robots
from wholebody.behaviors.crawling import Crawling, crawling_parameters
from wholebody.cli.crawl import crawl
from wholebody.errors import BadFootsteps, BadGait, BadParameter, CannotImitate, SensorLost, WholebodyError
from wholebody.locomotion.walking.footsteps import Place, Velocity


@pytest.mark.slow(but="0.3")
@pytest.mark.parametrize("distance", [0.3, -0.3])
def test_it_crawls_to_where_it_is_told_and_rests_there_with_its_weight_between_its_limbs(distance):
    run = trial(lambda crawling: crawling.crawl(distance=distance), seed=2, seconds=16.0)
    assert not run.fell
    assert run.rested
    assert run.forward == pytest.approx(distance, abs=0.06)
    assert abs(run.aside) < 0.05
    assert abs(run.turned) < math.radians(5)


@pytest.mark.slow
def test_it_rests_again_and_again_and_crawls_back_from_each_stance():
    run = trial(lambda crawling: crawling.crawl(distance=-0.4), seed=2, seconds=40.0, loops=3)
    assert not run.fell
    assert run.trouble == ""
    assert run.forward == pytest.approx(-1.2, abs=0.1)


@pytest.mark.slow
def test_without_feeling_its_loads_the_centre_of_mass_leaves_what_bears_more_often():
    def order(crawling):
        return crawling.crawl(velocity=(0.11, 0.0, 0.0))

    felt, numb = (trial(order, seed=1, seconds=5.5, feedback=feedback) for feedback in (True, False))
    assert not felt.fell
    assert felt.inside > 0.9
    assert felt.inside > numb.inside + 0.05


@pytest.mark.slow
def test_at_a_slow_velocity_it_takes_its_time_and_does_not_shake(monkeypatch):
    def slow():
        return trial(lambda crawling: crawling.crawl(velocity=(0.05, 0.0, 0.0)), seed=102, seconds=9.0)

    calm = slow()
    assert not calm.trouble
    assert calm.inside > 0.97
    for share in ("HURRY", "CALM"):
        monkeypatch.setattr(f"wholebody.locomotion.crawling.pattern.{share}", 0.3)
    assert slow().inside < 0.85, "the control arm"


def test_orders_that_are_none_are_refused():
    crawling = Crawling(robots.load("atlas"))
    for wrong in ({}, {"distance": 1.0, "velocity": (0.1, 0, 0)}, {"distance": math.nan}):
        with pytest.raises(BadFootsteps):
            crawling.crawl(**wrong)


def test_a_sensor_that_stays_lost_makes_it_rest():
    robot = robots.load("atlas")
    crawling = Crawling(robot)
    state, reference = np.zeros(1, robot.state_dtype())[0], np.zeros(1, robot.reference_dtype())[0]
    state.imu.orientation[:] = np.nan
    crawling.crawl(distance=1.0)
    for time in np.arange(0.0, 0.1, 0.005):
        state.time = time
        crawling.cycle(state, reference)
    assert "no number" in crawling.trouble
    assert np.allclose(reference.position, crawling.crawler.command)
    with pytest.raises(SensorLost):
        crawling.crawl(distance=1.0)


@pytest.mark.slow
def test_speed_direction_and_step_length_change_while_it_crawls():
    blind = Blind()
    crawling = blind.crawling
    crawling.crawl(velocity=(0.08, 0.0, 0.0))
    blind.cycle(12.0)
    fast = stride_of(blind)
    assert fast.x > 0.2
    crawling.crawl(velocity=(0.04, 0.0, 0.0))
    blind.cycle(4.0)
    slow = stride_of(blind)
    assert slow.x == pytest.approx(0.5 * fast.x, rel=0.3)
    set_value(crawling, "gait.pace", 0.6)
    blind.cycle(6.0)
    assert stride_of(blind).x > 1.2 * slow.x, "longer steps at the same velocity"
    set_value(crawling, "gait.pace", 1.0)
    crawling.crawl(velocity=(0.0, 0.0, 0.06))
    blind.cycle(6.0)
    turned = stride_of(blind)
    assert turned.yaw > 0.1
    assert abs(turned.x) < 0.05
    crawling.crawl(velocity=(-0.05, 0.0, 0.0))
    blind.cycle(5.0)
    assert stride_of(blind).x < -0.1
    crawling.stop()
    blind.cycle(14.0)
    assert crawling.standing
    assert crawling.trouble == ""


def stride_of(blind):
    """Where the next four steps lead, seen from where they began."""
    pattern = blind.crawling.crawler.pattern
    begin, body = pattern.steps, pattern.body
    while pattern.steps < begin + 4:
        blind.cycle(0.05)
        assert blind.crawling.trouble == ""
    return pattern.body.seen_from(body)


def set_value(crawling, path, value):
    crawling_parameters(crawling).set(path, value)


@pytest.mark.parametrize("way", [(0.1, 0.0), (-0.06, 0.0), (0.0, 0.03), (0.03, -0.02)])
def test_it_steers_back_to_the_line_along_which_it_is_to_go_and_not_along_it(way):
    crawling, told, along = Crawling(robots.load("atlas")), Velocity(*way), np.array(way) / np.hypot(*way)
    crawling._way = Place(*(-0.6 * along), 0.0)
    assert crawling._on_its_way(told) == pytest.approx(told), "however far it has come along the line"
    left = np.array([-along[1], along[0]])
    crawling._way = Place(*(-0.05 * left), 0.0)
    back = np.subtract(crawling._on_its_way(told)[:2], way)
    assert back @ along == pytest.approx(0.0, abs=1e-12)
    assert back @ left < -0.01


@pytest.mark.slow
def test_it_goes_aside_as_far_as_it_is_told():
    run = trial(lambda crawling: crawling.crawl(velocity=(0.0, 0.03, 0.0)), seed=2, seconds=15.0)
    assert not run.trouble
    last = run.path[run.path[:, 0] > 10.8]  # one gait, in which the centre of mass sways to and fro
    assert last[:, 2].mean() > 0.2
    assert abs(run.forward) < 0.03


def test_every_parameter_of_crawling_has_unit_bounds_and_meaning_and_can_be_set_within_them():
    crawling = Crawling(robots.load("atlas"))
    parameters = crawling_parameters(crawling)
    assert {"gait.forward", "gait.swing", "gait.pace", "gait.lift"} <= set(parameters.paths)
    for slot in parameters:
        about, value = slot.about, slot.value()
        assert about.unit
        assert about.meaning, about.path
        if about.path != "gait.pitch":
            slot.set(value + 1e-3 * (about.upper - value))
            assert slot.value() > value, about.path
        with pytest.raises(BadParameter, match="outside"):
            slot.set(about.upper + 1.0)
    assert crawling.crawler.pattern.gait is crawling.gait
    with pytest.raises(BadGait, match="pitch"):
        parameters.set("gait.pitch", 0.5)


def test_a_limb_that_finds_no_ground_makes_it_wait_and_then_rest():
    blind = Blind()
    blind.crawling.crawl(velocity=(0.08, 0.0, 0.0))
    blind.cycle(3.0)
    assert blind.crawling.trouble == "", "the control arm: ground is where it should be"
    pattern = blind.crawling.crawler.pattern
    for down in (False, True):  # until the hand has just come down
        while (pattern.landed == 0) != down:
            blind.cycle(0.005)
    blind.floats = 0
    there, came_from = pattern.at(blind.time).places[0].copy(), pattern._left
    blind.cycle(3.0)
    assert "left_wrist came down and bears nothing" in blind.crawling.trouble
    assert np.allclose(pattern._step.places[0], came_from)
    assert np.linalg.norm(there - came_from) > 0.1, "it was elsewhere"
    still = blind.reference.position.copy()
    blind.cycle(0.5)
    assert (blind.reference.position == still).all()
    with pytest.raises(SensorLost, match="bears nothing"):
        blind.crawling.crawl(distance=1.0)


def test_a_trunk_that_leans_off_its_plan_makes_it_rest():
    blind = Blind()
    blind.crawling.crawl(velocity=(0.08, 0.0, 0.0))
    for lean, trouble in ((0.1, ""), (0.3, "leans by 17°")):
        blind.tilt = Rotation.from_euler("x", lean)
        blind.cycle(0.5)
        assert trouble in blind.crawling.trouble
        assert bool(trouble) == bool(blind.crawling.trouble)


def test_progress_goes_from_nothing_to_all_on_the_way_to_a_goal():
    blind = Blind()
    assert blind.crawling.progress == 1.0
    blind.crawling.turn(0.6)
    seen = [blind.crawling.progress]
    while blind.crawling.progress < 1.0 and blind.time < 40.0:
        blind.cycle(0.5)
        seen.append(blind.crawling.progress)
    assert seen[0] == 0.0
    assert seen[-1] == 1.0
    assert (np.diff(seen) > -0.1).all()
    assert len(seen) > 4


def test_a_robot_without_arms_is_told_which_limbs_are_missing():
    robot = robots.load("atlas")
    legs_only = {name: joints for name, joints in robot.groups.items() if "arm" not in name}
    with pytest.raises(CannotImitate, match="no left_arm, right_arm"):
        Crawling(replace(robot, groups=legs_only))


def test_the_command_says_what_is_wrong_with_a_robot_or_a_file(tmp_path):
    with pytest.raises(BadGait, match="no posture 'crawl'"):
        crawl("hubo2plus", out=tmp_path, film=False, source=None)
    with pytest.raises(WholebodyError, match=r"no\.bvh"):
        crawl("atlas", out=tmp_path, film=False, source=tmp_path / "no.bvh")
