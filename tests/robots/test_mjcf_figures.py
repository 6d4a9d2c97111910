"""What an MJCF says of motors, contacts, followers and loops comes along, as MuJoCo's own compiled model has it."""

import subprocess
import sys
import warnings

import mujoco
import numpy as np
import pytest

from wholebody import robots
from wholebody.errors import BadRobot, RobotWarning
from wholebody.robots.catalog import load_apart
from wholebody.robots.formats.mjcf_reader import read_mjcf
from wholebody.robots.formats.mjcf_writer import write_mjcf
from wholebody.simulation import Simulation

pytestmark = pytest.mark.filterwarnings("ignore:.*lacks what is dangerous to lack")

LIMB = """
<mujoco model="limb"> <compiler angle="radian"/>
  <default> <default class="strong"> <joint armature="0.03" actuatorfrcrange="-70 70"/> </default> {defaults} </default>
  <worldbody> {world}
    <body name="base" pos="0 0 1"> <freejoint/> <geom name="base" type="box" size=".1 .1 .1" {masks}/>
      <body name="upper" pos="0 0 -.15"> <joint name="a" axis="0 1 0" range="-2 2" class="strong"/>
        <geom name="upper" type="box" size=".02 .02 .1" pos="0 0 -.1" {masks}/>
        <body name="lower" pos="0 0 -.25"> <joint name="b" axis="0 1 0" range="-2 2" {joint}/>
          <geom name="lower" type="box" size=".02 .02 .1" pos="0 0 -.1" {masks}/> {more}
        </body>
      </body>
    </body>
  </worldbody>
  {rest}
</mujoco>
"""


def limb(folder, **parts):
    path = folder / "limb.xml"
    path.write_text(
        LIMB.format(**{"defaults": "", "world": "", "masks": "", "joint": "", "more": "", "rest": "", **parts})
    )
    return path


MOTORS = {
    "actuatorfrcrange of the joint": ("", 70.0),
    "the smaller of motor and joint": ('<motor joint="a" gear="10" ctrlrange="-5 5"/>', 50.0),
    "a motor that is stronger than the joint": ('<motor joint="a" gear="100" ctrlrange="-5 5"/>', 70.0),
    "two motors": ('<motor joint="a" ctrlrange="-5 5" gear="2"/> <motor joint="a" forcerange="-7 20"/>', 30.0),
    "general with a gain": ('<general joint="a" ctrlrange="-1 1" gainprm="40"/>', 40.0),
    "a servo's ctrlrange is of angles": ('<position joint="a" ctrlrange="-1 1" kp="200" forcerange="-60 60"/>', 60.0),
}


@pytest.mark.parametrize("name", MOTORS)
def test_the_effort_limit_is_the_least_that_motor_and_joint_allow(tmp_path, name):
    actuators, effort = MOTORS[name]
    robot = read_mjcf(limb(tmp_path, rest=f"<actuator> {actuators} </actuator>" if actuators else ""))
    assert robot.joint("a").effort == effort
    assert robot.joint("a").rotor_inertia == 0.03


GAINS = {
    '<position joint="a" kp="200" kv="8"/>': (200, 8),
    '<position joint="a" kp="200" kv="8" gear="3"/>': (1800, 72),
    '<position joint="a" kp="200"/> <velocity joint="a" kv="5"/>': (200, 5),
    '<general joint="a" gainprm="90" biastype="affine" biasprm="0 -90 -4"/>': (90, 4),
    '<motor joint="a"/>': None,
    '<velocity joint="a" kv="5"/>': None,
}


@pytest.mark.parametrize("actuators", GAINS)
def test_gains_of_servos_are_read_as_they_act_at_the_joint(tmp_path, actuators):
    robot = read_mjcf(limb(tmp_path, rest=f"<actuator> {actuators} </actuator>"))
    assert robot.gains.get("a") == (None if GAINS[actuators] is None else robots.Gain(*GAINS[actuators]))


def test_a_servo_of_the_file_holds_a_joint_as_it_does_in_mujoco(tmp_path):
    path = limb(tmp_path, rest='<actuator> <position joint="a" kp="30" kv="3"/> <motor joint="b"/> </actuator>')
    robot = read_mjcf(path)
    original = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(original)
    data.qpos[7], data.qvel[6] = 0.4, 0.2
    mujoco.mj_forward(original, data)
    gain = robot.gains["a"]
    assert data.actuator_force[0] == pytest.approx(-gain.stiffness * 0.4 - gain.damping * 0.2)


