import textwrap
from pathlib import Path

import mujoco
import numpy as np
import pytest
from robot_dynamics import assert_equal, by_mujoco, by_pinocchio, random_state

from wholebody import robots
from wholebody.errors import BadRobot, RobotWarning
from wholebody.robots.formats.mjcf_reader import read_mjcf
from wholebody.robots.formats.mjcf_writer import write_mjcf

pytestmark = pytest.mark.filterwarnings("ignore:.*lacks what is dangerous to lack")

DEFAULTS = """
<mujoco model="walker">
  <compiler angle="degree" eulerseq="ZYX"/>
  <default>
    <geom density="800" friction="1 .1 .1"/>
    <joint armature="0.01" damping="0.2" range="-90 90"/>
    <default class="leg">
      <geom type="capsule" size="0.04"/>
      <joint axis="0 1 0"/>
      <default class="foot"> <geom type="box" size="0.1 0.05 0.02" density="1200"/> <joint range="-30 30"/> </default>
    </default>
    <default class="seen"> <geom contype="0" conaffinity="0" mass="0"/> </default>
    <motor ctrlrange="-1 1" gear="100"/>
  </default>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <light pos="0 0 3"/>
    <body name="trunk" pos="0 0 1.2">
      <freejoint name="root"/>
      <geom name="trunk" type="box" size="0.1 0.2 0.3" euler="10 20 30"/>
      <geom type="sphere" size="0.12" pos="0 0 0.45" mass="3.5"/>
      <geom class="seen" type="cylinder" size="0.3 0.01" pos="0 0 0.6"/>
      <geom type="cylinder" size="0.05" fromto="0 -0.3 0.25 0 0.3 0.2"/>
      <site name="gyro" pos="0.01 0.02 0.03" axisangle="0 0 1 45"/>
      <camera name="eye" pos="0.1 0 0.5" xyaxes="0 -1 0 0 0 1"/>
      <body name="thigh" pos="0 -0.1 -0.3" childclass="leg" quat="0.9 0.1 0.2 -0.1">
        <joint name="hip_z" axis="0 0 1" pos="0 0 0.02"/>
        <joint name="hip_x" axis="1 0 0" pos="0.01 0.02 0"/>
        <joint name="hip_y" pos="0 0 0.05" ref="15"/>
        <geom fromto="0 0 0 0 0.05 -0.4"/>
        <body name="shin" pos="0 0 -0.42">
          <joint name="knee" range="-150 0" armature="0.02"/>
          <geom fromto="0 0 0 0 0 -0.4"/>
          <frame pos="0 0 -0.42" euler="0 0 5">
            <body name="foot" zaxis="0.1 0 1">
              <joint name="ankle" class="foot" pos="0 0 0.03"/>
              <joint name="toe" class="foot" axis="1 0 0" pos="0 0 0.03"/>
              <geom class="foot" pos="0.05 0 0"/>
              <site name="sole"/>
            </body>
          </frame>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="hip_z"/> <motor joint="hip_x"/> <motor joint="hip_y" gear="150"/>
    <motor joint="knee" ctrlrange="-2 2"/> <position joint="ankle" kp="50" gear="2" forcerange="-20 20"/>
  </actuator>
  <sensor> <gyro site="gyro"/> <accelerometer site="gyro"/> <force site="sole"/> <torque site="sole"/> </sensor>
  <contact> <exclude body1="trunk" body2="shin"/> </contact>
  <keyframe> <key name="crouch" qpos="0 0 1 1 0 0 0  0 0 0.3 -0.5 0.1 0"/> </keyframe>
</mujoco>
"""

