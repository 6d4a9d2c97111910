"""Atlas lies on the ground, rolls over, and gets on wrists and knees; key frames say how they rest."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from typer.testing import CliRunner

from experiments.crawl_roll import BACK, BELLY, STANDING, on_wrists_and_knees, trial
from wholebody import robots
from wholebody.behaviors.crawling import Crawling
from wholebody.behaviors.lying_motions import KeyFrameMotions, lies, way_onto_limbs, way_up
from wholebody.cli import application
from wholebody.errors import BadMotion, BadMotionFile, BadState, SensorLost, TipsOver, UnknownName
from wholebody.motion import KeyFrames, files
from wholebody.motion.keyframes import KeyFrame
from wholebody.motion.static_poses import check_rests, resting, rests
from wholebody.operator.recordings.crawl_setup import Lying, posture_and_base
from wholebody.robots import geometry
from wholebody.robots.robot import Placement
from wholebody.simulation import Simulation

ATLAS = robots.load("atlas")


@pytest.mark.slow
@pytest.mark.parametrize("side", ["left", "right"])
def test_it_rolls_from_its_belly_onto_its_back(side):
    run = trial([f"roll_{side}"], seed=0, pitch=BELLY)
    assert run.on_back
    assert run.seconds < 40
    assert run.effort <= 1 + 1e-9


@pytest.mark.slow
def test_from_its_back_it_gets_on_wrists_and_knees():
    run = trial(["turn_over_left", "get_up"], seed=1, pitch=BACK)
    assert on_wrists_and_knees(run)


def test_it_kneels_down_from_standing_onto_wrists_and_knees():
    run = trial(["kneel_down"], seed=100, pitch=STANDING)
    assert on_wrists_and_knees(run)
    assert run.effort <= 1 + 1e-9


@pytest.mark.slow
def test_without_the_push_of_its_arm_it_stays_on_its_belly(tmp_path, monkeypatch):
    without_arms("roll_left", ["right_arm"], tmp_path, monkeypatch)
    assert not trial(["roll_left"], seed=0, pitch=BELLY).on_back


@pytest.mark.slow
def test_without_its_arms_it_does_not_kneel_down(tmp_path, monkeypatch):
    without_arms("kneel_down", ["left_arm", "right_arm"], tmp_path, monkeypatch)
    assert not on_wrists_and_knees(trial(["kneel_down"], seed=100, pitch=STANDING))


def without_arms(name, arms, folder, monkeypatch):
    """A library in which arms stay as they are in the first frame of a motion."""
    motion = files.key_frames(ATLAS, name)
    still = [ATLAS.index[joint] for arm in arms for joint in ATLAS.groups[arm]]
    frames = []
    for frame in motion.frames:
        position = frame.position.copy()
        position[still] = motion.frames[0].position[still]
        frames.append(replace(frame, position=position))
    (folder / "atlas").mkdir()
    replace(motion, frames=tuple(frames)).write(folder / "atlas" / f"{name}.yaml")
    monkeypatch.setattr(files, "FOLDER", folder)


@pytest.mark.parametrize("name", files.names(ATLAS))
def test_ready_motions_keep_limits_and_rest_where_they_are_not_meant_to_fall(name):
    motion = files.key_frames(ATLAS, name)
    motion.check()
    assert all(each.rest is not None for each in check_rests(motion))


def test_rolling_right_is_rolling_left_in_a_mirror():
    left, right = (rests(files.key_frames(ATLAS, f"roll_{side}")) for side in ("left", "right"))
    for one, other in zip(left, right, strict=True):
        assert one.rest.margin == pytest.approx(other.rest.margin, abs=1e-3)
        assert one.rest.up * [1, -1, 1] == pytest.approx(other.rest.up, abs=1e-3)


@pytest.mark.parametrize(("name", "pitch"), [("roll_left", BELLY), ("turn_over_left", BACK)])
def test_how_a_frame_rests_is_how_it_lies_in_the_simulator(name, pitch):
    first = files.key_frames(ATLAS, name).frames[0]
    rest = rests(files.key_frames(ATLAS, name))[0].rest
    with Simulation(ATLAS) as simulation:
        base = geometry.lying(ATLAS, first.position, pitch)
        simulation.reset(first.position, base=Placement.of(base))
        while simulation.time < 1.0:
            simulation.advance()
        up = simulation.base_to_world[2, :3]
    assert math.acos(min(1.0, float(up @ rest.up))) < math.radians(3)


def test_a_margin_is_the_distance_to_the_edge_of_the_soles():
    rest = resting(ATLAS, ATLAS.posture("stand"), ["left_sole", "right_sole"])
    x, y = rest.com
    edges = [*(rest.corners.max(axis=0) - (x, y)), *((x, y) - rest.corners.min(axis=0))]
    assert rest.margin == pytest.approx(min(edges), abs=1e-6)
    assert rest.up == pytest.approx([0, 0, 1], abs=1e-3)


def test_a_frame_on_one_foot_tips_over_unless_it_is_meant_to():
    frame = KeyFrame(ATLAS.posture("stand"), 0.0, "one foot", ("left_sole",))
    with pytest.raises(TipsOver, match=r"'one foot'.* mm outside of left_sole"):
        check_rests(KeyFrames(ATLAS, (frame,)))
    assert check_rests(KeyFrames(ATLAS, (replace(frame, falls=True),)))[0].rest.margin < 0


def test_nothing_rests_on_a_link_without_a_shape():
    bare = next(link.name for link in ATLAS.links if not link.shapes)
    with pytest.raises(BadMotion, match=f"nothing rests on {bare}"):
        resting(ATLAS, ATLAS.posture("stand"), [bare])


def test_the_check_command_shows_the_margin_of_every_frame_and_fails_where_one_tips(tmp_path):
    shown = CliRunner().invoke(application(["check"]), ["check", "atlas/roll_left"])
    assert shown.exit_code == 0
    assert shown.output.count(" mm") == len(files.key_frames(ATLAS, "roll_left").frames)
    motion = files.key_frames(ATLAS, "roll_left")
    replace(motion, frames=tuple(replace(frame, falls=False) for frame in motion.frames)).write(tmp_path / "tips.yaml")
    refused = CliRunner().invoke(application(["check"]), ["check", str(tmp_path / "tips.yaml")])
    assert refused.exit_code == 1
    assert isinstance(refused.exception, TipsOver)


def test_key_frames_say_which_axis_is_up_and_which_frames_fall(tmp_path):
    motion = files.key_frames(ATLAS, "turn_over_left")
    motion.write(tmp_path / "again.yaml")
    again = KeyFrames.read(tmp_path / "again.yaml", ATLAS)
    assert [frame.up for frame in again.frames] == [frame.up for frame in motion.frames]
    assert motion.frames[0].up == "x"
    assert [frame.falls for frame in again.frames] == [frame.falls for frame in motion.frames]
    with pytest.raises(BadMotionFile, match="up is one of"):
        replace(motion, frames=(replace(motion.frames[0], up="sideways"),))


def test_the_imu_says_how_a_robot_lies():
    for euler, how in (
        ((0, 90, 0), "belly"),
        ((0, -90, 70), "back"),
        ((90, 0, 0), "side"),
        ((5, 10, 30), "not"),
        ((3, 52, 20), "limbs"),
    ):
        assert lies(Rotation.from_euler("xyz", euler, degrees=True).as_quat()) == how


def test_from_standing_it_kneels_down_and_on_its_limbs_nothing_is_to_do():
    state = np.zeros(1, ATLAS.state_dtype())[0]
    for pitch, way in ((0, ("kneel_down",)), (52, ()), (90, ("get_up",)), (-90, ("turn_over_left", "get_up"))):
        state.imu.orientation[:] = Rotation.from_euler("y", pitch, degrees=True).as_quat()
        assert way_onto_limbs(ATLAS, state) == way
    state.imu.orientation[:] = Rotation.from_euler("x", 90, degrees=True).as_quat()
    with pytest.raises(BadState, match="side"):
        way_onto_limbs(ATLAS, state)


def test_there_is_no_way_up_for_a_robot_that_stands_or_whose_imu_is_lost():
    state = np.zeros(1, ATLAS.state_dtype())[0]
    state.imu.orientation[:] = (0, 0, 0, 1)
    with pytest.raises(BadState, match="does not lie"):
        way_up(ATLAS, state)
    state.imu.orientation[:] = np.nan
    with pytest.raises(SensorLost):
        way_up(ATLAS, state)
    state.imu.orientation[:] = Rotation.from_euler("y", 90, degrees=True).as_quat()
    assert way_up(ATLAS, state) == ("get_up",)
    with pytest.raises(UnknownName, match="ready motion of hubo2plus"):
        way_up(robots.load("hubo2plus"), state)


def test_motions_follow_each_other_without_a_jump():
    motions = KeyFrameMotions(ATLAS, ["turn_over_left", "get_up"])
    state, reference = np.zeros(1, ATLAS.state_dtype())[0], np.zeros(1, ATLAS.reference_dtype())[0]
    state.position[:] = state.reference[:] = files.key_frames(ATLAS, "turn_over_left").frames[0].position
    before, most, done = np.array(state.reference), 0.0, False
    while not done:
        done = motions.cycle(state, reference)
        most = max(most, float(np.abs(reference.position - before).max()))
        before = np.array(reference.position)
        state.position[:] = state.reference[:] = before
        state.time += 0.01
    assert state.time == pytest.approx(motions.duration, abs=0.05)
    assert most < 0.01 * 12.0  # rad, at the velocity limit


@pytest.mark.parametrize(
    ("lying", "how"),
    [(Lying.back, "back"), (Lying.belly, "belly"), (Lying.standing, "not"), (Lying.no, "limbs")],
)
def test_the_crawl_command_begins_as_it_is_told_with_motions_that_follow_from_there(lying, how):
    begin = posture_and_base(Crawling(ATLAS), lying)
    assert lies(Rotation.from_matrix(begin.base.matrix[:3, :3]).as_quat()) == how
    if begin.motions:
        assert begin.joints == pytest.approx(files.key_frames(ATLAS, begin.motions[0]).frames[0].position)
    for one, after in pairwise(begin.motions):
        end, start = rests(files.key_frames(ATLAS, one))[-1], rests(files.key_frames(ATLAS, after))[0]
        assert float(end.rest.up @ start.rest.up) > math.cos(math.radians(15))
