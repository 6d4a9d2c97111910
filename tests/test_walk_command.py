"""wholebody walk, as one types it: what it leaves behind, and what it says of robots that cannot walk."""

import pytest
from robot_processes import wholebody
from walking_rig import NAME, Rig

from wholebody.cli.walk_script import Script
from wholebody.errors import BadFootsteps

pytestmark = pytest.mark.timeout(300)  # a busy machine simulates slowly


def test_a_robot_walks_turns_is_pushed_and_leaves_film_pictures_and_report(tmp_path, channels_folder):
    run = wholebody("walk", "hoap3", "--distance", 0.1, "--turn", 20, "--fast", "--out", tmp_path, timeout=250)
    assert "it stands after" in run.stdout
    assert {each.name for each in tmp_path.iterdir()} >= {"walk.mp4", "moments.png", "walk.png", "report.md"}
    assert (tmp_path / "walk.mp4").stat().st_size > 10_000
    report = (tmp_path / "report.md").read_text()
    for line in ("stand", "walk 0.1", "turn 20", "push", "stop"):
        assert f"| {line} |" in report
    assert list(channels_folder.iterdir()) == [], "and nothing is left behind"


def test_a_robot_without_legs_is_told_so(tmp_path):
    run = wholebody("walk", "dreamer", "--out", tmp_path, "--no-film", timeout=250, check=False)
    assert run.returncode == 1
    assert "it cannot walk" in run.stderr + run.stdout
    assert "Traceback" not in run.stderr


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
        assert "give finite numbers" in run.stderr
    run = wholebody("walk", "--name", "nobody", check=False)
    assert run.returncode == 1
    assert "no robot called 'nobody' is running" in run.stderr


@pytest.mark.parametrize("line", ["fly 2", "walk 2 3", "walk far", ""])
def test_a_script_with_a_line_that_is_no_order_is_refused_before_anything_moves(line):
    with pytest.raises(BadFootsteps, match="is no order; say one of stand, walk"):
        Script(["stand", line])