EXPLICIT = """
<mujoco model="arm">
  <compiler angle="radian" autolimits="false" inertiafromgeom="auto" boundmass="0.2" boundinertia="0.001"/>
  <worldbody>
    <body name="post" pos="0.1 0.2 0.3" euler="0.1 0.2 0.3">
      <joint name="turn" type="hinge" axis="0 0 1" range="-1 1" limited="true"/>
      <inertial pos="0.01 0 0.1" mass="4" fullinertia="0.0011 0.0008 0.0012 0.0002 -0.0001 0.0003"/>
      <geom type="box" size="0.05 0.05 0.1" mass="99"/>
      <body name="slider" pos="0 0 0.2">
        <joint name="twist" axis="1 0 0"/>
        <joint name="lift" type="slide" axis="0 1 1" range="-0.1 0.3" limited="false" pos="0 0 1"/>
        <inertial pos="0 0.02 0" quat="0.7 0.1 0.3 0.2" mass="0.05" diaginertia="0.002 0.003 0.004"/>
        <body name="bracket" pos="0 0.1 0" axisangle="1 0 0 0.5">
          <geom type="ellipsoid" size="0.05 0.02 0.1" contype="0" conaffinity="0"/>
          <body name="jaw" pos="0.05 0 0">
            <joint name="grip" axis="0 1 0" frictionloss="0.1"/>
            <geom type="capsule" fromto="0 0 0 0.1 0 0" size="0.01"/>
          </body>
          <body name="other_jaw" pos="-0.05 0 0">
            <joint name="other_grip" axis="0 -1 0"/>
            <geom type="capsule" fromto="0 0 0 -0.1 0 0" size="0.01"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <equality> <joint joint1="other_grip" joint2="grip" polycoef="0.1 2 0 0 0"/> </equality>
</mujoco>
"""

TOTAL = """
<mujoco>
  <compiler settotalmass="12"/>
  <default> <geom density="500"/> </default>
  <worldbody>
    <body name="base"> <freejoint/> <geom type="box" size=".1 .1 .1"/>
      <body name="tip" pos="0.2 0 0"> <joint name="j" axis="1 1 0"/> <geom size=".05"/> </body>
    </body>
  </worldbody>
</mujoco>
"""


def written(folder: Path, text: str, name: str = "robot.xml") -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text))
    return path


@pytest.mark.filterwarnings("ignore:.*settotalmass.*deprecated")
@pytest.mark.parametrize("text", [DEFAULTS, TOTAL], ids=["defaults", "total"])
def test_a_read_mjcf_has_the_dynamics_that_mujoco_gives_it(tmp_path, text):
    path = written(tmp_path, text)
    robot = read_mjcf(path)
    original = mujoco.MjModel.from_xml_path(str(path))
    ours = mujoco.MjModel.from_xml_string(write_mjcf(robot))
    generator = np.random.default_rng(1)
    for _ in range(10):
        state = random_state(robot, generator)
        truth = by_mujoco(original, robot, state)
        assert_equal(by_pinocchio(robot, state), truth)
        assert_equal(by_mujoco(ours, robot, state), truth)


def test_a_robot_that_is_bolted_to_the_world_keeps_its_place(tmp_path):
    path = written(tmp_path, EXPLICIT)
    with pytest.warns(RobotWarning, match="ellipsoid"):
        robot = read_mjcf(path)
    assert not robot.floating
    assert robot.root == "world_base"
    original = mujoco.MjModel.from_xml_path(str(path))
    generator = np.random.default_rng(2)
    for _ in range(10):
        state = random_state(robot, generator)
        one, other = by_pinocchio(robot, state), by_mujoco(original, robot, state)
        assert_equal(one, other)


def a_bowl() -> np.ndarray:
    """A closed surface with a hollow: a box whose top is pushed in to a point, deep inside."""
    x, y, z = 0.1, 0.2, 0.3
    low = [(-x, -y, 0), (x, -y, 0), (x, y, 0), (-x, y, 0)]
    high = [(a, b, z) for a, b, _ in low]
    pit = (0.02, 0.03, 0.1)
    faces = [(low[0], low[2], low[1]), (low[0], low[3], low[2])]
    for i in range(4):
        k = (i + 1) % 4
        faces += [(low[i], low[k], high[k]), (low[i], high[k], high[i]), (high[i], high[k], pit)]
    return np.array(faces, float)


