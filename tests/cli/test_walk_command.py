"""wholebody walk, as one types it: what it leaves behind, and what it says of robots that cannot walk."""

import math

import pytest
from robot_processes import wholebody
from walking_rig import NAME, Rig
from willing_body import Willing

from wholebody.errors import BadFootsteps, BadParameter
from wholebody.locomotion.walking.footsteps import OUTWARD, Feet, Place, StepLimits, beside_body
from wholebody.operator.recordings.script import ORDERS, Script
from wholebody.processes.registry import DAEMON, Registration
from wholebody.robots.catalog import OURS


@pytest.mark.slow
def test_a_robot_walks_turns_is_pushed_and_leaves_film_pictures_and_report(tmp_path, channels_folder):
    run = wholebody("walk", "hoap3", "--distance", 0.1, "--turn", 20, "--fast", "--out", tmp_path, timeout=250)
    assert "it stands after" in run.stdout
    assert {each.name for each in tmp_path.iterdir()} >= {"walk.mp4", "moments.png", "walk.png", "report.md"}
    assert (tmp_path / "walk.mp4").stat().st_size > 10_000
    report = (tmp_path / "report.md").read_text()
    for line in ("stand", "walk 0.1", "turn 20", "push", "stop"):
        assert f"| {line} |" in report
    assert list(channels_folder.iterdir()) == [], "and nothing is left behind"


@pytest.mark.slow
def test_it_walks_up_a_ramp_that_is_filmed_too(tmp_path):
    ramp = ("--scene", "ramp:angle=0.06,ahead=0.1", "--stabilizer", "rough", "--order", "stand", "--order", "walk 0.3")
    run = wholebody("walk", "hoap3", *ramp, "--fast", "--out", tmp_path, timeout=250)
    assert "it stands after" in run.stdout
    assert (tmp_path / "moments.png").stat().st_size > 10_000


@pytest.mark.slow(but="arguments0-it cannot walk")
@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["dreamer"], "it cannot walk"),
        (["hoap3", "--distance", "nan"], "'walk nan' is no order"),
        (["hoap3", "--distance", "1e6"], "'walk 1e+06': so far away that it takes"),
        (["hoap3", "--scene", "moon"], "no scene 'moon'"),
        (["hoap3", "--scene", "ramp:foo=1"], "no parameter of the scene 'ramp' called 'foo'"),
    ],
)
def test_what_no_robot_or_not_this_one_can_do_is_said_before_anything_begins(arguments, what, tmp_path):
    run = wholebody("walk", *arguments, "--out", tmp_path / "walk", "--no-film", timeout=250, check=False)
    assert run.returncode == 1
    assert what in run.stderr.replace("\n", " ")
    assert "Traceback" not in run.stderr
    assert not (tmp_path / "walk").exists()


@pytest.mark.slow
def test_of_a_robot_too_weak_for_one_leg_it_is_said_before_it_walks_that_it_will_fall(tmp_path):
    (tmp_path / "file").touch()  # so that nothing begins after that
    arguments = ("--out", tmp_path / "file" / "walk", "--no-film")
    weakly = tmp_path / "teo.yaml"
    weakly.write_text(OURS["teo"].read_text().replace("effort: 390", "effort: 65"))
    weak, strong = (wholebody("walk", each, *arguments, timeout=250, check=False) for each in (weakly, "teo"))
    assert "TEO will fall when it lifts a foot: on one leg 'l_hip_roll' needs" in weak.stdout
    assert "will fall" not in strong.stdout


def test_the_help_names_every_word_of_an_order():
    said = " ".join(wholebody("walk", "--help").stdout.replace("│", " ").split())
    words = said[said.index("Orders are") : said.index("--name of a robot")]
    for word in (*ORDERS, "wait", "push"):
        assert word in words


@pytest.mark.slow(but="file")
@pytest.mark.parametrize("out", ["file", "file/walk"])
def test_a_folder_that_cannot_be_is_refused(out, tmp_path):
    (tmp_path / "file").touch()
    run = wholebody("walk", "hoap3", "--out", tmp_path / out, "--no-film", timeout=250, check=False)
    assert run.returncode == 2
    assert "--out" in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.slow
