"""What is dangerous to lack in a file gets a safe figure, a warning with the remedy, and exit code 1 of a check."""

import math
import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from wholebody import robots
from wholebody.cli.robots import app
from wholebody.errors import RobotWarning
from wholebody.robots.formats.mjcf_writer import write_mjcf
from wholebody.robots.formats.urdf import read_urdf, write_urdf
from wholebody.robots.masses import repaired
from wholebody.robots.missing import completed
from wholebody.simulation import Simulation


def bare(robot, **without):
    """The robot with figures taken out of its joints."""
    return replace(robot, joints=tuple(replace(joint, **without) for joint in robot.joints), gaps=())


def check(path, *more):
    return CliRunner().invoke(app, ["check", str(path), *more], env={"COLUMNS": "200"})


LACKING = {
    "no effort limit": {"effort": math.inf},
    "no velocity limit": {"velocity": math.inf},
    "no rotor inertia": {"rotor_inertia": 0.0},
}


@pytest.mark.parametrize("what", LACKING)
@pytest.mark.parametrize("write", [write_urdf, write_mjcf])
def test_a_figure_that_is_dangerous_to_lack_is_assumed_told_and_a_danger(tmp_path, what, write):
    path = tmp_path / ("hubo.urdf" if write is write_urdf else "hubo.xml")
    path.write_text(write(bare(robots.load("minihubo"), **LACKING[what])))
    with pytest.warns(
        RobotWarning, match=rf"lacks what is dangerous to lack: {what}: .*; wholebody robots check|{what}"
    ):
        robot = robots.load(path)
    (field,) = LACKING[what]
    assert all(0 < getattr(joint, field) < math.inf for joint in robot.moving)
    assert any(gap.startswith(what) for gap in robot.gaps)
    done = check(path)
    assert done.exit_code == 1
    assert what in done.output


