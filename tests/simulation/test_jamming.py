"""Links whose shapes jam inside the joints' ranges are found, told, and let pass unless the user keeps them."""

from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from wholebody import robots
from wholebody.cli.robots import app
from wholebody.configuration.building import build
from wholebody.configuration.reading import read
from wholebody.configuration.wiring import loop_of
from wholebody.errors import RobotWarning, UnknownName
from wholebody.robots.formats.mjcf_writer import write_mjcf
from wholebody.simulation import Simulation
from wholebody.simulation.jamming import jams


def with_fat_forearm(name="hoap3"):
    """HOAP-3 as a file of others could have it: its elbows jam on the upper arms."""
    robot = robots.load(name)
    fat = frozenset(frozenset(pair) for pair in (("L_SAA", "L_EB"), ("R_SAA", "R_EB")))
    return replace(robot, may_touch=robot.may_touch - fat, from_file=True)


def bent(robot, joint, angle, **more):
    """How far a joint comes when it is told to, with the base held by nothing but its feet."""
    with Simulation(robot, physics=True, **more) as simulation:
        reference = simulation.new_reference()
        reference.position[robot.index[joint]] = angle
        simulation.write(reference)
        state = simulation.new_state()
        while simulation.tick() < 1.5:
            pass
        simulation.read(state)
        return float(state.position[robot.index[joint]])


def test_a_jam_is_found_by_sampling_and_the_same_each_time():
    found = jams(with_fat_forearm())
    assert {jam.links for jam in found} == {frozenset(("L_SAA", "L_EB")), frozenset(("R_SAA", "R_EB"))}
    assert all(jam.share > 0.5 and len(jam.joints) == 2 for jam in found)
    assert found == jams(with_fat_forearm())


def test_links_that_jam_pass_each_other_with_a_warning_and_stop_each_other_if_they_are_kept():
    robot = with_fat_forearm()
    with pytest.warns(
        RobotWarning, match="jam on each other inside the joints' ranges.*R_EB and R_SAA.*--self-collision"
    ):
        usual = bent(robot, "R_EB", -1.5)
    assert usual == pytest.approx(-1.5, abs=0.05)
    kept = bent(robot, "R_EB", -1.5, self_collision="all")
    assert kept > -1.2, "the shapes stop it"
    assert bent(robot, "R_EB", -1.5, self_collision="none") == pytest.approx(-1.5, abs=0.05)
    with pytest.raises(UnknownName, match="usual"):
        bent(robot, "R_EB", -1.5, self_collision="usuall")


@pytest.mark.slow(but="dreamer")
@pytest.mark.parametrize("name", sorted(robots.names()))
def test_none_of_our_robots_jams(name):
    assert jams(robots.load(name)) == ()


BENT = {
    "dreamer": ("right_wrist_pitch", 0.8),
    "hoap3": ("R_EB", -1.8),
    "hrp2": ("RLEG_JOINT2", -1.5),
    "teo": ("r_wrist_pitch", -1.5),
    "minihubo": ("RKN", 2.4),
}


@pytest.mark.slow(but="dreamer")
@pytest.mark.parametrize("name", BENT)
def test_joints_of_ours_come_to_where_their_ranges_let_them(name):
    joint, angle = BENT[name]
    robot = replace(robots.load(name), floating=False)
    assert bent(robot, joint, angle) == pytest.approx(angle, abs=0.1)
    assert abs(bent(replace(robot, may_touch=frozenset()), joint, angle, self_collision="all") - angle) > 0.1


@pytest.mark.slow
def test_the_documented_goal_of_dreamers_hand_arrives():
    built = build(read("dreamer_reach"))
    with Simulation(built.robot, control_period=0.001) as simulation:
        servo = loop_of(built, simulation, simulation)
        servo.start()
        servo.cycle()
        built.parameters.set("tasks.right_hand.goal", [0.4, -0.2, 1.0])
        for _ in range(6000):
            servo.cycle()
        palm = built.robot.surface("right_palm")
        hand = simulation.link_to_world(palm.link) @ palm.at.matrix
        assert hand[:3, 3] == pytest.approx((0.4, -0.2, 1.0), abs=1e-3)


def test_the_check_of_a_file_tells_what_jams_and_exits_1(tmp_path):
    path = tmp_path / "hoap3.xml"
    path.write_text(write_mjcf(with_fat_forearm()))
    done = CliRunner().invoke(app, ["check", str(path)], env={"COLUMNS": "200"})
    assert done.exit_code == 1
    assert "R_EB, R_SAA" in done.output
    assert "of the angles of R_EB, R_SHR" in done.output
    path.write_text(write_mjcf(robots.load("hoap3")))
    assert CliRunner().invoke(app, ["check", str(path)]).exit_code == 0


@pytest.mark.slow
def test_a_leg_that_meets_the_other_one_is_the_machine():
    robot = replace(robots.load("hubo2plus"), may_touch=frozenset(), from_file=True)
    assert not any({"Body_LAR", "Body_RAR"} <= jam.links for jam in jams(robot))
    assert np.isfinite([jam.share for jam in jams(robot)]).all()
