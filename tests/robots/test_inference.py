"""What a file does not say is found from the tree and the shapes alone: laws on our robots and on generated ones."""

import math
from dataclasses import replace

import numpy as np
import pytest
from generated_robots import biped, mirrored, renamed, turned

from wholebody import robots
from wholebody.robots import Placement, geometry
from wholebody.robots.formats.mjcf_writer import write_mjcf
from wholebody.robots.formats.urdf import write_urdf
from wholebody.robots.inference import inferred

WALKERS = ("atlas", "atlas_v5", "hoap3", "hrp2", "hubo2plus", "minihubo", "teo", "valkyrie")
OTHERS = ("dreamer", "dreamer_full", "trikey")
SIDES = ("left", "right")
SEEDS = range(6)


def stripped(name):
    """One of our robots as a file would have it: links and joints, and nothing else."""
    return bare(robots.load(name))


def bare(robot):
    return replace(
        robot, groups={}, surfaces=(), sensors=(), postures={}, gains={}, gaps=(), inferred=(), title="", source=""
    )


def sole_to_root(robot, side):
    """Where a sole is while joints are at zero."""
    sole = robot.surface(f"{side}_sole")
    zero = np.array([np.clip(0.0, joint.lower, joint.upper) for joint in robot.moving])
    return geometry.placements(robot, zero)[sole.link] @ sole.at.matrix


def why_not(robot):
    return next(each.reason for each in inferred(robot).inferred if each.what == "legs")


# --- our own robots, whose YAML says what is right --------------------------------------------------


@pytest.mark.parametrize("name", WALKERS)
@pytest.mark.parametrize("side", SIDES)
def test_the_soles_of_our_robots_are_found_where_their_descriptions_have_them(name, side):
    said, found = robots.load(name), inferred(stripped(name))
    one, other = said.surface(f"{side}_sole"), found.surface(f"{side}_sole")
    assert other.link == one.link
    assert sole_to_root(found, side) == pytest.approx(sole_to_root(said, side), abs=1e-3)
    assert np.ptp(other.outline, axis=0) == pytest.approx(np.ptp(one.outline, axis=0), abs=1e-3)


@pytest.mark.parametrize("name", WALKERS)
def test_the_limbs_of_our_robots_are_found_as_their_groups_have_them(name):
    said, found = robots.load(name), inferred(stripped(name))
    for group in ("left_leg", "right_leg", "torso"):
        assert set(found.groups.get(group, ())) == set(said.groups.get(group, ()))
    for group in ("left_arm", "right_arm"):  # one joint of a hand is no limb by itself: it ends the arm
        hand = said.groups.get(group.replace("arm", "hand"), ())
        assert set(said.groups[group]) <= set(found.groups[group]) <= {*said.groups[group], *hand}
    assert set(found.groups.get("head", ())) == set(said.groups.get("head", ()))


@pytest.mark.parametrize("name", WALKERS)
def test_without_a_sensor_the_imu_is_in_the_root_as_in_all_our_robots_but_one_and_that_is_said(name):
    found = inferred(stripped(name))
    assert found.sensors_of("imu")[0].link == found.root
    assert (robots.load(name).sensors_of("imu")[0].link == found.root) == (name != "valkyrie")
    imu = next(each for each in found.inferred if each.what == "imu")
    assert "taken to be in the root" in imu.reason
    assert imu.confidence < 0.5


@pytest.mark.parametrize("name", WALKERS)
def test_the_stance_has_bent_knees_level_soles_and_the_weight_over_their_middle(name):
    robot = inferred(stripped(name))
    posture = robot.posture("stand")
    where = geometry.placements(robot, posture)
    soles = [where[s.link] @ s.at.matrix for s in (robot.surface(f"{side}_sole") for side in SIDES)]
    for sole in soles:
        assert math.degrees(math.acos(min(1.0, sole[2, 2]))) < 0.5
    assert soles[0][2, 3] == pytest.approx(soles[1][2, 3], abs=2e-3)
    middle = (soles[0][:3, 3] + soles[1][:3, 3]) / 2
    assert geometry.com(robot, posture)[0] == pytest.approx(middle[0], abs=5e-3)
    for side in SIDES:
        assert max(abs(robot.postures["stand"].get(j, 0.0)) for j in robot.groups[f"{side}_leg"]) > 0.3


@pytest.mark.parametrize("name", OTHERS)
def test_a_robot_without_legs_gets_no_soles_and_a_sentence_that_says_why(name):
    found = inferred(stripped(name))
    assert not found.surfaces
    assert len(why_not(stripped(name)).split()) > 3


def test_what_a_robot_says_stays_as_it_is():
    said = robots.load("valkyrie")
    found = inferred(said)
    for what in ("surfaces", "groups", "postures", "gains"):
        assert getattr(found, what) == getattr(said, what)


# --- generated robots -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_two_legs_are_found_in_any_tree_that_has_them(seed):
    robot = inferred(biped(seed))
    for side in SIDES:
        assert robot.surface(f"{side}_sole").link == f"{side} 5 roll"
        assert robot.groups[f"{side}_leg"] == tuple(
            j.name for j in robot.joints if j.name.startswith(f"{side} ") and "arm" not in j.name
        )
    assert "left_arm" in robot.groups


