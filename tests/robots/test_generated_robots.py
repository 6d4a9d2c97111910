"""Laws on random robots with two legs: the same robot as URDF and as MJCF is the same Robot, whatever it is called."""

import warnings
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from robot_dynamics import assert_equal, by_mujoco, by_pinocchio, random_state

from wholebody import robots
from wholebody.robots import geometry
from wholebody.robots.formats.mjcf_reader import read_mjcf
from wholebody.robots.formats.mjcf_writer import write_mjcf
from wholebody.robots.formats.urdf import read_urdf, write_urdf
from wholebody.robots.missing import completed
from wholebody.robots.robot import Joint, Link, Placement, Robot, Shape

SEEDS = range(6)


def body(name, generator, length):
    """A link: a box from its origin down, with the mass of water."""
    x, y = generator.uniform(0.03, 0.08, 2)
    mass = 1000 * x * y * length
    inertia = tuple(float(v) for v in mass / 12 * np.array([y * y + length**2, x * x + length**2, x * x + y * y]))
    shape = Shape("box", (float(x), float(y), float(length)), Placement((0.0, 0.0, -length / 2)))
    return Link(name, float(mass), (0.0, 0.0, -length / 2), (*inertia, 0.0, 0.0, 0.0), (shape,))


def generated(seed):
    """A trunk with two equal legs of 3 to 7 joints, and up to three more limbs."""
    generator = np.random.default_rng(seed)
    links, joints = [replace(body("trunk", generator, 0.3))], []
    limbs = [(f"{side}_leg", sign, seed) for side, sign in (("left", 1), ("right", -1))]
    limbs += [(f"limb{k}", 0, 100 * seed + k) for k in range(generator.integers(0, 4))]
    for limb, sign, own in limbs:
        one, parent, at = np.random.default_rng(own), "trunk", (0.0, 0.1 * sign, -0.3 if sign else 0.0)
        for k in range(one.integers(3, 8)):
            length = float(one.uniform(0.05, 0.3))
            axis = tuple(float(v) for v in np.eye(3)[one.integers(3)])
            low, high, effort, speed, rotor, damping = (
                float(v) for v in one.uniform((-2, 0.1, 5, 3, 0.01, 0), (-0.1, 2, 90, 9, 0.2, 1))
            )
            links.append(body(f"{limb}_{k}", one, length))
            joints.append(
                Joint(
                    f"{limb}_joint{k}",
                    "revolute",
                    parent,
                    f"{limb}_{k}",
                    Placement(at),
                    axis,
                    low,
                    high,
                    speed,
                    effort,
                    rotor_inertia=rotor,
                    damping=damping,
                )
            )
            parent, at = f"{limb}_{k}", (0.0, 0.0, -length)
    return Robot("generated", tuple(links), tuple(joints))


def through(robot, folder, write, read):
    path = folder / ("robot.urdf" if write is write_urdf else "robot.xml")
    path.write_text(write(robot))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read(path)


def figures(robot, rename=str):
    """Of each joint, by name, what its motor and its limits are."""
    found = {}
    for j in robot.moving:
        numbers = (j.lower, j.upper, j.velocity, j.effort, j.rotor_inertia, j.damping, j.friction)
        found[rename(j.name)] = tuple(round(number, 9) for number in numbers)
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_robot_as_urdf_and_as_mjcf_is_the_same(tmp_path, seed):
    robot = generated(seed)
    both = [through(robot, tmp_path, write_urdf, read_urdf), through(robot, tmp_path, write_mjcf, read_mjcf)]
    state = random_state(robot, np.random.default_rng(seed))
    for each in both:
        assert each.joint_names == robot.joint_names
        assert figures(each) == figures(robot)
        assert [joint.actuated for joint in each.moving] == [True] * len(robot.moving)
        assert_equal(by_pinocchio(each, state), by_pinocchio(robot, state))
        assert_equal(
            by_mujoco(mujoco.MjModel.from_xml_string(write_mjcf(each)), each, state), by_pinocchio(robot, state)
        )
        positions = np.array([state[2][name] for name in robot.joint_names])
        np.testing.assert_allclose(geometry.extent(each, positions), geometry.extent(robot, positions), atol=1e-9)


def renamed(robot, rename):
    links = tuple(replace(link, name=rename(link.name)) for link in robot.links)
    joints = tuple(
        replace(j, name=rename(j.name), parent=rename(j.parent), child=rename(j.child)) for j in robot.joints
    )
    return replace(robot, links=links, joints=joints)


def turned(robot, rpy):
    """The robot in a root frame that stands otherwise: a new root to which the old one is fixed."""
    base = Joint("base_fixed", "fixed", "base", robot.root, Placement((0.1, 0.2, 0.3), rpy))
    return replace(robot, links=(Link("base"), *robot.links), joints=(base, *robot.joints))


def mirrored(robot):
    """The robot in a mirror: y is −y, and what turned about y or along it keeps its sense."""

    def other(vector):
        return (vector[0], -vector[1], vector[2])

    links = tuple(replace(link, com=other(link.com)) for link in robot.links)
    joints = tuple(
        replace(j, at=Placement(other(j.at.xyz)), axis=tuple(-v for v in other(j.axis))) for j in robot.joints
    )
    return replace(robot, links=links, joints=joints)


def lacking(robot):
    bare = tuple(replace(j, effort=np.inf, velocity=np.inf, rotor_inertia=0.0) for j in robot.joints)
    return replace(robot, joints=bare)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_assumed_depends_on_no_name_no_side_and_no_frame(seed):
    robot = lacking(generated(seed))
    usual = figures(completed(robot)[0])
    assert (
        figures(completed(renamed(robot, lambda name: f"x{hash(name) % 9999}_{name}"))[0], lambda n: n.split("_", 1)[1])
        == usual
    )
    assert figures(completed(mirrored(robot))[0]) == usual
    left, right = ([v[2:5] for k, v in usual.items() if k.startswith(side)] for side in ("left", "right"))
    assert left == right
    for rpy in ((0.0, 0.0, 1.0), (1.5, 0.3, 0.0)):
        assert [j.rotor_inertia > 0 for j in completed(turned(robot, rpy))[0].moving] == [True] * len(robot.moving)


@pytest.mark.parametrize("seed", SEEDS)
def test_reading_what_was_written_twice_changes_nothing(tmp_path, seed):
    once = through(generated(seed), tmp_path, write_urdf, read_urdf)
    assert through(once, tmp_path, write_urdf, read_urdf) == once
    compiled = through(once, tmp_path, write_mjcf, read_mjcf)
    again = through(compiled, tmp_path, write_mjcf, read_mjcf)
    assert figures(again) == figures(compiled)
    assert again.mass == pytest.approx(compiled.mass)
    assert robots.load(tmp_path / "robot.urdf").joint_names == again.joint_names
