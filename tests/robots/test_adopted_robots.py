"""A YAML on top of a URDF or MJCF: what `wholebody robots adopt` writes, what it overrides, what is wrong in it."""

from dataclasses import replace

import pytest
from robot_processes import wholebody

from wholebody import robots
from wholebody.errors import BadRobot
from wholebody.robots.adoption import adopted
from wholebody.robots.formats.mjcf_writer import write_mjcf


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """HOAP-3, its ankles weaker, as an MJCF that says nothing but links and joints."""
    path = tmp_path_factory.mktemp("robot") / "small.xml"
    robot = robots.load("hoap3")
    weak = tuple(replace(j, effort=0.3 * j.effort) if j.name.endswith("_AAA") else j for j in robot.joints)
    bare = replace(robot, name="small", joints=weak, groups={}, surfaces=(), sensors=(), postures={}, gains={}, gaps=())
    path.write_text(write_mjcf(bare))
    return path


def loaded(file, *lines):
    path = file.with_name("told.yaml")
    path.write_text("\n".join(["base: small.xml", *lines]))
    return robots.load(path)


def test_what_is_written_is_short_and_gives_the_same_robot(file):
    robot, path = robots.load(file), file.with_name("same.yaml")
    text = adopted(robot, file, path)
    path.write_text(text)
    same = robots.load(path)
    assert len(text.splitlines()) < 30
    for what in ("surfaces", "sensors", "gains"):
        assert set(getattr(same, what)) == set(getattr(robot, what))
    assert same.groups == robot.groups
    assert same.gains == robot.gains
    assert same.postures == robot.postures


@pytest.mark.parametrize(
    ("lines", "what", "is_"),
    [
        (["groups: {left_leg: 'L_KN'}"], lambda r: r.groups["left_leg"], ("L_KN",)),
        (["gains: {'*': {stiffness: 7, damping: 1}}"], lambda r: {g.stiffness for g in r.gains.values()}, {7.0}),
        (["sensors: {imu: {kind: imu, link: CHEST}}"], lambda r: [s.link for s in r.sensors_of("imu")], ["CHEST"]),
        (["postures: {stand: {L_KN: 0.5}}"], lambda r: r.postures["stand"], {"L_KN": 0.5}),
        (
            ["joints: {'?_KN': {effort: 3, range: [0, 2]}}"],
            lambda r: (r.joint("L_KN").effort, r.joint("R_KN").upper),
            (3, 2),
        ),
        (
            ["surfaces: {left_sole: {link: L_AAA, at: [0, 0, 0], outline: [[1, 0], [0, 1], [-1, 0]]}}"],
            lambda r: len(r.surface("left_sole").outline),
            3,
        ),
        (
            ["title: Small", "rotor_inertias: {'*': 0.5}"],
            lambda r: (r.title, r.joint("L_KN").rotor_inertia),
            ("Small", 0.5),
        ),
    ],
)
def test_each_inference_can_be_told_otherwise(file, lines, what, is_):
    assert what(robots.load(file)) != is_
    assert what(loaded(file, *lines)) == is_


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["grups: {left_leg: 'L_KN'}"], "told.yaml:2: unknown entry 'grups'; say groups"),
        (
            ["groups:", "  left_leg: 'L_KN'", "  right_leg: 'R_KX'"],
            "told.yaml:4: no joint matches 'R_KX'; closest: 'R_KN'",
        ),
        (["joints: {L_KX: {effort: 3}}"], "told.yaml:2: no joint matches 'L_KX'"),
        (
            ["joints:", "  L_KN: {efort: 3}"],
            "told.yaml:3: unknown figure 'efort' of joints; known: range, velocity, effort",
        ),
        (["sensors:", "  imu: {kind: imu, link: CHST}"], "told.yaml:3: .*CHST.*CHEST"),
        (
            ["surfaces:", "  left_sole: {link: L_AAA, at: [0, x, 0], size: [1, 1]}"],
            "told.yaml:3: surface 'left_sole' cannot",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(file, lines, says):
    with pytest.raises(BadRobot, match=says):
        loaded(file, *lines)


def test_a_base_that_is_not_there_is_refused(tmp_path):
    (tmp_path / "told.yaml").write_text("title: x\nbase: none.xml\n")
    with pytest.raises(BadRobot, match=r"told.yaml:2: there is no file .*none.xml"):
        robots.load(tmp_path / "told.yaml")


def test_adopt_says_what_it_found_draws_it_and_writes_a_file_to_be_named_as_a_robot(file):
    run = wholebody("robots", "adopt", file, timeout=120)
    said = " ".join(run.stdout.split())
    for word in ("left_sole", "lowest flat part of the box that collides", "stand", "gains", "taken to be in the root"):
        assert word in said
    assert file.with_suffix(".png").stat().st_size > 1000
    shown = wholebody("robots", "show", file.with_suffix(".yaml"), timeout=120)
    assert "inferred" in shown.stdout
    again = wholebody("robots", "adopt", file, check=False, timeout=120)
    assert again.returncode == 1
    assert "is there already" in again.stderr


def test_of_a_robot_without_two_legs_adopt_says_why_it_cannot_walk(tmp_path):
    robot = robots.load("trikey")
    (tmp_path / "car.xml").write_text(write_mjcf(replace(robot, sensors=(), postures={}, gains={})))
    run = wholebody("robots", "adopt", tmp_path / "car.xml", timeout=120)
    assert "it cannot walk: no limb of 3 joints or more" in run.stdout
    walk = wholebody("walk", tmp_path / "car.yaml", "--no-film", check=False, timeout=120)
    assert walk.returncode == 1
    assert "no limb of 3 joints or more" in " ".join(walk.stderr.split())
