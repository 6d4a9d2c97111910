"""Without physics: joints go where they are told, the support foot stays, collisions are reported."""

import numpy as np
import pytest

from wholebody import robots
from wholebody.messages import Mode
from wholebody.robots import Placement
from wholebody.simulation import Simulation

HUBO = robots.load("hubo2plus")


def kinematic(name="hubo2plus", **more):
    return Simulation(robots.load(name), physics=False, **more)


def command(simulation, ticks=200, **positions):
    reference = simulation.new_reference()
    for joint, position in positions.items():
        reference.position[simulation.robot.index[joint]] = position
    simulation.write(reference)
    for _ in range(ticks):
        simulation.advance()
    return simulation.truth


def glide(simulation, ticks=200, **positions):
    """All joints there at the same time."""
    start, end = simulation.new_reference()["position"], simulation.new_reference()["position"].copy()
    for joint, position in positions.items():
        end[simulation.robot.index[joint]] = position
    reference = simulation.new_reference()
    for tick in range(1, ticks + 1):
        reference.position[:] = start + (end - start) * tick / ticks
        simulation.write(reference)
        simulation.advance()
    return simulation.truth


def test_a_joint_goes_to_its_position_no_faster_than_its_limit():
    simulation = kinematic()
    joint = HUBO.index["LEB"]
    start = simulation.truth.position[joint]
    limit = HUBO.joint("LEB").velocity
    one = command(simulation, ticks=1, LEB=-1.5)
    assert one["position"][joint] == pytest.approx(max(start - limit * 0.005, -1.5))
    assert abs(one["velocity"][joint]) <= limit * (1 + 1e-9)
    assert command(simulation, LEB=-1.5)["position"][joint] == -1.5


def test_no_joint_goes_beyond_its_limits():
    simulation = kinematic()
    truth = command(simulation, LEB=-99.0)
    assert truth.position[HUBO.index["LEB"]] == HUBO.joint("LEB").lower


def test_velocity_mode_moves_and_effort_mode_stays():
    simulation = kinematic()
    reference = simulation.new_reference()
    one, other = HUBO.index["LSP"], HUBO.index["RSP"]
    reference.mode[[one, other]] = Mode.VELOCITY, Mode.EFFORT
    reference.velocity[one], reference.effort[other] = -0.5, 30.0
    start = simulation.truth.position
    simulation.write(reference)
    for _ in range(100):
        simulation.advance()
    moved = simulation.truth.position - start
    assert moved[one] == pytest.approx(-0.25)
    assert moved[other] == 0.0


def test_the_support_foot_does_not_move_when_the_other_is_lifted():
    simulation = kinematic()
    right, left = simulation.link_to_world("Body_RAR"), simulation.link_to_world("Body_LAR")
    truth = glide(simulation, LHP=-0.7, LKN=1.1, LAP=-0.4)
    moved = [
        np.abs(simulation.link_to_world(link) - at).max() for link, at in (("Body_RAR", right), ("Body_LAR", left))
    ]
    assert moved[0] < 1e-9
    assert moved[1] > 0.05
    force = dict(zip((s.name for s in HUBO.sensors_of("force_torque")), truth.force_torque.force, strict=True))
    assert np.linalg.norm(force["right_foot"]) == pytest.approx(HUBO.mass * 9.81)
    assert np.linalg.norm(force["left_foot"]) == 0.0


def test_the_foot_that_comes_down_becomes_the_support():
    simulation = kinematic()
    glide(simulation, RHP=-0.1, RKN=0.2, RAP=-0.1, LHP=-0.7, LKN=1.1, LAP=-0.4)
    truth = glide(simulation, RHP=-0.7, RKN=1.1, RAP=-0.4, LHP=-0.1, LKN=0.2, LAP=-0.1)
    force = dict(zip((s.name for s in HUBO.sensors_of("force_torque")), truth.force_torque.force, strict=True))
    assert np.linalg.norm(force["left_foot"]) == pytest.approx(HUBO.mass * 9.81)
    assert np.linalg.norm(force["right_foot"]) == 0.0
    assert simulation.collisions == [], "no foot is in the floor"


def test_both_feet_share_the_weight_and_the_imu_reads_gravity():
    truth = command(kinematic(), ticks=10)
    assert truth.force_torque.force[:2, 2] == pytest.approx([HUBO.mass * 9.81 / 2] * 2, rel=0.02)
    assert truth.imu[0].linear_acceleration == pytest.approx([0, 0, 9.81], abs=1e-6)
    assert truth.imu[0].angular_velocity == pytest.approx([0, 0, 0], abs=1e-9)


def test_sensors_are_those_of_the_motion():
    """The base turns about the standing foot with the joint's velocity, and the gyroscope sees it."""
    simulation = kinematic()
    reference = simulation.new_reference()
    joints = [HUBO.index["RAP"], HUBO.index["LAP"]]
    reference.mode[joints], reference.velocity[joints] = Mode.VELOCITY, 0.2
    simulation.write(reference)
    for _ in range(20):
        simulation.advance()
    truth = simulation.truth
    assert truth.imu[0].angular_velocity == pytest.approx([0.0, -0.2, 0.0], abs=1e-3)
    assert truth.base.angular_velocity == pytest.approx([0.0, -0.2, 0.0], abs=1e-3)
    assert truth.base.linear_velocity[0] < -0.05, "backwards"


def test_a_collision_that_was_commanded_is_reported_and_others_are_not():
    simulation = kinematic()
    assert simulation.collisions == []
    command(simulation, RSR=0.3, REB=-1.8, RSP=-0.4, RSY=0.9)
    links = {frozenset((each.link, each.other)) for each in simulation.collisions}
    assert links, "the forearm is in the torso"
    assert any("Body_Torso" in pair or "Body_Hip" in pair for pair in links)
    assert simulation.collisions[0].depth > 0.005
    assert not links & HUBO.may_touch
    command(simulation, RSR=-0.15, REB=-0.5, RSP=0.2, RSY=0.0)
    assert simulation.collisions == []


def test_a_base_put_to_a_pose_stays_there():
    simulation = kinematic()
    simulation.reset("stand", base=Placement((1.0, 2.0, 3.0), (0.0, 0.0, 0.5)))
    command(simulation, LHP=-1.0, LKN=1.6, LAP=-0.6)
    assert simulation.base_to_world[:3, 3] == pytest.approx([1.0, 2.0, 3.0], abs=1e-12)


def test_followers_follow():
    simulation = kinematic("dreamer")
    coupling = simulation.robot.couplings[0]
    truth = command(simulation, **{coupling.master: 0.2})
    position = dict(zip(simulation.robot.joint_names, truth.position, strict=True))
    assert position[coupling.slave] == pytest.approx(coupling.ratio * position[coupling.master], abs=1e-12)


@pytest.mark.parametrize("name", robots.names())
def test_every_robot_stands_there_without_collision(name):
    simulation = kinematic(name)
    for _ in range(5):
        simulation.advance()
    assert simulation.collisions == []
