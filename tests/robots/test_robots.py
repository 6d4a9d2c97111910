import subprocess
import sys

import mujoco
import numpy as np
import pytest
from robot_dynamics import assert_equal, by_mujoco, by_pinocchio, random_state

from wholebody import plugins, robots
from wholebody.errors import BadRobot
from wholebody.robots import geometry
from wholebody.robots.formats.mjcf_writer import write_mjcf

NAMES = (
    "atlas atlas_v5 dreamer dreamer_full hoap3 hrp2 hubo2plus minihubo teo trikey valkyrie".split()  # noqa: SIM905
)
JOINTS = {
    "atlas": 28,
    "atlas_v5": 30,
    "dreamer": 16,
    "dreamer_full": 37,
    "hoap3": 26,
    "hrp2": 30,
    "hubo2plus": 38,
    "minihubo": 22,
    "teo": 28,
    "trikey": 3,
    "valkyrie": 32,
}
ACH_JOINTS = """
    WST NKY NK1 NK2 LSP LSR LSY LEB LWY LWR LWP RSP RSR RSY REB RWY RWR RWP LHY LHR LHP LKN LAP LAR
    RHY RHR RHP RKN RAP RAR RF1 RF2 RF3 RF4 RF5 LF1 LF2 LF3 LF4 LF5
"""
LEGGED = [name for name in NAMES if name not in ("dreamer", "dreamer_full", "trikey")]
MIRROR = np.diag([1.0, -1.0, 1.0])


@pytest.fixture(scope="module")
def all_robots():
    return {name: robots.load(name) for name in NAMES}


def test_all_our_robots_are_found_by_name():
    assert set(NAMES) <= set(robots.names())


def test_another_package_adds_a_robot_by_entry_point(monkeypatch, tmp_path):
    (tmp_path / "their_robot.py").write_text(
        "from wholebody import robots\n\ndef robot():\n    return robots.load('minihubo')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    found = {"theirs": "their_robot", "broken": "no_such_package", "empty": "wholebody.errors"}
    monkeypatch.setattr(plugins, "_table", lambda kind: found)
    assert set(robots.names()) - set(NAMES) == {"broken", "empty", "theirs"}
    assert robots.load("theirs").mass == pytest.approx(2.9)
    with pytest.raises(BadRobot, match="'broken' cannot be imported from no_such_package"):
        robots.load("broken")
    with pytest.raises(BadRobot, match=r"'empty'.*robot\(\)"):
        robots.load("empty")


def test_a_robot_is_read_from_a_yaml_file_by_its_path(tmp_path):
    path = tmp_path / "pendulum.yaml"
    path.write_text(
        "title: Pendulum\nfloating: false\n"
        "links: {post: {}, rod: {mass: 1, com: [0, 0, -0.5], lumps: [{sphere: [0.1], at: [0, 0, -1], mass: 2}]}}\n"
        "joints: {swing: {parent: post, child: rod, axis: [0, 1, 0], kind: continuous}}\n"
        "gains: {'s*': {stiffness: 5, damping: 1}}\n"
    )
    robot = robots.load(path)
    assert (robot.name, robot.title, robot.floating, robot.gains["swing"].stiffness) == (
        "pendulum",
        "Pendulum",
        False,
        5,
    )
    assert robot.mass == pytest.approx(3.0)
    assert robot.link("rod").com == pytest.approx((0, 0, -2.5 / 3))
    assert robots.load(path, floating=True).floating


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("links: [", "cannot be read"),
        ("a word", "is no description"),
        ("links: {hip: {weight: 3}}\njoints: {}", "link 'hip'.*weight"),
        ("links: {hip: {}}\njoints: {knee: {parent: hip}}", "joint 'knee'.*child"),
        ("links: {hip: {mass: heavy}}\njoints: {}", "link 'hip'.*heavy"),
        ("links: {hip: {}}", "joints"),
        ("links: {hip: {}}\njoints: {}\nfeet: 2", "feet"),
    ],
)
def test_what_is_wrong_in_a_yaml_file_is_named(tmp_path, text, wrong):
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    with pytest.raises(BadRobot, match=wrong):
        robots.load(path)


def test_loading_robots_imports_neither_engine_nor_compiler():
    code = (
        "import sys, wholebody.robots as r; [r.load(n) for n in r.names()];"
        "print(sorted({'pinocchio', 'mujoco', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", NAMES)
