"""Self-collision: against MuJoCo's own contact detection, in known postures, along a trajectory, and bad input."""

from functools import cache

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wholebody import robots
from wholebody.errors import BadRobot, BadState, UnknownName
from wholebody.kinematics.collision import Collisions
from wholebody.robots import Joint, Link, Placement, Robot, Shape
from wholebody.robots.formats.mjcf_writer import write_mjcf

NAMES = robots.names()


@cache
def collisions_of(name, margin=0.05):
    return Collisions(robots.load(name), margin)


@cache
def mujoco_of(name):
    return mujoco.MjModel.from_xml_string(write_mjcf(robots.load(name)))


def mujoco_touches(name, q):
    """The deepest contact of each pair of links that MuJoCo finds, in m; links that are fixed count as one."""
    robot, model = robots.load(name), mujoco_of(name)
    data = mujoco.MjData(model)
    base = 7 if robot.floating else 0
    if base:
        data.qpos[:7] = *q[:3], q[6], *q[3:6]
    for joint in robot.joints:
        if joint.kind == "fixed":
            continue
        mimic = joint.mimic
        value = q[base + robot.index[mimic.of if mimic else joint.name]]
        data.joint(joint.name).qpos[:] = mimic.ratio * value + mimic.offset if mimic else value
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)
    deepest = {}
    for contact in data.contact:
        pair = frozenset(model.body(model.geom_bodyid[geom]).name for geom in contact.geom)
        deepest[pair] = min(contact.dist, deepest.get(pair, 0.0))
    return deepest


def bodies(robot):
    """The link at the root of what a link is fixed to."""
    root = {link.name: link.name for link in robot.links}
    for joint in robot.joints:
        if joint.kind == "fixed":
            root[joint.child] = root[joint.parent]
    return root


@pytest.mark.slow(but="trikey")
@pytest.mark.parametrize("name", NAMES)
def test_what_touches_by_more_than_a_millimetre_touches_in_mujoco_too(name):
    collisions = collisions_of(name, 0.0)
    root = bodies(collisions.robot)
    for seed in range(40):
        q = collisions.model.random(seed)
        theirs = {frozenset(root[each] for each in pair): depth for pair, depth in mujoco_touches(name, q).items()}
        ours = {frozenset((root[one], root[other])): depth for one, other, depth in collisions.check(q)}
        assert {pair for pair, depth in ours.items() if depth < -1e-3} <= theirs.keys()
        assert {pair for pair, depth in theirs.items() if depth < -1e-3} <= ours.keys()


@pytest.mark.parametrize("name", NAMES)
def test_the_robots_own_postures_are_free(name):
    collisions = collisions_of(name)
    for posture in collisions.robot.postures:
        assert collisions.check(collisions.model.posture(posture)) == []


@pytest.mark.parametrize("name", NAMES)
def test_margin_only_adds(name):
    plain, grown = collisions_of(name, 0.0), collisions_of(name)
    for seed in range(10):
        q = plain.model.random(seed)
        names = {(touch.one, touch.other) for touch in grown.check(q)}
        assert {(touch.one, touch.other) for touch in plain.check(q) if touch.distance < -1e-5} <= names


@pytest.mark.parametrize("name", NAMES)
def test_all_ways_of_asking_agree(name):
    collisions = collisions_of(name)
    for seed in range(20):
        snapshot = collisions.model.at(collisions.model.random(seed))
        touches = collisions.check(snapshot)
        nearest = collisions.distance(snapshot)
        assert collisions.collides(snapshot) == bool(touches)
        if touches:
            assert nearest.distance == pytest.approx(touches[0].distance, abs=1e-4)
        else:
            assert nearest.distance > -1e-5


def test_the_base_does_not_matter_and_may_be_left_out():
    collisions = collisions_of("hubo2plus")
    for seed in range(5):
        q = collisions.model.random(seed)
        names = {(touch.one, touch.other) for touch in collisions.check(q) if touch.distance < -1e-5}
        assert names <= {(touch.one, touch.other) for touch in collisions.check(q[7:])}


def test_a_hand_in_the_other_forearm_collides():
    collisions = collisions_of("hubo2plus")
    robot = collisions.robot
    joints = robot.posture("stand")
    for arm, side in (("R", 1.0), ("L", -1.0)):
        joints[robot.index[f"{arm}SP"]] = -0.6
        joints[robot.index[f"{arm}SY"]] = side * 1.2
        joints[robot.index[f"{arm}EB"]] = -1.6
    touches = collisions.check(joints)
    assert touches
    assert all({touch.one[5], touch.other[5]} == {"L", "R"} for touch in touches[:1])


