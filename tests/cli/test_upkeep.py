"""wholebody clean removes what nobody writes any more; update fetches and builds, unless a robot runs."""

import subprocess

import numpy as np
import pytest

from wholebody.channels import Channel, directory
from wholebody.cli import upkeep
from wholebody.errors import HardwareError, RobotTaken


def make(name):
    return Channel(name, np.dtype("<f8")).writer()


def test_clean_removes_the_channels_of_ended_robots_and_leaves_those_that_run(capsys):
    with make("ended.state") as first, make("ended.wave.reference"):
        first.put()
    with Channel("runs.stop", np.dtype("<f8")), make("runs.tick"):
        upkeep.clean()
        assert directory.names() == ["runs.stop", "runs.tick"], "also what the daemon of a robot only reads"
    assert capsys.readouterr().out == "removed 2 channels of 'ended', which nobody writes any more\n"
    upkeep.clean()
    upkeep.clean()
    assert capsys.readouterr().out.splitlines()[-1] == f"there is nothing to clean in {directory.folder()}"


def git(folder, *words):
    identity = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """The sources that somebody publishes, and our checkout of them."""
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    git(theirs, "init", "--quiet")
    (theirs / "Makefile").write_text("page:\n\tcp version built\n")
    (theirs / "version").write_text("1\n")
    git(theirs, "add", "-A")
    git(theirs, "commit", "--quiet", "-m", "one")
    git(tmp_path, "clone", "--quiet", str(theirs), str(ours))
    monkeypatch.setattr(upkeep, "SOURCE_TREE", ours)
    return theirs, ours


@pytest.mark.slow
def test_update_fetches_the_newest_and_builds_it(checkout, capsys):
    theirs, ours = checkout
    upkeep.update()
    assert "is the newest already" in capsys.readouterr().out
    (theirs / "version").write_text("2\n")
    git(theirs, "commit", "--quiet", "-am", "two")
    upkeep.update()
    assert (ours / "built").read_text() == "2\n"
    (theirs / "version").write_text("3\n")
    git(theirs, "commit", "--quiet", "-am", "three")
    (ours / "version").write_text("mine\n")
    with pytest.raises(HardwareError, match="git pull --ff-only"):
        upkeep.update()
    assert (ours / "version").read_text() == "mine\n"


def test_nothing_is_updated_under_a_robot_that_runs(monkeypatch, tmp_path):
    monkeypatch.setattr(upkeep, "SOURCE_TREE", tmp_path / "none")
    with make("robot.tick"), pytest.raises(RobotTaken, match="wholebody stop --name robot"):
        upkeep.update()