@pytest.mark.parametrize("seed", SEEDS)
def test_no_servo_is_so_stiff_that_a_small_error_takes_all_its_effort(seed):
    weak = biped(seed)
    weak = replace(weak, joints=tuple(replace(j, effort=0.1 * j.effort, velocity=9.0) for j in weak.joints))
    for robot in (inferred(biped(seed)), inferred(weak)):
        for joint in robot.moving:
            assert robot.gains[joint.name].stiffness * 0.05 <= 1.05 * joint.effort
    stiffest = max(gain.stiffness for gain in inferred(biped(seed)).gains.values())
    assert max(gain.stiffness for gain in inferred(weak).gains.values()) < stiffest


@pytest.mark.parametrize("seed", SEEDS)
def test_names_and_the_order_of_branches_change_nothing(seed):
    plain = inferred(biped(seed))
    other, links, joints = renamed(biped(seed), seed)
    found = inferred(other)
    for side in SIDES:
        one, same = plain.surface(f"{side}_sole"), found.surface(f"{side}_sole")
        assert (same.link, same.at, same.outline) == (links[one.link], one.at, one.outline)
        assert set(found.groups[f"{side}_leg"]) == {joints[name] for name in plain.groups[f"{side}_leg"]}
    stands = {joints[name]: value for name, value in plain.postures["stand"].items()}
    assert found.postures["stand"] == pytest.approx(stands, abs=1e-3)


@pytest.mark.parametrize("seed", SEEDS)
def test_in_a_mirror_left_is_right(seed):
    plain, other = inferred(biped(seed)), inferred(mirrored(biped(seed)))
    assert other.surface("left_sole").link == plain.surface("right_sole").link
    assert sole_to_root(other, "left")[:3, 3] == pytest.approx(sole_to_root(plain, "left")[:3, 3], abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_root_that_is_turned_any_way_hides_no_feet(seed):
    plain = inferred(biped(seed))
    roll, pitch, yaw = np.random.default_rng(seed).uniform(-math.pi, math.pi, 3)
    found = inferred(turned(biped(seed), Placement((0.0, 0.0, 0.0), (roll, pitch, yaw))))
    assert found.root == "upright"
    for side in SIDES:
        assert found.surface(f"{side}_sole").link == plain.surface(f"{side}_sole").link
        assert sole_to_root(found, side) == pytest.approx(sole_to_root(plain, side), abs=2e-3)


@pytest.mark.parametrize("name", ["hubo2plus", "valkyrie", "hoap3"])
def test_a_urdf_and_an_mjcf_of_one_robot_give_the_same(name, tmp_path):
    robot = stripped(name)
    (tmp_path / "robot.urdf").write_text(write_urdf(robot))
    (tmp_path / "robot.xml").write_text(write_mjcf(robot))
    one, other = (robots.load(tmp_path / f"robot.{kind}") for kind in ("urdf", "xml"))
    for side in SIDES:
        a, b = one.surface(f"{side}_sole"), other.surface(f"{side}_sole")
        assert a.link == b.link
        assert a.at.matrix == pytest.approx(b.at.matrix, abs=1e-5)
        assert one.groups[f"{side}_leg"] == other.groups[f"{side}_leg"]
    assert one.postures["stand"] == pytest.approx(other.postures["stand"], abs=1e-3)


# --- what is no robot on two legs -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("robot", "says"),
    [
        (lambda: biped(0, legs=("left",), arms=False), "one limb only, from 'left 0"),
        (lambda: biped(0, legs=("left", "right", "middle"), arms=False), "three limbs come down as low"),
        (lambda: biped(0, legs=("left", "right", "hind left", "hind right"), arms=False), "four"),
        (lambda: replace(biped(0), floating=False), "bolted to the world"),
        (lambda: without_shapes(biped(0)), "no shape at all"),
    ],
)
def test_a_robot_that_cannot_stand_on_two_feet_is_told_so_in_a_sentence(robot, says):
    made = robot()
    assert says in why_not(made)
    assert not inferred(made).surfaces


def without_shapes(robot):
    return replace(robot, links=tuple(replace(link, shapes=()) for link in robot.links))


def test_feet_of_different_size_are_taken_as_they_are_and_that_is_said():
    robot = inferred(biped(1, foot=0.6))
    left, right = (np.ptp(robot.surface(f"{side}_sole").outline, axis=0) for side in SIDES)
    assert left == pytest.approx(0.6 * right, abs=1e-5)
    assert any("feet of different size" in each.reason for each in robot.inferred)
    assert not any("feet of different size" in each.reason for each in inferred(biped(1)).inferred)


def test_of_feet_that_do_not_collide_what_is_seen_is_the_sole_and_less_sure():
    robot = biped(2)
    links = tuple(
        replace(link, shapes=tuple(replace(shape, collides=False) for shape in link.shapes)) for link in robot.links
    )
    solid, seen = (
        next(each for each in inferred(each).inferred if each.what == "left_sole")
        for each in (robot, replace(robot, links=links))
    )
    assert "is seen" in seen.reason
    assert seen.confidence < solid.confidence