def test_the_range_of_a_servos_targets_limits_a_joint_that_has_no_other_limits(tmp_path):
    servo = '<actuator> <position joint="{}" kp="9" ctrlrange="-0.5 0.7" gear="2"/> </actuator>'
    text = limb(tmp_path).read_text().replace('range="-2 2" />', "/>").replace('range="-2 2" >', ">")
    path = tmp_path / "limb.xml"
    path.write_text(text.replace("</mujoco>", servo.format("b") + "</mujoco>"))
    joint = read_mjcf(path).joint("b")
    assert (joint.kind, joint.lower, joint.upper) == ("revolute", -0.25, 0.35)
    path.write_text(text.replace("</mujoco>", servo.format("a") + "</mujoco>"))
    assert read_mjcf(path).joint("a").upper == 2.0


def test_velocity_limits_go_through_a_written_mjcf(tmp_path):
    hubo = robots.load("hubo2plus")
    (tmp_path / "hubo.xml").write_text(write_mjcf(hubo))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = robots.load(tmp_path / "hubo.xml")
    assert [joint.velocity for joint in again.moving] == [joint.velocity for joint in hubo.moving]


# --- contacts --------------------------------------------------------------------------------------

NEVER = 'contype="0" conaffinity="0"'


@pytest.mark.parametrize("floor", ['<geom name="floor" type="plane" size="1 1 1"/>', ""], ids=["beside", "elsewhere"])
def test_geoms_that_only_pairs_let_collide_stand_on_the_ground(tmp_path, floor):
    pairs = '<contact> <pair geom1="lower" geom2="floor"/> <pair geom1="base" geom2="lower"/> </contact>'
    robot = robots.load(limb(tmp_path, world=floor, masks=NEVER, rest=pairs))
    assert [link.name for link in robot.links if any(shape.collides for shape in link.shapes)] == ["base", "lower"]
    with Simulation(robot) as simulation:
        while simulation.tick() < 1.0:
            pass
        assert simulation.link_to_world("lower")[2, 3] > 0.0, "it does not fall through"


def test_without_pairs_such_a_robot_falls_and_its_file_says_so(tmp_path):
    path = limb(tmp_path, masks=NEVER)
    robot = read_mjcf(path)
    assert not any(shape.collides for link in robot.links for shape in link.shapes)


MASKS = {'contype="1" conaffinity="1"': False, 'contype="1" conaffinity="2"': True, 'contype="0" conaffinity="1"': True}


@pytest.mark.parametrize("masks", MASKS)
def test_links_that_no_mask_lets_meet_may_touch(tmp_path, masks):
    robot = read_mjcf(limb(tmp_path, masks=masks))
    assert (frozenset(("base", "lower")) in robot.may_touch) == MASKS[masks]
    paired = limb(tmp_path, masks=masks, rest='<contact> <pair geom1="base" geom2="lower"/> </contact>')
    assert frozenset(("base", "lower")) not in read_mjcf(paired).may_touch


# --- followers, loops, balls -----------------------------------------------------------------------

FINGER = '<body name="tip" pos="0 0 -.2"> <joint name="c" axis="0 1 0"/> <geom size=".02"/> </body>'


def test_a_followers_follower_follows_the_first(tmp_path):
    first, then = (
        '<joint joint1="b" joint2="a" polycoef=".2 3 0 0 0"/>',
        '<joint joint1="c" joint2="b" polycoef=".1 2 0 0 0"/>',
    )
    robot = read_mjcf(limb(tmp_path, more=FINGER, rest=f"<equality> {then} {first} </equality>"))
    assert robot.joint_names == ("a",)
    assert robot.joint("b").mimic == robots.Mimic("a", 3.0, 0.2)
    assert robot.joint("c").mimic == robots.Mimic("a", 6.0, pytest.approx(0.5))