@pytest.mark.parametrize("inertia", ["legacy", "exact"])
@pytest.mark.parametrize("suffix", ["stl", "obj"])
@pytest.mark.parametrize("scaled", ['scale="1 2 0.5"', 'scale="2 2 2" refquat="1 1 0 0"'])
def test_a_mesh_weighs_what_mujoco_says_it_weighs(tmp_path, inertia, suffix, scaled):
    corners = a_bowl()
    (tmp_path / "parts").mkdir()
    if suffix == "stl":
        record = np.zeros(len(corners), np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")]))
        record["corners"] = corners
        (tmp_path / "parts" / "bowl.stl").write_bytes(bytes(80) + np.uint32(len(corners)).tobytes() + record.tobytes())
    else:
        points = "".join(f"v {x} {y} {z}\n" for x, y, z in corners.reshape(-1, 3))
        faces = "".join(f"f {3 * i + 1} {3 * i + 2} {3 * i + 3}\n" for i in range(len(corners)))
        (tmp_path / "parts" / "bowl.obj").write_text(points + faces)
    path = written(
        tmp_path,
        f"""
        <mujoco>
          <compiler meshdir="parts"/>
          <asset> <mesh file="bowl.{suffix}" {scaled} inertia="{inertia}"
            refpos="0.1 0.2 0.3"/> </asset>
          <worldbody>
            <body name="a"> <freejoint/> <geom size=".1"/>
              <body name="b" pos="0 0 1"> <joint name="j" axis="1 0 0"/>
                <geom type="mesh" mesh="bowl" pos="0.1 0.2 0.3" euler="10 20 30"/> </body>
            </body>
          </worldbody>
        </mujoco>
        """,
    )
    robot = read_mjcf(path)
    original = mujoco.MjModel.from_xml_path(str(path))
    generator = np.random.default_rng(4)
    for _ in range(3):
        state = random_state(robot, generator)
        # An STL keeps single precision, and so does MuJoCo's copy of a mesh.
        assert_equal(by_pinocchio(robot, state), by_mujoco(original, robot, state), tolerance=1e-6)
    again = mujoco.MjModel.from_xml_string(write_mjcf(robot))
    np.testing.assert_allclose(mesh_extent(again), mesh_extent(original), atol=1e-6)


def mesh_extent(model):
    """The box around the mesh in the world, whatever frame MuJoCo has given it."""
    data = mujoco.MjData(model)
    data.qpos[:7] = (0, 0, 0, 1, 0, 0, 0)
    mujoco.mj_forward(model, data)
    points = model.mesh_vert @ data.geom_xmat[1].reshape(3, 3).T + data.geom_xpos[1]
    return points.min(axis=0), points.max(axis=0)


def test_limits_gears_followers_and_keys_come_along(tmp_path):
    robot = robots.load(written(tmp_path, DEFAULTS))
    assert robot.floating
    assert robot.joint_names == ("hip_z", "hip_x", "hip_y", "knee", "ankle", "toe")
    assert robot.joint("knee").lower == pytest.approx(np.radians(-150))
    assert robot.joint("ankle").upper == pytest.approx(np.radians(30))
    assert [robot.joint(name).effort for name in ("hip_z", "hip_y", "knee", "ankle")] == [100, 150, 200, 40]
    assert not robot.joint("toe").actuated
    assert robot.joint("knee").rotor_inertia == 0.02
    assert robot.posture("crouch")[robot.index["knee"]] == -0.5
    assert robot.may_touch == {frozenset({"trunk", "shin"})}
    assert {sensor.name: sensor.kind for sensor in robot.sensors} == {
        "gyro": "imu",
        "sole": "force_torque",
        "eye": "camera",
    }
    with pytest.warns(RobotWarning):
        arm = robots.load(written(tmp_path, EXPLICIT))
    assert arm.joint_names == ("turn", "twist", "lift", "grip")
    assert arm.joint("other_grip").mimic == robots.Mimic("grip", 2.0, 0.1)
    assert arm.joint("grip").kind == "continuous"
    assert (arm.joint("lift").kind, arm.joint("lift").upper) == ("prismatic", np.inf)


def test_a_camera_looks_along_x_in_our_frame_and_along_minus_z_in_mujocos(tmp_path):
    robot = robots.load(written(tmp_path, DEFAULTS))
    eye = next(sensor for sensor in robot.sensors if sensor.kind == "camera")
    np.testing.assert_allclose(eye.at.rotation[:, 0], (1, 0, 0), atol=1e-12)
    np.testing.assert_allclose(eye.at.rotation[:, 2], (0, 0, 1), atol=1e-12)
    model = mujoco.MjModel.from_xml_string(write_mjcf(robot))
    original = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    assert abs(np.dot(model.cam_quat[0], original.cam_quat[0])) == pytest.approx(1)


def test_included_files_and_meshdir_are_found(tmp_path):
    (tmp_path / "parts").mkdir()
    written(tmp_path, '<mujoco> <body name="tip"> <include file="parts/inner.xml"/> </body> </mujoco>', "parts/tip.xml")
    written(tmp_path, '<any> <joint axis="0 1 0" name="j"/> <geom size=".1"/> </any>', "parts/inner.xml")
    path = written(
        tmp_path,
        '<mujoco> <worldbody> <body name="a"> <freejoint/> <geom size=".1"/> <include file="parts/tip.xml"/> </body>'
        "</worldbody> </mujoco>",
    )
    robot = robots.load(path)
    assert robot.joint_names == ("j",)
    assert robot.mass == pytest.approx(2 * 4 / 3 * np.pi * 0.001 * 1000)


BODY = '<mujoco> <worldbody> <body name="a"> <freejoint/> <geom size=".1"/> {} </body> </worldbody> {} </mujoco>'
LEG = '<body name="b" pos="0 0 -1"> {} </body>'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (BODY.format(LEG.format('<joint name="j"/>'), ""), "'j' moves link 'b', which has no mass"),
        (BODY.format(LEG.format('<joint name="j" axis="0 0 0"/> <geom size=".1"/>'), ""), "axis too small.*'j'"),
        (BODY.format(LEG.format('<joint name="j"/> <geom size=".1" class="x"/>'), ""), "class name 'x'"),
        (BODY.format(LEG.format('<joint name="j"/> <geom size="x"/>'), ""), "attribute 'size'.*'geom', line 1"),
        (
            BODY.format(LEG.format('<joint name="j"/> <geom type="box" size="1"/>'), ""),
            "size 1 must be positive",
        ),
        (BODY.format(LEG.format('<joint name="j"/> <geom type="mesh" mesh="m"/>'), ""), "mesh 'm'"),
        (BODY.format(LEG.format('<joint name="j"/> <geom mesh="m"/>'), ""), "mesh 'm' not found"),
        (
            BODY.format(LEG.format('<joint name="j"/> <geom size=".1"/>'), '<actuator> <motor joint="k"/> </actuator>'),
            "'k'",
        ),
        (BODY.format('<include file="gone.xml"/>', ""), "gone.xml"),
        ("<mujoco> <worldbody> <body> <geom size='1'/> </body> </worldbody> </mujoco>", "no body that moves"),
        ("<robot/>", "no MJCF"),
        ("<mujoco>", "not XML"),
    ],
)
def test_a_bad_mjcf_is_refused_with_the_name_of_what_is_wrong(tmp_path, text, says):
    with pytest.raises(BadRobot, match=says):
        robots.load(written(tmp_path, text))


def test_two_robots_in_one_mjcf_are_refused(tmp_path):
    body = '<body name="{}"> <freejoint/> <geom size=".1"/> </body>'
    text = f"<mujoco> <worldbody> {body.format('one')} {body.format('two')} </worldbody> </mujoco>"
    with pytest.raises(BadRobot, match="2 bodies that move, one, two"):
        robots.load(written(tmp_path, text))


def test_a_written_mjcf_reads_back_as_the_same_robot(tmp_path):
    hubo = robots.load("hubo2plus")
    again = robots.load(written(tmp_path, write_mjcf(hubo)))
    assert again.joint_names == hubo.joint_names
    assert again.mass == pytest.approx(hubo.mass, abs=1e-12)
    assert [joint.effort for joint in again.moving] == [joint.effort for joint in hubo.moving]
    generator = np.random.default_rng(3)
    state = random_state(hubo, generator)
    assert_equal(by_pinocchio(again, state), by_pinocchio(hubo, state))
