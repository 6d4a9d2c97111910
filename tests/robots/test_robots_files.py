import textwrap
import warnings

import mujoco
import numpy as np
import pytest
from robot_dynamics import assert_equal, by_mujoco, by_pinocchio, example_robot, random_state

from wholebody import robots
from wholebody.errors import BadRobot, RobotWarning, UnknownName
from wholebody.robots.formats.mjcf_writer import write_mjcf
from wholebody.robots.formats.urdf import write_urdf

pytestmark = pytest.mark.filterwarnings("ignore:.*lacks what is dangerous to lack")

# name: file, moving joints, mass in kg, must be repaired
EXAMPLES = {
    "talos": ("talos_data/robots/talos_full_v2.urdf", 32, 93.3357, False),
    "icub": ("icub_description/robots/icub.urdf", 32, 28.3469, True),
    "romeo": ("romeo_description/urdf/romeo.urdf", 33, 40.5294, True),
    "g1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", 29, 33.3411, False),
    "simple_humanoid": ("simple_humanoid_description/urdf/simple_humanoid.urdf", 29, 130.8, False),
}


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.filterwarnings("ignore::wholebody.errors.RobotWarning")
def test_humanoids_of_others_load_and_agree_in_both_engines(name):
    file, joints, mass, repair = EXAMPLES[name]
    robot = robots.load(example_robot(file), repair=repair)
    assert len(robot.moving) == joints
    assert robot.mass == pytest.approx(mass, abs=0.03)
    model = mujoco.MjModel.from_xml_string(write_mjcf(robot))
    generator = np.random.default_rng(0)
    for _ in range(2):
        state = random_state(robot, generator)
        assert_equal(by_pinocchio(robot, state), by_mujoco(model, robot, state))


@pytest.mark.parametrize("name", [name for name, (*_, repair) in EXAMPLES.items() if repair])
def test_what_no_body_can_be_is_refused_until_repair_is_asked_for(name):
    file = example_robot(EXAMPLES[name][0])
    with pytest.raises(BadRobot, match=r"link '.*repair=True"):
        robots.load(file)
    with pytest.warns(RobotWarning, match="link '"):
        robots.load(file, repair=True)


# --- bad input ----------------------------------------------------------------------------------------

LINK = '<link name="{0}"> <inertial> <mass value="1"/> <inertia ixx=".1" iyy=".1" izz=".1"/> </inertial> {1} </link>'
JOINT = (
    '<joint name="{0}" type="revolute"> <parent link="{1}"/> <child link="{2}"/> <axis xyz="0 1 0"/>'
    '<limit lower="-1" upper="1" effort="5" velocity="2"/> </joint>'
)
A, B, C = (LINK.format(name, "") for name in "abc")
AB, BC = JOINT.format("ab", "a", "b"), JOINT.format("bc", "b", "c")


def urdf(folder, *parts):
    path = folder / "robot.urdf"
    path.write_text(f'<robot name="test"> {" ".join(parts)} </robot>')
    return path


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        (
            (A, B.replace('mass value="1"', 'mass value="0"').replace(".1", "0"), AB),
            "'ab' moves link 'b', which has no mass",
        ),
        ((A, '<link name="b"/>', AB), "'ab' moves link 'b', which has no mass"),
        ((A, B.replace('".1"', '"0"'), AB), "'ab' moves link 'b', which has no inertia"),
        ((A, B.replace('mass value="1"', 'mass value="-2"'), AB), "'b' has a negative mass, -2"),
        ((A, B.replace('izz=".1"', 'izz=".9"'), AB), r"'b' has an inertia.*0.9.*triangle inequality.*repair=True"),
        ((A, B.replace('ixx=".1"', 'ixx="-.1"'), AB), r"'b' has an inertia.*-0.1.*none may be negative"),
        ((A, B.replace('ixx=".1"', 'ixx="nan"'), AB), 'ixx="nan"'),
        ((A, B, AB.replace('lower="-1" upper="1"', "")), "'ab' is revolute but has no limits.*continuous"),
        ((A, B, AB.replace("<limit", "<unlimited")), "'ab' is revolute but has no limits"),
        ((A, B, AB.replace('lower="-1"', 'lower="3"')), "'ab' has limits 3 to 1"),
        ((A, B, AB.replace("revolute", "planar")), "'ab' is of unknown kind 'planar'; known: revolute"),
        ((A, B, AB.replace("0 1 0", "0 0 0")), "'ab' turns about no axis"),
        ((A, B, AB.replace("0 1 0", "0 1")), 'xyz="0 1" should be 3 numbers'),
        ((A, B, C, AB, JOINT.format("cb", "c", "b")), "'b' hangs from two joints, 'ab' and 'cb'"),
        ((A, B, C, BC, JOINT.format("cb", "c", "b")), "joints bc, cb form a closed loop"),
        ((A, B, AB, JOINT.format("ba", "b", "a")), "no root"),
        ((A, B, C, AB), "2 roots: a, c; join them"),
        ((A, B, JOINT.format("ab", "a", "x")), "'ab' has child 'x', but there is no such link"),
        ((A, B, A, AB), "two links are called 'a'"),
        ((A, B, C, AB, JOINT.format("ab", "b", "c")), "two joints are called 'ab'"),
        ((A, LINK.format("", ""), AB), "a link has no name"),
        ((), "describes no links"),
        ((A, B.replace("<mass", "<weight"), AB), "'b' has an <inertial> without <mass>"),
        ((A, B, AB.replace("</joint>", '<mimic joint="zz"/> </joint>')), "'ab' mimics 'zz'"),
    ],
)
def test_a_bad_urdf_is_refused_with_the_name_of_what_is_wrong(tmp_path, parts, says):
    with pytest.raises(BadRobot, match=says):
        robots.load(urdf(tmp_path, *parts))