def test_a_file_that_says_all_of_it_is_no_danger(tmp_path):
    path = tmp_path / "hubo.urdf"
    path.write_text(write_urdf(robots.load("hubo2plus")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = robots.load(path)
    assert [joint.rotor_inertia for joint in robot.moving] == [j.rotor_inertia for j in robots.load("hubo2plus").moving]
    done = check(path)
    assert done.exit_code == 0, done.output
    assert "0 dangers" in done.output


@pytest.mark.parametrize("name", ["hubo2plus", "minihubo", "hoap3", "teo", "valkyrie"])
def test_what_is_assumed_is_near_what_knees_of_our_robots_have(name):
    robot = robots.load(name)
    knee = next(j.name for j in robot.moving if j.name.endswith(("KN", "knee_pitch", "KneePitch")))
    assumed = completed(bare(robot, effort=math.inf, velocity=math.inf, rotor_inertia=0.0))[0].joint(knee)
    assert 0.4 < assumed.effort / robot.joint(knee).effort < 2.5
    assert 0.3 < assumed.velocity / robot.joint(knee).velocity < 5.0
    assert 0.0 < assumed.rotor_inertia < robot.joint(knee).rotor_inertia


def scaled(robot, factor):
    """The robot so many times as large, of the same density."""

    def at(placement):
        return replace(placement, xyz=tuple(factor * value for value in placement.xyz))

    links = tuple(
        replace(
            link,
            mass=factor**3 * link.mass,
            com=tuple(factor * value for value in link.com),
            inertia=tuple(factor**5 * value for value in link.inertia),
            shapes=tuple(
                replace(shape, size=tuple(factor * size for size in shape.size), at=at(shape.at))
                for shape in link.shapes
            ),
        )
        for link in robot.links
    )
    surfaces = tuple(
        replace(each, at=at(each.at), outline=tuple((factor * x, factor * y) for x, y in each.outline))
        for each in robot.surfaces
    )
    joints = tuple(replace(joint, at=at(joint.at), damping=0.0, friction=0.0) for joint in robot.joints)
    return replace(robot, links=links, joints=joints, surfaces=surfaces, gains={}, gaps=())


@pytest.mark.slow(but="0.1")
@pytest.mark.parametrize("height", [0.1, 1.3, 5.0])
def test_a_robot_of_any_size_stands_with_what_is_assumed(height):
    hubo = scaled(robots.load("hubo2plus"), height / 1.3)
    robot, found = completed(bare(hubo, effort=math.inf, velocity=math.inf, rotor_inertia=0.0))
    assert {each.what for each in found if each.danger} == set(LACKING)
    with Simulation(robot) as simulation:
        before = simulation.com_in_world[2]
        while simulation.tick() < 1.0:
            pass
        assert simulation.com_in_world[2] == pytest.approx(before, rel=0.05), "it stands"


def test_a_limit_that_stands_for_none_is_none(tmp_path):
    path = tmp_path / "hubo.urdf"
    path.write_text(write_urdf(bare(robots.load("hubo2plus"), effort=50000.0)))
    with pytest.warns(RobotWarning, match="no effort limit"):
        assert all(joint.effort < 500 for joint in robots.load(path).moving)


def test_a_foot_that_can_only_be_seen_is_made_solid_and_one_without_a_shape_is_told(tmp_path):
    hubo = robots.load("minihubo")
    seen = replace(
        hubo,
        links=tuple(replace(k, shapes=tuple(replace(s, collides=False) for s in k.shapes)) for k in hubo.links),
        gaps=(),
    )
    robot, found = completed(seen)
    assert {name for each in found for name in each.where if "foot" in each.what} >= {"LAR", "RAR"}
    assert all(shape.collides for name in ("LAR", "RAR") for shape in robot.link(name).shapes)
    with Simulation(robot) as simulation:
        while simulation.tick() < 0.5:
            pass
        assert simulation.link_to_world("LAR")[2, 3] > 0.0, "it does not fall through"
    nothing = replace(hubo, links=tuple(replace(link, shapes=()) for link in hubo.links))
    (fall,) = (each for each in completed(nothing)[1] if each.danger)
    assert fall.what == "no shape at all on a foot"
    assert {"LAR", "RAR"} <= set(fall.where)


def test_repaired_inertias_are_such_that_mujoco_takes_them():
    generator = np.random.default_rng(0)
    for _ in range(50):
        figures = tuple(generator.normal(size=6) * 10.0 ** generator.uniform(-6, 1))
        links = (robots.Link("a", 1.0, inertia=(1, 1, 1, 0, 0, 0)), robots.Link("b", 1.0, inertia=figures))
        joints = (robots.Joint("ab", "revolute", "a", "b", lower=-1.0, upper=1.0, effort=1.0),)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RobotWarning)
            mended = repaired(links, joints)
        Simulation(robots.Robot("test", mended, joints)).tick()


# --- URDF ------------------------------------------------------------------------------------------

LINK = '<link name="{0}"> <inertial> <mass value="1"/> <inertia ixx=".1" iyy=".1" izz=".1"/> </inertial> </link>'
JOINT = (
    '<joint name="{0}" type="revolute"> <parent link="{1}"/> <child link="{2}"/> <axis xyz="0 1 0"/>'
    '<limit lower="-1" upper="1" effort="5" velocity="2"/> {3} </joint>'
)


def urdf(folder, *parts, root="a"):
    path = folder / "robot.urdf"
    links = "".join(LINK.format(name) for name in (root, "b", "c"))
    path.write_text(f'<robot name="test" xmlns:drake="http://drake.mit.edu"> {links} {" ".join(parts)} </robot>')
    return path


def arm(folder, ab="", bc="", *more, root="a"):
    return urdf(folder, JOINT.format("ab", root, "b", ab), JOINT.format("bc", "b", "c", bc), *more, root=root)


def test_limits_are_those_that_the_safety_controller_keeps(tmp_path):
    soft = '<safety_controller k_velocity="1" soft_lower_limit="-0.5" soft_upper_limit="2"/>'
    joint = read_urdf(arm(tmp_path, soft)).joint("ab")
    assert (joint.lower, joint.upper) == (-0.5, 1.0)
    none = '<safety_controller k_velocity="1" soft_lower_limit="0" soft_upper_limit="0"/>'
    assert read_urdf(arm(tmp_path, none)).joint("ab").lower == -1.0, "limits that leave no room are none"


def test_joints_without_a_transmission_have_no_motor_where_others_have_one(tmp_path):
    motor = '<transmission name="t"> <joint name="ab"/> <actuator name="m"> {} </actuator> </transmission>'
    figures = '<drake:rotor_inertia value="1e-5"/> <drake:gear_ratio value="50"/>'
    robot = read_urdf(arm(tmp_path, "", "", motor.format(figures)))
    assert [joint.actuated for joint in robot.moving] == [True, False]
    assert robot.joint("ab").rotor_inertia == pytest.approx(1e-5 * 50**2)
    assert all(joint.actuated for joint in read_urdf(arm(tmp_path)).moving)


def test_a_urdf_follower_of_a_follower_follows_the_first(tmp_path):
    parts = [JOINT.format("cd", "c", "d", '<mimic joint="bc" multiplier="2" offset=".1"/>'), LINK.format("d")]
    robot = read_urdf(arm(tmp_path, "", '<mimic joint="ab" multiplier="3"/>', *parts))
    assert robot.joint_names == ("ab",)
    assert robot.joint("cd").mimic == robots.Mimic("ab", 6.0, 0.1)


def test_a_joint_without_room_to_move_is_fixed_where_it_is_held(tmp_path):
    path = arm(tmp_path)
    path.write_text(path.read_text().replace('lower="-1" upper="1"', 'lower=".5" upper=".5"', 1))
    with pytest.warns(RobotWarning, match="'ab' may not move, its limits are 0.5 to 0.5; it is fixed"):
        robot = read_urdf(path)
    assert robot.joint("ab").kind == "fixed"
    assert robot.joint("ab").at.rpy[1] == pytest.approx(0.5)


def test_a_urdf_that_hangs_from_the_world_is_bolted_and_can_be_simulated(tmp_path):
    robot = read_urdf(arm(tmp_path, root="world"))
    assert not robot.floating
    Simulation(robot).tick()
    assert robots.Robot("free", robot.links, robot.joints).floating


@pytest.mark.slow
def test_a_command_says_a_warning_once_and_without_lines_of_code(tmp_path):
    path = tmp_path / "hubo.urdf"
    path.write_text(write_urdf(bare(robots.load("minihubo"), effort=math.inf)))
    command = [sys.executable, "-m", "wholebody.cli", "sim", str(path), "--seconds", "0.1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    told = [line for line in done.stderr.splitlines() if "lacks what is dangerous to lack" in line]
    assert len(told) == 1
    assert told[0].startswith("wholebody: hubo.urdf lacks")
    assert "robots.load(" not in done.stderr
