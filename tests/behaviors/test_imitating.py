"""A robot that plays an imitation blindly: to its end, and no further when it leans; `wholebody crawl --from`."""

import numpy as np
import pytest
from capture_examples import crawling
from scipy.spatial.transform import Rotation
from typer.testing import CliRunner

from wholebody import robots
from wholebody.behaviors.imitation import BLIND_REST, ImitatingBlindly
from wholebody.cli import application
from wholebody.model import Model
from wholebody.motion.capture.capture import Capture
from wholebody.motion.capture.gait import CapturedGait
from wholebody.motion.capture.retarget import imitate

PERIOD = 0.02


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return crawling(tmp_path_factory.mktemp("crawl") / "crawl.bvh", cycles=2)


@pytest.fixture(scope="module")
def imitation(file):
    gait = CapturedGait.of(Capture.read(file))
    return imitate(gait, Model(robots.load("atlas")), stride=0.2, likeness=0.5, period=PERIOD)


def played(imitation, lean, periods=10_000):
    """The commands of one cycle, if from the 100th period on the trunk leans so far (rad) to its left."""
    robot = imitation.model.robot
    state, reference = np.zeros(1, robot.state_dtype())[0], np.zeros(1, robot.reference_dtype())[0]
    imitating, commands = ImitatingBlindly(imitation, 1, PERIOD), []
    for period in range(periods):
        turned = Rotation.from_quat(imitation.q[min(period, len(imitation.q) - 1), 3:7])
        tilt = Rotation.from_euler("x", lean if period >= 100 else 0.0)
        state.imu[0].orientation[:] = (tilt * turned).as_quat()
        if not imitating.cycle(state, reference):
            break
        commands.append(reference.position.copy())
    return imitating, np.array(commands)


def test_it_plays_to_the_end_when_the_trunk_is_as_planned(imitation):
    imitating, commands = played(imitation, 0.1)
    assert imitating.trouble == ""
    assert imitating.progress == 1.0
    np.testing.assert_allclose(commands[-1], imitation.commands[len(commands) - 1], atol=0.02)


def test_it_holds_its_posture_when_the_trunk_leans_off_its_plan(imitation):
    imitating, commands = played(imitation, 0.5)
    assert "leans by 29° off its plan" in imitating.trouble
    assert len(commands) < 100 + BLIND_REST / PERIOD + 1
    assert 0.1 < imitating.progress < 0.5
    np.testing.assert_array_equal(commands[100:], np.tile(commands[100], (len(commands) - 100, 1)))


def test_it_stops_when_the_imu_reads_no_number(imitation):
    imitating = ImitatingBlindly(imitation, 1, PERIOD)
    robot = imitation.model.robot
    state, reference = np.zeros(1, robot.state_dtype())[0], np.zeros(1, robot.reference_dtype())[0]
    state.imu[0].orientation[:] = np.nan
    assert imitating.cycle(state, reference)
    assert "no number" in imitating.trouble
    np.testing.assert_allclose(reference.position, imitation.commands[0], atol=1e-6)


# --- the command ---------------------------------------------------------------------------------------


def crawl_from(file, out, *words):
    command = ["crawl", "--from", str(file), "--cycles", "1", "--no-film", "--out", str(out), *words]
    return CliRunner().invoke(application(["crawl"]), command)


@pytest.mark.slow
@pytest.mark.parametrize(("enough", "code"), [(0.8, 0), (3.0, 1)])
def test_it_says_what_fits_and_how_much_of_the_plan_it_crawled(file, tmp_path, monkeypatch, enough, code):
    monkeypatch.setattr("wholebody.cli.crawl.ENOUGH", enough)
    run = crawl_from(file, tmp_path, "--unit", "1.0")
    assert run.exit_code == code, run.output
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    for said in ("Planned: 0.28 m. ", "times as long as the person's", "% of the plan", "verdict", "fits"):
        assert said in report
    assert "m behind it and 0.14 m aside (" in report, "what it does otherwise than the person is told"
    assert ("it came less than 300% of what was planned" in report) == bool(code)
    assert "slide while bearing" in run.output
    assert "did not fall" in report


def test_it_stops_and_says_so_when_it_leans(file, tmp_path, monkeypatch):
    monkeypatch.setattr("wholebody.locomotion.crawling.crawler.TILTED", -1.0)
    run = crawl_from(file, tmp_path)
    assert run.exit_code == 1, run.output
    assert "off its plan: the ground is not flat; it rests" in (tmp_path / "report.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_robot_that_has_no_posture_on_its_limbs_plays_the_table_and_says_so(file, tmp_path, monkeypatch):
    monkeypatch.setattr("wholebody.behaviors.imitation.TILTED", -1.0)
    run = crawl_from(file, tmp_path, "hrp2")
    assert run.exit_code == 1, run.output
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "off its plan; it stops where it is" in report
    assert "it feels nothing" in report


def test_parts_are_told_as_to_the_other_commands(file, tmp_path):
    run = crawl_from(file, tmp_path, "--part", "left_knee")
    assert "left_knee=Joint07" in str(run.exception)