def test_the_first_row_of_a_trajectory_that_collides_names_its_pair():
    collisions = collisions_of("hubo2plus")
    robot = collisions.robot
    rows = np.tile(robot.posture("stand"), (100, 1))
    rows[:, robot.index["LHR"]] = np.linspace(0.0, -0.4, 100)
    first = next(index for index, row in enumerate(rows) if collisions.collides(row))
    assert 0 < first < 99
    touch = collisions.check(rows[first])[0]
    assert {touch.one[5], touch.other[5]} == {"L", "R"}


def test_a_pair_to_ignore_is_not_reported():
    robot = robots.load("hubo2plus")
    everything = collisions_of("hubo2plus")
    q = next(q for q in map(everything.model.random, range(100)) if everything.check(q))
    touch = everything.check(q)[0]
    without = Collisions(everything.model, ignore=[(touch.one, touch.other)])
    assert (touch.one, touch.other) not in {(each.one, each.other) for each in without.check(q)}
    with pytest.raises(UnknownName, match="closest: 'Body_LAR'"):
        Collisions(robot, ignore=[("Body_LAR", "Body_RAX"), ("Body_LARR", "Body_RAR")][1:])


# Shapes whose distance is known.


def two(first, second):
    """Two shapes on sliding links, free to be anywhere: their links are not neighbours."""
    inertia = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
    links = (Link("rail", 1.0, inertia=inertia), Link("a", 1.0, inertia=inertia, shapes=(first,)))
    links += (Link("b", 1.0, inertia=inertia, shapes=(second,)),)
    joints = tuple(Joint(f"to_{each}", "prismatic", "rail", each, axis=(1.0, 0.0, 0.0)) for each in ("a", "b"))
    return Robot("two", links, joints, floating=False, postures={})


@given(gap=st.floats(-0.05, 0.3), margin=st.sampled_from([0.0, 0.05, 0.2]))
@settings(max_examples=20, deadline=None)
def test_the_distance_of_two_spheres_is_that_of_their_grown_radii(gap, margin):
    spheres = Collisions(two(Shape("sphere", (0.1,)), Shape("sphere", (0.2,), Placement((1.0, 0.0, 0.0)))), margin)
    expected = gap - 0.3 * margin
    q = np.array([0.0, 0.3 + gap - 1.0])
    assert spheres.distance(q).distance == pytest.approx(expected, abs=1e-6)
    assert spheres.collides(q) == (expected <= 0.0) or abs(expected) < 1e-6


@pytest.mark.parametrize(
    ("shape", "half"),
    [
        (Shape("box", (0.2, 0.4, 0.6)), 0.1),
        (Shape("cylinder", (0.1, 0.5)), 0.1),
        (Shape("capsule", (0.1, 0.5)), 0.1),
        (Shape("capsule", (0.1, 0.5), Placement(rpy=(0.0, np.pi / 2, 0.0))), 0.35),
        (Shape("cylinder", (0.1, 0.5), Placement(rpy=(0.0, np.pi / 2, 0.0))), 0.25),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_every_primitive_is_as_large_as_it_says(shape, half):
    pair = Collisions(two(shape, Shape("sphere", (0.1,), Placement((1.0, 0.0, 0.0)))), 0.0)
    assert pair.distance([0.0, 0.0]).distance == pytest.approx(0.9 - half, abs=1e-6)
    assert pair.check([0.0, half - 0.95])[0].distance == pytest.approx(-0.05, abs=1e-4)


def test_a_mesh_counts_as_its_hull(tmp_path):
    corners = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
    faces = ["1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"]
    path = tmp_path / "cube.obj"
    path.write_text("\n".join([*(f"v {x} {y} {z}" for x, y, z in corners), *(f"f {face}" for face in faces)]))
    cube = Shape("mesh", (1.0, 1.0, 1.0), mesh=path)
    pair = Collisions(two(cube, Shape("sphere", (0.1,), Placement((1.0, 0.0, 0.0)))), 0.0)
    assert pair.distance([0.0, 0.0]).distance == pytest.approx(0.8, abs=1e-6)
    assert pair.collides([0.0, -0.85])


def test_bad_input_is_refused():
    collisions = collisions_of("minihubo")
    for state in (np.zeros(3), np.full(collisions.model.nq, np.nan)):
        with pytest.raises(BadState):
            collisions.check(state)
    for margin in (-0.1, np.nan, np.inf):
        with pytest.raises(BadRobot, match="margin"):
            Collisions(collisions.model, margin)
    trikey = robots.load("trikey")
    with pytest.raises(BadRobot, match="no two shapes"):
        Collisions(trikey, ignore=[(a.name, b.name) for a in trikey.links for b in trikey.links if a != b]).distance(
            [0]
        )