def test_only_what_this_walk_wrote_is_said_to_be_written(tmp_path):
    (tmp_path / "walk.mp4").touch()
    (tmp_path / "report.md").touch()
    run = wholebody("walk", "hoap3", "--order", "stand 1", "--no-film", "--fast", "--out", tmp_path, timeout=250)
    written = run.stdout[run.stdout.index("written:") :]
    assert "report.md" in written
    assert "walk.mp4" not in written


@pytest.mark.slow
def test_a_walk_has_the_name_that_it_is_given(tmp_path):
    arguments = ("hoap3", "--name", "mine", "--order", "stand 1", "--no-film", "--fast", "--out", tmp_path)
    with Registration(DAEMON, "walk_demo"):
        refused = wholebody("walk", "hoap3", "--out", tmp_path, check=False)
        assert "another walk runs on this machine" in refused.stderr
        assert "give a name (--name)" in refused.stderr
        assert "--name" in wholebody("walk", "--help").stdout, "an option that there is"
        run = wholebody("walk", *arguments, timeout=250)
    assert "report.md" in run.stdout
    assert "daemon: hoap3 (simulator) runs as 'mine'" in (tmp_path / "processes.log").read_text()


@pytest.mark.slow
def test_a_robot_that_runs_is_told_what_to_do_from_the_command_line():
    with Rig("hoap3") as rig:
        orders = [word for line in ("stand 1", "walk 0.1", "turn 20") for word in ("--order", line)]
        run = wholebody("walk", "--name", NAME, *orders, timeout=250)
        assert [line.split("  ")[-1].split(":")[0] for line in run.stdout.splitlines() if " m, " in line] == [
            "stand 1",
            "walk 0.1",
            "turn 20",
        ]
        assert rig.client.doing.place.x == pytest.approx(0.1, abs=1e-6)
        run = wholebody("walk", "--name", NAME, "--order", "walk nan", timeout=250, check=False)
        assert run.returncode == 1
        assert "'walk nan' is no order" in run.stderr
    run = wholebody("walk", "--name", "nobody", check=False)
    assert run.returncode == 1
    assert "no robot called 'nobody' is running" in run.stderr


@pytest.mark.parametrize("line", ["fly 2", "walk 2 3", "walk far", "walk nan", "turn inf", ""])
def test_a_script_with_a_line_that_is_no_order_is_refused_before_anything_moves(line):
    with pytest.raises(BadFootsteps, match="is no order; say one of stand, walk"):
        Script(["stand", line])


def test_a_script_knows_the_verbs_of_the_console():
    robot = Willing()
    robot.send = lambda goal: robot.told.append(vars(goal)) or 1
    script = Script(["go 1 turn=30deg", "walk 2"])
    for time in range(4):
        script.go_on(robot, time)
    assert robot.told == [{"forward": 1.0, "leftward": 0.0, "turn": math.radians(30)}, ("walk",)]
    assert [done.line for done in script.done] == ["go 1 turn=30deg", "walk 2"]
    with pytest.raises(BadParameter, match="forward is a number in m or cm or mm, not 'far'"):
        Script(["stand", "go far"])


@pytest.mark.parametrize("line", ["walk 1e6", "turn -1e9", "aside 1e4", "step 1e9", "step -1"])
def test_a_script_with_a_line_that_takes_too_many_steps_is_refused_before_anything_moves(line):
    limits = StepLimits()
    feet = Feet(*(beside_body(Place(0.0, 0.0, 0.0), side, limits.spacing).at for side in OUTWARD))
    Script(["stand", "walk 2", "turn 90", "step 4", "push"], {"push": lambda _: 0.0}).rehearse(feet, limits)
    with pytest.raises(BadFootsteps, match=f"'{line}'.*steps"):
        Script(["stand", line]).rehearse(feet, limits)