def test_what_is_no_robot_at_all_is_refused(tmp_path):
    path = tmp_path / "robot.urdf"
    for text, says in (("no xml", "not XML"), ("<sdf/>", "no URDF.*<sdf>")):
        path.write_text(text)
        with pytest.raises(BadRobot, match=says):
            robots.load(path)
    with pytest.raises(BadRobot, match="there is no file"):
        robots.load(tmp_path / "gone.urdf")
    (tmp_path / "robot.txt").write_text("")
    with pytest.raises(BadRobot, match="neither a URDF"):
        robots.load(tmp_path / "robot.txt")
    with pytest.raises(UnknownName, match=r"no robot 'hubo'; closest: .*'hubo2plus'"):
        robots.load("hubo")


def test_a_missing_mesh_is_an_error_to_collide_with_and_a_warning_to_look_at(tmp_path):
    mesh = '<{0}> <geometry> <mesh filename="package://gone/part.stl"/> </geometry> </{0}>'
    with pytest.raises(BadRobot, match=r"'b' collides with mesh 'package://gone/part.stl', which is not there"):
        robots.load(urdf(tmp_path, A, LINK.format("b", mesh.format("collision")), AB))
    with pytest.warns(RobotWarning, match=r"looks like meshes of .* that are not there"):
        robot = robots.load(urdf(tmp_path, A, LINK.format("b", mesh.format("visual")), AB))
    assert not robot.link("b").shapes


def test_a_posture_outside_the_limits_is_refused():
    links = tuple(robots.Link(name, 1.0, inertia=(1, 1, 1, 0, 0, 0)) for name in "ab")
    joint = robots.Joint("ab", "revolute", "a", "b", lower=-1, upper=1)
    with pytest.raises(BadRobot, match="posture 'stand' puts joint 'ab' at 2, outside its limits -1 to 1"):
        robots.Robot("test", links, (joint,), postures={"stand": {"ab": 2.0}})
    with pytest.raises(UnknownName, match="no joint 'ba'"):
        robots.Robot("test", links, (joint,), postures={"stand": {"ba": 0.0}})
    with pytest.raises(UnknownName, match="no posture 'sit'"):
        robots.Robot("test", links, (joint,)).posture("sit")


DAE = """
<COLLADA> <asset> <unit meter="0.01"/> <up_axis>Y_UP</up_axis> </asset>
  <library_geometries> <geometry id="g"> <mesh>
    <source id="p"> <float_array>0 0 0 10 0 0 10 20 0 10 20 40</float_array> </source>
    <vertices id="v"> <input semantic="POSITION" source="#p"/> </vertices>
  </mesh> </geometry> </library_geometries>
  <library_visual_scenes> <visual_scene> <node> <translate>1 0 0</translate> <instance_geometry url="#g"/> </node>
  </visual_scene> </library_visual_scenes>
</COLLADA>
"""


def test_a_mesh_that_mujoco_cannot_read_collides_as_its_bounding_box_and_is_not_seen(tmp_path):
    (tmp_path / "part.dae").write_text(textwrap.dedent(DAE))
    mesh = '<{0}> <geometry> <mesh filename="part.dae" scale="1 1 2"/> </geometry> </{0}>'
    both = mesh.format("collision") + mesh.format("visual").replace("1 1 2", "1 1 3")
    robot = robots.load(urdf(tmp_path, A, LINK.format("b", both), AB))
    with pytest.warns(RobotWarning) as caught:
        model = mujoco.MjModel.from_xml_string(write_mjcf(robot))
    texts = sorted(str(each.message) for each in caught)
    assert "part.dae collides as its bounding box: MuJoCo does not read .dae" in texts[0]
    assert "part.dae is not shown" in texts[1]
    assert model.ngeom == 1
    np.testing.assert_allclose(model.geom_size[0], (0.05, 0.2, 0.2), atol=1e-9)
    np.testing.assert_allclose(model.geom_pos[0], (0.06, -0.2, 0.2), atol=1e-9)


def test_a_mesh_with_too_many_faces_collides_as_its_bounding_box(tmp_path):
    faces = 200_001
    corners = np.zeros(faces, np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")]))
    corners["corners"] = np.random.default_rng(0).uniform(-1, 1, (faces, 3, 3))
    corners["corners"][0] = ((-1, -2, -3), (1, 2, 3), (0, 0, 0))
    (tmp_path / "part.stl").write_bytes(bytes(80) + np.uint32(faces).tobytes() + corners.tobytes())
    mesh = '<collision> <geometry> <mesh filename="part.stl"/> </geometry> </collision>'
    robot = robots.load(urdf(tmp_path, A, LINK.format("b", mesh), AB))
    with pytest.warns(RobotWarning, match="200001 faces"):
        model = mujoco.MjModel.from_xml_string(write_mjcf(robot))
    np.testing.assert_allclose(model.geom_size[0], (1, 2, 3), atol=1e-6)


def test_a_written_urdf_reads_back_as_the_same_robot(tmp_path):
    hubo = robots.load("hubo2plus")
    path = tmp_path / "hubo.urdf"
    path.write_text(write_urdf(hubo))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = robots.load(path)
    assert again.joint_names == hubo.joint_names
    for one, other in zip(again.joints, hubo.joints, strict=True):
        assert (one.at, one.axis, one.lower, one.effort, one.mimic) == (
            other.at,
            other.axis,
            other.lower,
            other.effort,
            other.mimic,
        )
    assert [link.inertia for link in again.links] == [link.inertia for link in hubo.links]
