"""Crawls as key-frame files: what bears in each phase, stable in every frame, and they move the robot in MuJoCo."""

from __future__ import annotations

import math

import numpy as np
import pytest
from typer.testing import CliRunner

from wholebody import robots
from wholebody.behaviors.crawling import Crawling
from wholebody.behaviors.lying_motions import KeyFrameMotions
from wholebody.cli import application
from wholebody.errors import BadGait
from wholebody.locomotion.crawling.crawler import APART, crawl_frames
from wholebody.locomotion.crawling.odometry import heading
from wholebody.locomotion.walking.footsteps import Velocity
from wholebody.motion import KeyFrames, files
from wholebody.motion.static_poses import rests
from wholebody.operator.recordings.crawl_setup import Lying, posture_and_base
from wholebody.simulation import SensorModel, Simulation

ATLAS = robots.load("atlas")
CRAWLS = ("crawl_forward", "crawl_backward", "crawl_turn_left", "crawl_turn_right")


@pytest.mark.slow(but="crawl_turn_right")
@pytest.mark.parametrize("name", CRAWLS)
def test_three_limbs_or_four_bear_in_every_frame_and_the_robot_is_balanced_on_them(name):
    motion = files.key_frames(ATLAS, name)
    for each in rests(motion):
        assert len(each.frame.contacts) >= 3
        assert each.rest.touching == each.frame.contacts
        assert each.rest.margin > 0.02
    assert max(frame.duration for frame in motion.frames[1:]) <= APART + 0.006
    lifted = {limb for frame in motion.frames for limb in motion.frames[0].contacts if limb not in frame.contacts}
    assert lifted == set(motion.frames[0].contacts)  # each has its turn


@pytest.mark.slow
def test_a_crawl_begins_and_ends_in_the_stance_in_which_the_robot_gets_up():
    stance = files.key_frames(ATLAS, "get_up").frames[-1].position
    for name in CRAWLS:
        frames = files.key_frames(ATLAS, name).frames
        assert frames[0].position == pytest.approx(stance, abs=0.02)
        assert frames[-1].position == pytest.approx(stance, abs=0.15)  # the body rests between its limbs again


@pytest.mark.slow
def test_the_command_writes_what_is_planned(tmp_path):
    path = tmp_path / "short.yaml"
    words = ["motion", "gait", str(path), "--forward", "0.1", "--cycles", "0.5"]
    done = CliRunner().invoke(application(words[:1]), words)
    assert done.exit_code == 0, done.output
    assert "margin" in done.output
    written, planned = KeyFrames.read(path, ATLAS), crawl_frames(ATLAS, Velocity(0.1), 0.5)
    assert np.allclose(
        [frame.position for frame in written.frames], [frame.position for frame in planned.frames], atol=1e-9
    )
    assert [frame.contacts for frame in written.frames] == [frame.contacts for frame in planned.frames]


@pytest.mark.parametrize(("velocity", "cycles"), [((0.0, 0, 0), 1), ((math.nan, 0, 0), 1), ((0.1, 0, 0), 0)])
def test_what_is_no_crawl_is_refused(velocity, cycles):
    with pytest.raises(BadGait, match="no crawl"):
        crawl_frames(ATLAS, Velocity(*velocity), cycles)


def moved(name: str, seed: int) -> tuple[float, float, float]:
    """Played in MuJoCo from the stance: metres ahead, radians turned, and how much lower the root is at the end."""
    begin, motions = posture_and_base(Crawling(ATLAS), Lying.no), KeyFrameMotions(ATLAS, [name])
    with Simulation(ATLAS, seed=seed, sensors=SensorModel.realistic()) as simulation:
        simulation.reset(begin.joints, base=begin.base)
        state, reference = simulation.new_state(), simulation.new_reference()
        before, done = simulation.base_to_world, False
        while not done:
            simulation.read(state)
            done = motions.cycle(state, reference)
            simulation.write(reference)
            simulation.advance()
        after = simulation.base_to_world
    ahead = float((after - before)[0, 3])
    return ahead, heading(after[:3, :3]) - heading(before[:3, :3]), float((before - after)[2, 3])


@pytest.mark.slow(but="crawl_forward")
@pytest.mark.parametrize("name", CRAWLS)
def test_played_without_feeling_anything_the_files_move_the_robot_where_they_say(name):
    ahead, turned, lower = moved(name, seed=1)
    assert lower < 0.05
    if "turn" in name:
        assert math.copysign(1, turned) == (1 if name.endswith("left") else -1)
        assert abs(turned) > math.radians(10)
    else:
        assert ahead * (1 if name.endswith("forward") else -1) > 0.3