def test_followers_in_a_circle_are_refused(tmp_path):
    rest = '<equality> <joint joint1="c" joint2="b"/> <joint joint1="b" joint2="c"/> </equality>'
    with pytest.raises(BadRobot, match="joints b, c follow one another in a circle; let one of them lead"):
        read_mjcf(limb(tmp_path, more=FINGER, rest=rest))


@pytest.mark.parametrize("kind", ["connect", "weld"])
def test_a_closed_loop_stays_closed_in_simulation_and_hangs_open_without_its_equality(tmp_path, kind):
    stick = f'<geom type="capsule" size=".01" fromto="0 0 0 0 0 -.4" {NEVER}/>'
    rod = f'<body name="rod" pos="0 0.1 0"> <joint name="r" axis="0 1 0"/> {stick} </body>'
    anchor = 'anchor="0 0 -.4"' if kind == "connect" else 'anchor="0 0 0"'
    text = limb(tmp_path).read_text().replace("<freejoint/>", rod)
    path = tmp_path / "loop.xml"
    far = {}
    for closed in (True, False):
        equality = f'<equality> <{kind} name="shut" body1="rod" body2="lower" {anchor}/> </equality>' if closed else ""
        path.write_text(text.replace("</mujoco>", equality + "</mujoco>"))
        robot = robots.load(path)
        assert [loop.name for loop in robot.loops] == (["shut"] if closed else [])
        with Simulation(robot, posture=np.array([0.0, 0.0, 0.0])) as simulation:
            apart = []
            reference = simulation.new_reference()
            reference.position[:] = [0.5, 0.3, -0.4]
            simulation.write(reference)
            start = np.linalg.inv(simulation.link_to_world("rod")) @ simulation.link_to_world("lower")
            point = np.array([0.0, 0.0, -0.4, 1.0])
            there = np.linalg.inv(start) @ point
            while simulation.tick() < 1.0:
                both = simulation.link_to_world("rod") @ point, simulation.link_to_world("lower") @ there
                apart.append(np.linalg.norm(both[0] - both[1]))
        far[closed] = max(apart)
    assert far[True] < 0.01 < 0.05 < far[False]


def test_a_ball_is_three_hinges_and_moves_the_same_mass(tmp_path):
    box = '<geom type="box" size=".02 .05 .03" pos="0 0 -.1"/>'
    ball = f'<body name="tip" pos="0 0 -.2"> <joint name="c" type="ball"/> {box} </body>'
    path = limb(tmp_path, more=ball, rest='<keyframe> <key name="k" qpos="0 0 1 1 0 0 0 .1 .2 .8 .6 0 0"/> </keyframe>')
    with pytest.warns(RobotWarning, match="ball joint 'c' is read as three hinges"):
        robot = robots.load(path)
    assert robot.joint_names == ("a", "b", "c_x", "c_y", "c_z")
    assert robot.postures["k"]["c_x"] == pytest.approx(2 * np.arctan2(0.6, 0.8))
    assert robot.mass == pytest.approx(mujoco.MjModel.from_xml_path(str(path)).body_mass.sum())


def test_a_robot_bolted_to_the_world_can_be_simulated(tmp_path):
    path = limb(tmp_path)
    path.write_text(path.read_text().replace("<freejoint/>", '<joint name="turn" axis="0 0 1"/>'))
    with Simulation(robots.load(path)) as simulation:
        simulation.tick()
        assert simulation.robot.root == "world_base"


# --- the daemon ------------------------------------------------------------------------------------


def test_the_daemon_gets_a_finished_robot_and_loads_no_mujoco(tmp_path):
    path = limb(tmp_path)
    code = (
        "import sys; from wholebody.robots.catalog import load_apart; robot = load_apart(sys.argv[1]); "
        "print(repr((robot.links, robot.joints)), 'mujoco' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    robot = robots.load(path)
    assert done.stdout.strip() == f"{(robot.links, robot.joints)!r} False"


@pytest.mark.slow
def test_what_cannot_be_read_elsewhere_is_an_error_here(tmp_path):
    with pytest.raises(BadRobot, match="there is no file"):
        load_apart(str(tmp_path / "gone.xml"))
    bad = tmp_path / "bad.xml"
    bad.write_text("<mujoco/>")
    with pytest.raises(BadRobot, match="cannot be read; wholebody robots show"):
        load_apart(str(bad))
