"""Atlas on uneven ground: torso and feet of the plan, a map from its camera, and a step in MuJoCo, with its control."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from experiments.crawl_rough import Course, trial
from wholebody import robots
from wholebody.cli.crawl import crawl
from wholebody.errors import BadGoal
from wholebody.locomotion.crawling.crawler import Crawler
from wholebody.locomotion.crawling.footholds import GroundMapper, LevelGround, RoughGround
from wholebody.locomotion.crawling.gait import rough_gait_of
from wholebody.locomotion.crawling.joints import BENT, LEVEL
from wholebody.locomotion.crawling.landing import Landing
from wholebody.locomotion.crawling.pattern import CrawlPattern
from wholebody.locomotion.crawling.step import BACK, KNEES
from wholebody.locomotion.walking.footsteps import Velocity
from wholebody.model.model import Model
from wholebody.model.support import SupportPolygon
from wholebody.operator.recordings.crawl_setup import LENS, known_ground, known_heights
from wholebody.perception.height_map import HeightMap
from wholebody.robots.robot import Placement
from wholebody.simulation import Simulation

BLOCKS = "blocks:height=0.05,seed=1,ahead=0.5"
SLOW = rough_gait_of(Model(robots.load("atlas")))


def planned(crawler, seconds):
    """Targets and configurations of a crawl forward that goes as planned."""
    crawler.pattern.velocity = Velocity(0.04)
    for time in np.arange(0.0, seconds, 0.01):
        target = crawler.pattern.at(time)
        crawler._solved(target)
        yield target, crawler.q


def on_plan(crawler, ground):
    """Without odometry the plan is the world."""
    crawler.begin_anew(0.0)
    crawler.crawl_over(ground)
    crawler.pattern.ground = ground


def test_on_rough_ground_the_torso_bends_less_than_it_could():
    crawler = Crawler(robots.load("atlas"), SLOW)
    torso = [crawler.model.robot.joint_names.index(name) for name in crawler.model.robot.groups["torso"]]
    crawler.pattern.ground = known_ground(BLOCKS)
    free = max(np.abs(q[7:][torso]).max() for _, q in planned(crawler, 30.0))
    on_plan(crawler, known_ground(BLOCKS))
    bent = [np.abs(q[7:][torso]).max() for _, q in planned(crawler, 30.0)]
    assert free > BENT + 0.05, "the control arm"
    assert max(bent) <= BENT + 1e-3


def test_a_trunk_that_does_not_pitch_spares_the_elbow_of_the_hand_that_bears(monkeypatch):
    robot, heights = robots.load("atlas"), HeightMap.over((-1.5, 3.0), (-1.5, 1.5))
    heights.put_boxes([])
    heights.put_level((0.7, 3.0), (-1.5, 1.5), -0.05)
    elbows, hardest = [robot.joint_names.index(f"{side}_arm_elx") for side in "lr"], []
    for level in (1.0, LEVEL):
        monkeypatch.setattr("wholebody.locomotion.crawling.joints.LEVEL", level)
        crawler = Crawler(robot, SLOW)
        on_plan(crawler, RoughGround(heights))
        efforts = [
            (crawler.model.at(q).g - crawler.efforts._J.T @ crawler.efforts.forces.ravel())[6:][elbows]
            for _, q in planned(crawler, 11.0)
        ]
        hardest.append(np.abs(efforts).max() / robot.joint("l_arm_elx").effort)
    assert hardest[0] > 1.3, "the control arm: while a hand comes down 5 cm lower"
    assert hardest[1] < 0.8 * hardest[0]


@pytest.mark.slow
def test_knees_swing_outward_so_that_hips_roll_more_slowly_and_hands_swing_straight():
    robot, fastest = robots.load("atlas"), []
    for outward in (0.0, SLOW.outward):
        crawler = Crawler(robot, replace(SLOW, outward=outward))
        on_plan(crawler, known_ground(BLOCKS))
        rolls, aside = [], dict.fromkeys(range(4), 0.0)
        for target, _ in planned(crawler, 30.0):
            up, step = crawler._planned_rotation[2], crawler.pattern._step
            rolls.append(math.atan2(up[1], up[2]))
            if not all(target.bearing):
                off = target.places[step.limb, 1] - step.places[step.limb, 1]
                aside[step.limb] = max(aside[step.limb], abs(off) - abs(step.goal[1] - step.places[step.limb, 1]))
        assert max(aside[limb] for limb in KNEES) == pytest.approx(outward, abs=0.03)
        assert max(aside[limb] for limb in range(4) if limb not in KNEES) < 1e-9
        fastest.append(np.abs(np.diff(rolls)).max() / 0.01)
    assert fastest[0] > 1.2, "rad/s, the control arm"
    assert fastest[1] < 0.8 * fastest[0]


STEP = "steps:height=0.1,count=1,depth=2.5,ahead=0.6"


@pytest.mark.slow
def test_with_the_body_kept_back_hips_roll_less_while_a_knee_climbs(monkeypatch):
    rolls = []
    for back in (0.0, BACK):
        monkeypatch.setattr("wholebody.locomotion.crawling.step.BACK", back)
        crawler = Crawler(robots.load("atlas"), SLOW)
        on_plan(crawler, known_ground(STEP))
        plan = [(crawler._planned_rotation[2].copy(), target) for target, _ in planned(crawler, 35.0)]
        assert plan[-1][1].ground[list(KNEES)].min() > 0.09, "both knees are up"
        rolls.append(max(abs(math.degrees(math.atan2(up[1], up[2]))) for up, _ in plan))
    assert rolls[0] > 35.0, "the control arm"
    assert rolls[1] < 0.8 * rolls[0]


def test_when_a_climbing_knee_lifts_the_centre_of_mass_is_inside_of_what_bears():
    pattern = CrawlPattern(SLOW, ground=known_ground(STEP))
    pattern.velocity, climbed, before = Velocity(0.04), 0, None
    for time in np.arange(0.0, 40.0, 0.02):
        target = pattern.at(time)
        limb = None if all(target.bearing) else target.bearing.index(False)
        if limb in KNEES and limb != before and np.ptp(pattern._step.places[list(KNEES), 2]) > 0.05:
            polygon = SupportPolygon.of(np.delete(target.places, limb, axis=0))
            assert polygon.margin((*target.com, 0.0)) > 0.8 * SLOW.margin
            climbed += 1
        before = limb
    assert climbed, "the second knee went up"


def test_the_plan_goes_slowly_only_while_a_limb_goes_far_up():
    level, step = CrawlPattern(SLOW), CrawlPattern(SLOW, ground=known_ground(STEP))
    hastes = {}
    for pattern in (level, step):
        pattern.velocity = Velocity(0.04)
        hastes[pattern] = []
        for time in np.arange(0.0, 40.0, 0.02):
            target = pattern.at(time)
            hastes[pattern].append((pattern.haste(time), all(target.bearing)))
    assert {haste for haste, _ in hastes[level]} == {1.0}
    assert {haste for haste, rests in hastes[step] if rests} == {1.0}
    assert min(haste for haste, _ in hastes[step]) < 0.5


@pytest.mark.parametrize("mapped", [True, False])
def test_on_mapped_ground_a_limb_that_is_not_felt_is_put_lower_but_not_far(mapped):
    landing = Landing(least=50.0, period=0.005)
    landing.mapped = mapped
    target = CrawlPattern(SLOW).at(0.0)
    landing.swings(0, target, ahead=True)
    for _ in range(150):
        landing.bears(0, 0.0, 300.0, target, ahead=False)
    assert landing.late
    assert landing.pressed[0] == pytest.approx(0.03 if mapped else 0.0)
    landing.bears(0, 200.0, 300.0, target, ahead=False)
    assert not landing.late


@pytest.mark.slow
def test_shins_and_feet_are_over_the_ground_behind_their_knees():
    crawler, heights = Crawler(robots.load("atlas"), SLOW), known_heights(BLOCKS)
    on_plan(crawler, known_ground(BLOCKS))
    higher = 0.0
    for target, q in planned(crawler, 45.0):
        at = crawler.model.at(q)
        for knee, (_, foot, _) in zip(KNEES, crawler.joints._feet, strict=True):
            x, y, z = at.position(foot)
            higher = max(higher, heights.at(x, y) - target.ground[knee])
            assert z > heights.at(x, y) + 0.1, "the ankle, below which are 8 cm of foot"
            assert target.behind[knee] >= heights.at(x, y) - target.ground[knee] - 1e-9 or not target.bearing[knee]
    assert higher > 0.02, "it did come to lower ground"


@pytest.mark.parametrize("knee", KNEES)
def test_a_knee_that_is_pressed_down_does_not_push_its_foot_into_the_ground_before_it(knee):
    crawler = Crawler(robots.load("atlas"), SLOW)
    on_plan(crawler, LevelGround())
    foot = {index: foot for index, foot, _ in crawler.joints._feet}[knee]

    def settled(pressed):
        crawler.landing.pressed[knee] = pressed
        for _ in range(400):
            crawler._solved(crawler.pattern.at(0.0))
        at = crawler.model.at(crawler.q)
        return at.position(crawler.joints.frames[knee])[2], at.position(foot)[2]

    (knee_before, foot_before), (knee_after, foot_after) = settled(0.0), settled(0.03)
    assert knee_after == pytest.approx(knee_before - 0.03, abs=0.004)
    assert foot_after > foot_before - 0.01


def test_a_robots_camera_maps_the_blocks_before_it():
    robot = robots.load("atlas")
    crawler, truth = Crawler(robot, SLOW), known_heights(BLOCKS)
    mapper = GroundMapper(crawler, RoughGround(HeightMap.over((-1.0, 3.0), (-1.0, 1.0))), LENS)
    base = crawler.model.at(crawler.q).placement(crawler.model.frame(robot.root))
    random = np.random.default_rng(0)
    with Simulation(robot, BLOCKS, physics=False) as simulation:
        simulation.reset(crawler.q[7:], base=Placement.of(base))
        state = simulation.new_state()
        simulation.read(state)
        for _ in range(4):
            depth = simulation.depth("head_camera", LENS.width, LENS.height)
            mapper.see(LENS.as_measured(depth, LENS.bias, random), state)
    flat = [(x, y) for x in np.arange(0.95, 1.8, 0.3) for y in (-0.15, 0.15)]
    for place in flat:
        assert mapper.heights.at(*place) == pytest.approx(truth.at(*place), abs=0.012), place
    assert math.isnan(mapper.heights.at(2.8, 0.0)), "too far"


def test_a_robot_without_a_camera_maps_nothing():
    crawler = Crawler(robots.load("atlas"), SLOW)
    sensors = [sensor for sensor in crawler.model.robot.sensors if sensor.kind != "camera"]
    object.__setattr__(crawler.model.robot, "sensors", tuple(sensors))
    with pytest.raises(BadGoal, match="no camera"):
        GroundMapper(crawler, RoughGround(HeightMap.over((0.0, 1.0), (0.0, 1.0))), LENS)


@pytest.mark.slow
@pytest.mark.parametrize(("knows", "seconds"), [("map", 80.0), ("nothing", 25.0)])
def test_a_step_of_10_cm_is_climbed_by_those_who_know_of_it(knows, seconds):
    course = Course(STEP, 1.0, 0.6, seconds, knows)
    run = trial(course, seed=1)
    assert run.across == (knows == "map"), run.trouble
    if knows == "map":
        assert not run.fell
        assert run.inside > 0.9


@pytest.mark.slow
def test_over_blocks_it_goes_on_by_the_map_and_is_held_up_without():
    course = Course("blocks:height=0.05,seed={seed}", 3.7, 3.2, 42.0)
    run = trial(course, seed=135)
    assert not run.trouble
    assert run.reached > 0.9
    blind = trial(replace(course, knows="nothing"), seed=135)
    assert blind.reached < 0.7 * run.reached, "the control arm: limbs come down earlier than planned"


@pytest.mark.slow
def test_with_less_lean_elbows_are_planned_beyond_their_limits_far_less_often_over_blocks():
    robot, over = robots.load("atlas"), []
    elbows = [robot.joint_names.index(f"{side}_arm_elx") for side in "lr"]
    for lean in (2 * SLOW.lean, SLOW.lean):
        crawler = Crawler(robot, replace(SLOW, lean=lean))
        on_plan(crawler, known_ground("blocks:height=0.05,seed=206"))
        efforts = [
            (crawler.model.at(q).g - crawler.efforts._J.T @ crawler.efforts.forces.ravel())[6:][elbows]
            for _, q in planned(crawler, 80.0)
        ]
        over.append(float((np.abs(efforts) > robot.joint("l_arm_elx").effort).mean()))
    assert over[0] > 0.02, "the control arm"
    assert over[1] < over[0] / 3


@pytest.mark.slow
def test_the_command_crawls_over_ground_that_the_robots_camera_maps(tmp_path, monkeypatch):
    monkeypatch.setattr("wholebody.cli.crawl.LONGEST", 3.0)
    crawl("atlas", scene=BLOCKS, distance=0.3, noise=True, seed=2, out=tmp_path, film=False, source=None)
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "It did not fall" in report
    assert "forward 0.3 m" in report
    assert "| turn" not in report, "on rough ground it crawls forward only"
