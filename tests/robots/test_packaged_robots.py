"""Robots of other packages by name: their file is used where it is, or it is said what to install."""

import pytest
from robot_processes import wholebody

from wholebody import robots
from wholebody.errors import BadRobot, UnknownName
from wholebody.robots import packages
from wholebody.robots.catalog import load_apart
from wholebody.robots.formats.mjcf_writer import write_mjcf
from wholebody.robots.packages import PACKAGED, Packaged, file_of

HOAP3 = Packaged("a robot", "robots-of-others", "others/robot.xml")


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package with a robot in it, as pip leaves it."""
    site = tmp_path / "site"
    (site / "robots_of_others-2.1.dist-info").mkdir(parents=True)
    (site / "robots_of_others-2.1.dist-info" / "METADATA").write_text("Name: robots-of-others\nVersion: 2.1\n")
    (site / "others").mkdir()
    (site / "others" / "robot.xml").write_text(write_mjcf(robots.load("hoap3")))
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setitem(PACKAGED, "other", HOAP3)
    return site


def test_without_the_package_the_command_that_installs_it_is_said(monkeypatch):
    monkeypatch.setitem(PACKAGED, "other", HOAP3)
    for call in (robots.load, robots.findings, load_apart, file_of):
        with pytest.raises(BadRobot, match=r"package 'robots-of-others'.*pip install --no-deps robots-of-others"):
            call("other")


def test_with_it_the_file_is_read_where_it_is(installed):
    assert file_of("other") == installed / "others" / "robot.xml"
    assert robots.load("other").joint_names == robots.load("hoap3").joint_names
    assert sum(1 for _ in installed.rglob("*")) == 4, "nothing is written there"


def test_a_version_that_lacks_the_file_is_named(installed):
    (installed / "others" / "robot.xml").unlink()
    with pytest.raises(BadRobot, match=r"not in version 2\.1"):
        robots.load("other")


def test_a_file_of_that_name_in_this_folder_comes_first(installed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").write_text("no robot")
    with pytest.raises(BadRobot, match="neither a URDF"):
        robots.load("other")


def test_a_name_that_no_package_has_is_answered_with_those_there_are():
    with pytest.raises(UnknownName, match="talos"):
        packages.packaged("nobody")


def test_no_name_is_taken_twice():
    assert not set(PACKAGED) & set(robots.names())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::wholebody.errors.RobotWarning")
def test_add_writes_a_description_on_top_of_the_file_and_lists_what_can_be_added(tmp_path):
    assert "installed with example-robot-data" in wholebody("robots", "add", cwd=tmp_path).stdout
    done = wholebody("robots", "add", "alexander", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert robots.load(tmp_path / "alexander.yaml").joint_names == robots.load("alexander").joint_names
    assert (tmp_path / "alexander.png").exists()
