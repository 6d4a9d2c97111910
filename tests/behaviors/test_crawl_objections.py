"""Where the ground ends, as far as it is known or seen, a crawling robot puts no limb; it rests, and may go back."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import typer
from blind_crawler import Blind

from experiments.crawl_edge import MAPS, WATCHES, to_an_edge
from wholebody import robots
from wholebody.behaviors.crawling_goals import CrawlingClient, CrawlingServer
from wholebody.cli.crawl import crawl
from wholebody.locomotion.crawling.footholds import RoughGround, WatchedGround
from wholebody.locomotion.crawling.gait import crawl_gait_of, rough_gait_of
from wholebody.locomotion.crawling.pattern import CrawlPattern
from wholebody.locomotion.walking.footsteps import Velocity
from wholebody.model.model import Model
from wholebody.model.support import SupportPolygon
from wholebody.perception.height_map import HeightMap
from wholebody.services import Stage

MODEL = Model(robots.load("atlas"))
LEVEL, SLOW = crawl_gait_of(MODEL), rough_gait_of(MODEL)
KINDS = {"mapped": (SLOW, RoughGround), "watched": (LEVEL, WatchedGround)}


def ends_at(x, height):
    """Level ground, from x on of another height; NaN: nobody has seen it."""
    heights = HeightMap.over((-2.0, 4.0), (-1.5, 1.5))
    heights.put_boxes([])
    heights.put_level((x, 4.0), (-1.5, 1.5), height)
    return heights


def planned(gait, ground, velocity=0.06, seconds=60.0):
    """A pattern, and its targets until it rests."""
    pattern, targets = CrawlPattern(gait, ground=ground), []
    pattern.velocity = Velocity(velocity)
    for time in np.arange(0.0, seconds, 0.02):
        targets.append(pattern.at(time))
        if time > 1.0 and pattern.standing:
            break
    return pattern, targets


@pytest.mark.parametrize(
    ("kind", "height"),
    [*((kind, height) for kind in KINDS for height in (-0.5, -0.2, 0.2, 0.5)), ("mapped", math.nan)],
)
@pytest.mark.parametrize("x", [0.5, 0.58, 0.66, 0.74, 0.82, 1.3])
def test_no_limb_is_put_on_ground_that_ends_or_was_not_mapped_and_it_rests_balanced(kind, x, height):
    gait, ground = KINDS[kind]
    pattern, targets = planned(gait, ground(ends_at(x, height)))
    assert pattern.standing
    assert "nobody has seen" in pattern.objection if math.isnan(height) else "differ by" in pattern.objection
    for target in targets:
        for limb in np.flatnonzero(target.bearing):
            assert target.places[limb, 2] == 0.0
            assert target.places[limb, 0] < x - 0.03
    end = targets[-1]
    assert all(end.bearing)
    assert SupportPolygon.of(end.places).margin((*end.com, 0.0)) > gait.margin
    assert pattern.body.x > x - 0.9, "it went as far as it could"


@pytest.mark.parametrize("kind", KINDS)
def test_it_goes_on_where_the_ground_differs_by_less_than_it_climbs(kind):
    gait, ground = KINDS[kind]
    for height in (0.9 * gait.climb, -0.9 * gait.climb):
        pattern, targets = planned(gait, ground(ends_at(0.8, height)))
        assert pattern.objection == ""
        assert targets[-1].places[:, 0].min() > 0.8
    pattern, _ = planned(gait, ground(ends_at(0.8, 1.1 * gait.climb)))
    assert "differ by" in pattern.objection, "and not where it is more"


def test_watched_ground_may_slope_have_wrong_cells_and_some_that_nobody_saw():
    heights = HeightMap.over((-2.0, 4.0), (-1.5, 1.5))
    heights.heights[:] = 0.05 * (heights.corner[0] + heights.cell * np.arange(heights.heights.shape[0]))[:, None]
    random = np.random.default_rng(0)
    heights.heights[random.random(heights.heights.shape) < 0.01] = 0.3
    heights.heights[random.random(heights.heights.shape) < 0.05] = np.nan
    pattern, _ = planned(LEVEL, WatchedGround(heights), seconds=20.0)
    assert pattern.objection == ""
    assert pattern.body.x > 0.8


@pytest.mark.parametrize("kind", KINDS)
def test_backward_and_on_the_spot_it_may_go_where_nobody_has_seen_the_ground_but_not_off_it(kind):
    gait, ground = KINDS[kind]
    around = HeightMap.over((-3.0, 3.0), (-1.5, 1.5))
    around.put_level((-0.9, 0.45), (-0.4, 0.4))
    for velocity in (Velocity(-0.06), Velocity(turn=0.06)):
        pattern = CrawlPattern(gait, ground=ground(around))
        pattern.velocity = velocity
        pattern.at(20.0)
        assert pattern.objection == ""
    edge = ends_at(0.6, 0.0)
    edge.put_level((-2.0, -0.6), (-1.5, 1.5), -0.5)
    pattern, targets = planned(gait, ground(edge), velocity=-0.06)
    assert "knee" in pattern.objection
    assert targets[-1].places[:, 0].min() > -0.6


@pytest.mark.slow
def test_an_order_towards_an_edge_fails_with_the_reason_and_one_back_is_done():
    blind = Blind()
    blind.crawling.crawler.watch(WatchedGround(ends_at(0.7, -0.5)))
    with CrawlingServer(blind.crawling, "robot") as server, CrawlingClient("robot") as client:
        server.on_limbs, blind.obeys = True, server.cycle
        blind.cycle(0.5)

        def told(number):
            blind.cycle(14.0)
            return client.reports(number)[-1]

        ahead = told(client.walk(distance=1.0))
        assert ahead.stage is Stage.FAILED
        assert "wrist would come down differ by 50.0 cm" in ahead.text
        assert told(client.walk(velocity=(0.1, 0.0, 0.0), lasts=9.0)).stage is Stage.FAILED, "and again"
        assert told(client.stop()).stage is Stage.SUCCEEDED
        began = blind.crawling.place.x
        assert told(client.walk(distance=-0.3)).stage is Stage.SUCCEEDED
        assert blind.crawling.place.x == pytest.approx(began - 0.3, abs=0.05)
        assert blind.crawling.trouble == ""


@pytest.mark.slow
@pytest.mark.parametrize(("ahead", "height"), [(0.58, 0.5), (0.78, 0.5), (0.62, 0.1)])
def test_with_its_camera_on_watch_it_rests_before_an_edge_off_which_a_blind_hand_slips(ahead, height):
    run = to_an_edge(ahead, 103, 11.0, height, WATCHES)
    assert run.objection
    assert run.rests


@pytest.mark.slow
def test_by_a_map_of_its_camera_it_rests_before_an_edge_over_which_it_falls_if_it_does_not_object(monkeypatch):
    run = to_an_edge(0.54, 103, 16.0, arm=MAPS)
    assert "differ by" in run.objection
    assert run.rests
    monkeypatch.setattr("wholebody.locomotion.crawling.pattern.objection_to", lambda *_: "")
    assert to_an_edge(0.54, 103, 25.0, arm=MAPS).fell, "the control arm"


@pytest.mark.slow
def test_with_its_camera_on_watch_it_does_not_stop_on_level_ground():
    run = to_an_edge(4.0, 103, 9.0, arm=WATCHES)
    assert run.objection == run.trouble == ""


@pytest.mark.slow
def test_the_command_says_what_the_robot_did_not_climb(tmp_path):
    step = "steps:height=0.3,count=1,ahead=0.7,depth=2"
    with pytest.raises(typer.Exit):
        crawl("atlas", scene=step, distance=1.5, seed=2, out=tmp_path, film=False, source=None)
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "It did not fall" in report
    assert re.search("wrist would come down differ by (29|30|31)\\.. cm, and it climbs 13.. cm; it rests", report)
