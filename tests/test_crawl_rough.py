"""Atlas on uneven ground: torso and feet of the plan, a map from its camera, and a step in MuJoCo, with its control."""

from __future__ import annotations

import math

import numpy as np
import pytest

from experiments.crawl_rough import Course, trial
from wholebody import robots
from wholebody.cli.crawl import crawl
from wholebody.cli.crawl_ground import LENS, known_ground, known_heights
from wholebody.errors import BadGoal
from wholebody.locomotion.crawling.crawler import Crawler
from wholebody.locomotion.crawling.ground_mapper import GroundMapper
from wholebody.locomotion.crawling.joints import BENT
from wholebody.locomotion.crawling.pattern import KNEES
from wholebody.locomotion.crawling.rough_gait import rough_gait_of
from wholebody.locomotion.footsteps import Velocity
from wholebody.model.model import Model
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


def test_a_robots_camera_maps_the_blocks_before_it():
    robot = robots.load("atlas")
    crawler, truth = Crawler(robot, SLOW), known_heights(BLOCKS)
    mapper = GroundMapper(crawler, HeightMap.over((-1.0, 3.0), (-1.0, 1.0)), LENS)
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
        GroundMapper(crawler, HeightMap.over((0.0, 1.0), (0.0, 1.0)), LENS)


@pytest.mark.timeout(200)
@pytest.mark.parametrize(("knows", "seconds"), [("map", 60.0), ("nothing", 25.0)])
def test_a_step_of_10_cm_is_climbed_by_those_who_know_of_it(knows, seconds):
    course = Course("steps:height=0.1,count=1,depth=2.5,ahead=0.6", 1.0, 0.6, seconds, knows)
    run = trial(course, seed=1)
    assert run.across == (knows == "map"), run.trouble
    if knows == "map":
        assert not run.fell
        assert run.inside > 0.9


def test_the_command_crawls_over_ground_that_the_robots_camera_maps(tmp_path, monkeypatch):
    monkeypatch.setattr("wholebody.cli.crawl.LONGEST", 3.0)
    crawl("atlas", ground=BLOCKS, distance=0.3, noise=True, seed=2, out=tmp_path, film=False, source=None)
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "It did not fall" in report
    assert "forward 0.3 m" in report
    assert "| turn" not in report, "on rough ground it crawls forward only"
