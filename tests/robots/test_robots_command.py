import mujoco
import pytest
from typer.testing import CliRunner

from wholebody import cli, robots
from wholebody.cli.robots import app
from wholebody.errors import BadRobot, UnknownName

pytestmark = pytest.mark.filterwarnings("ignore:.*lacks what is dangerous to lack")


def run(*arguments):
    done = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "100"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


def test_it_is_one_of_the_commands():
    assert "robots" in cli.names()


def test_without_a_word_it_lists_every_robot():
    text = run()
    for name in robots.names():
        assert name in text
    assert "42.0 kg" in text


def test_show_tells_joints_sensors_source_and_gaps():
    text = run("show", "hubo2plus")
    hubo = robots.load("hubo2plus")
    for name in (*hubo.joint_names, *hubo.groups, *(sensor.name for sensor in hubo.sensors), "right_sole"):
        assert name in text
    assert "published: 42 kg" in text
    assert "openHubo" in text.replace("\n", " ")
    for gap in hubo.gaps:
        assert gap.split()[0] in text


def test_show_reads_files_too(tmp_path):
    path = tmp_path / "mini.urdf"
    run("export", "minihubo", "--urdf", str(path))
    assert "22 joints" in run("show", str(path))


def test_exported_files_load_in_other_tools(tmp_path):
    mjcf = tmp_path / "atlas.xml"
    assert "wrote" in run("export", "atlas", "--mjcf", str(mjcf), "--urdf", str(tmp_path / "atlas.urdf"))
    assert mujoco.MjModel.from_xml_path(str(mjcf)).nu == 28
    assert len(robots.load(tmp_path / "atlas.urdf").moving) == 28


def test_wrong_words_are_answered():
    with pytest.raises(UnknownName, match="closest: 'atlas'"):
        run("show", "atlass")
    with pytest.raises(BadRobot, match="--urdf FILE"):
        run("export", "atlas")