def test_both_engines_and_the_data_agree(all_robots, name):
    robot = all_robots[name]
    model = mujoco.MjModel.from_xml_string(write_mjcf(robot))
    generator = np.random.default_rng(0)
    for _ in range(20):
        state = random_state(robot, generator)
        one, other = by_pinocchio(robot, state), by_mujoco(model, robot, state)
        assert_equal(one, other)
        assert one.mass == pytest.approx(robot.mass, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_a_robot_says_what_it_is_and_what_is_not_known(all_robots, name):
    robot = all_robots[name]
    assert robot.name == name
    assert len(robot.moving) == JOINTS[name]
    assert robot.title
    assert "commit" in robot.source or name == "hrp2"
    assert robot.gaps
    assert {"home", "stand"} <= set(robot.postures)
    assert robot.sensors_of("imu")
    assert robot.sensors_of("camera")
    grouped = [joint for members in robot.groups.values() for joint in members]
    assert sorted(grouped) == sorted(robot.joint_names)
    for joint in robot.moving:
        assert joint.rotor_inertia > 0
        assert np.isfinite([joint.velocity, joint.effort]).all()
        assert (joint.name in robot.gains) == joint.actuated


@pytest.mark.parametrize("name", NAMES)
def test_the_mass_is_within_a_hundredth_of_the_published_one(all_robots, name):
    robot = all_robots[name]
    if robot.published_mass is None:
        assert any(gap.startswith("mass") for gap in robot.gaps)
    else:
        assert robot.mass == pytest.approx(robot.published_mass, rel=0.01)


@pytest.mark.parametrize("name", LEGGED)
@pytest.mark.parametrize("posture", ["home", "stand"])
def test_a_legged_robot_stands_level_with_its_mass_over_its_soles(all_robots, name, posture):
    robot = all_robots[name]
    positions = robot.posture(posture)
    root_to_world = geometry.standing(robot, posture)
    where = geometry.placements(robot, positions)
    corners = []
    for side in ("right_sole", "left_sole"):
        sole = robot.surface(side)
        sole_to_world = root_to_world @ where[sole.link] @ sole.at.matrix
        np.testing.assert_allclose(sole_to_world[:3, :3], np.eye(3), atol=1e-6)
        assert abs(sole_to_world[2, 3]) < 1e-6
        corners += [(sole_to_world @ [x, y, 0, 1])[:2] for x, y in sole.outline]
    com = (root_to_world @ [*geometry.com(robot, positions), 1.0])[:2]
    low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    length = high[0] - low[0]
    margin = min(np.min(com - low), np.min(high - com))
    assert margin > length * (0.35 if posture == "stand" else 0.2)
    state = (root_to_world[:3, 3], quaternion(root_to_world), joint_values(robot, positions))
    np.testing.assert_allclose(by_pinocchio(robot, state).com[:2], com, atol=1e-9)


def quaternion(placement):
    wxyz = np.zeros(4)
    mujoco.mju_mat2Quat(wxyz, placement[:3, :3].flatten())
    return np.roll(wxyz, -1)


def joint_values(robot, positions):
    values = dict(zip(robot.joint_names, positions, strict=True))
    for joint in robot.joints:
        if joint.mimic is not None:
            values[joint.name] = joint.mimic.ratio * values[joint.mimic.of] + joint.mimic.offset
    return values


@pytest.mark.parametrize("name", NAMES)
def test_no_link_runs_into_another_in_a_named_posture(all_robots, name):
    robot = all_robots[name]
    model = mujoco.MjModel.from_xml_string(write_mjcf(robot))
    for posture in robot.postures:
        data = mujoco.MjData(model)
        for joint, value in joint_values(robot, robot.posture(posture)).items():
            data.joint(joint).qpos = value
        mujoco.mj_forward(model, data)
        touching = {tuple(model.body(model.geom_bodyid[g]).name for g in contact.geom) for contact in data.contact}
        assert not touching, posture


def left_of(name):
    """The name of the other side, as our robots spell it."""
    for right, left in (("Body_R", "Body_L"), ("right", "left")):
        if right in name:
            return name.replace(right, left)
    return {"r_": "l_", "R": "L"}.get(name[:2], {"R": "L"}.get(name[:1], name[:1])) + name[
        2 if name[:2] == "r_" else 1 :
    ]


@pytest.mark.parametrize("name", LEGGED)
def test_left_mirrors_right(all_robots, name):
    robot = all_robots[name]
    where = geometry.placements(robot, robot.posture("stand"))
    unlike_in_source = {"valkyrie": 0.05, "atlas_v5": 0.003, "hoap3": 0.001}
    links = {link.name: link for link in robot.links}
    pairs = [(link, links[left_of(link.name)]) for link in robot.links if left_of(link.name) in links]
    pairs = [(one, other) for one, other in pairs if one is not other]
    assert len(pairs) >= 10
    for right, left in pairs:
        np.testing.assert_allclose(MIRROR @ where[right.name][:3, 3], where[left.name][:3, 3], atol=1e-8)
        assert right.mass == pytest.approx(left.mass)
        coms = [(where[link.name] @ [*link.com, 1.0])[:3] for link in (right, left)]
        np.testing.assert_allclose(MIRROR @ coms[0], coms[1], atol=unlike_in_source.get(name, 1e-6))


@pytest.mark.parametrize("name", [name for name in LEGGED if name not in ("hoap3", "teo")])  # whose drives differ
def test_left_joints_reach_as_far_as_right_ones(all_robots, name):
    robot = all_robots[name]
    where = geometry.placements(robot, robot.posture("stand"))
    for right in robot.moving:
        left = next((j for j in robot.moving if j.name == left_of(right.name) and j is not right), None)
        if left is not None:
            axes = [where[joint.child][:3, :3] @ joint.axis for joint in (right, left)]
            sign = -1.0 if np.allclose(axes[1], MIRROR @ axes[0], atol=1e-3) else 1.0
            np.testing.assert_allclose(axes[1], -sign * MIRROR @ axes[0], atol=1e-3)
            assert sorted((sign * right.lower, sign * right.upper)) == pytest.approx([left.lower, left.upper], abs=1e-6)
            assert (right.effort, right.velocity) == pytest.approx((left.effort, left.velocity))


def test_hubo_has_the_joints_of_hubo_ach(all_robots):
    hubo = all_robots["hubo2plus"]
    assert hubo.joint_names[:6] == ("RHY", "RHR", "RHP", "RKN", "RAP", "RAR")
    assert hubo.joint_names[12] == "WST"
    assert hubo.joint_names[-1] == "LF5"
    assert set(hubo.joint_names) == set(ACH_JOINTS.split()) - {"RWR", "LWR"}
    mini = all_robots["minihubo"]
    assert set(mini.joint_names) - {"NK"} <= set(hubo.joint_names)
    for name in set(mini.joint_names) - {"NK"}:
        assert mini.joint(name).axis == hubo.joint(name).axis


def test_dreamer_drives_both_torso_joints_with_one_motor(all_robots):
    dreamer = all_robots["dreamer"]
    assert sum(joint.actuated for joint in dreamer.moving) == 15
    assert not dreamer.floating
    assert dreamer.couplings[0].slave == "torso_upper_pitch"
    assert robots.load("dreamer", floating=True).floating


def test_trikey_turns_its_wheels_as_its_own_controller_says(all_robots):
    """ω = H [ω_z, v_x, v_y] of the robot's own software, against where our wheels stand and turn."""
    trikey = all_robots["trikey"]
    s, L, r = np.sin(4 * np.pi / 3), 0.272, 0.098
    H = -np.array([[L, s, -0.5], [L, -s, -0.5], [L, 0, 1]]) / r
    where = geometry.placements(trikey, np.zeros(3))
    for row, joint in zip(H, trikey.moving, strict=True):
        hub = where[joint.child][:3, 3]
        axis = where[joint.child][:3, :3] @ joint.axis
        forward = np.cross([0, 0, 1], axis)  # the direction in which the rim moves under the hub, per −ω r
        speeds = [forward @ np.cross([0, 0, 1], hub), forward[0], forward[1]]
        np.testing.assert_allclose(-np.array(speeds) / r, row, atol=1e-9)


def test_locking_joints_keeps_mass_and_places(all_robots):
    full = all_robots["dreamer_full"]
    angles = {"torso_yaw": 0.3, "right_elbow": 1.0}
    locked = full.locked(angles)
    assert len(locked.moving) == len(full.moving) - 2
    q = np.array([angles.get(name, 0.1) for name in full.joint_names])
    kept = np.array([0.1] * len(locked.moving))
    one, other = geometry.placements(full, q), geometry.placements(locked, kept)
    for link in one:
        np.testing.assert_allclose(one[link], other[link], atol=1e-12)


def test_states_and_references_have_the_robots_own_layout(all_robots):
    hubo = all_robots["hubo2plus"]
    assert hubo.state_dtype() != all_robots["atlas"].state_dtype()
    assert hubo.reference_dtype().names


def test_atlas_crawls_on_wrists_and_knees(all_robots):
    atlas = all_robots["atlas"]
    positions = atlas.posture("crawl")
    root_to_world = geometry.standing(atlas, "crawl")
    where = geometry.placements(atlas, positions)
    points = []
    for name in ("right_palm", "left_palm", "left_knee", "right_knee"):
        surface = atlas.surface(name)
        touching = root_to_world @ where[surface.link] @ surface.at.matrix
        assert abs(touching[2, 3]) < 1e-3
        assert touching[2, 2] > 0.95
        points.append(touching[:2, 3])
    com = (root_to_world @ [*geometry.com(atlas, positions), 1.0])[:3]
    (front, right), (back, _) = np.max(points, axis=0), np.min(points, axis=0)
    assert back + 0.2 < com[0] < front - 0.2
    assert abs(com[1]) < 0.01 < right
    lowest, _ = geometry.extent(atlas, positions, root_to_world)
    assert lowest[2] > -2e-3
