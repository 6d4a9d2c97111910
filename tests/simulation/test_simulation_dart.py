"""The same robot, controller and noise on another engine: DART agrees with MuJoCo at rest, and the same walk runs."""

import math

import numpy as np
import pytest

from wholebody import robots
from wholebody.behaviors import Walking
from wholebody.errors import BadSimulation, UnknownName
from wholebody.messages import Mode
from wholebody.simulation import AnkleFlexibility, SensorModel, Simulation


def settled(engine, name="hubo2plus", seconds=0.5):
    simulation = Simulation(robots.load(name), engine=engine)
    while simulation.time < seconds:
        simulation.advance()
    return simulation


@pytest.mark.parametrize("name", ["hubo2plus", "minihubo"])
def test_at_rest_both_engines_measure_the_same(name):
    mujoco, dart = settled("mujoco", name), settled("dart", name)
    ours, theirs = dart.truth, mujoco.truth
    weight = dart.robot.mass * 9.81
    assert dart.com_in_world == pytest.approx(mujoco.com_in_world, abs=5e-4)
    led = {joint.mimic.of for joint in dart.robot.joints if joint.mimic is not None}  # fingers: no followers here
    alike = [number for number, joint in enumerate(dart.robot.moving) if joint.name not in led]
    assert ours["position"][alike] == pytest.approx(theirs["position"][alike], abs=1e-3)
    assert ours["effort"][alike] == pytest.approx(theirs["effort"][alike], abs=0.002 * weight)
    assert ours["imu"]["linear_acceleration"] == pytest.approx(theirs["imu"]["linear_acceleration"], abs=0.05)
    assert ours["force_torque"]["force"] == pytest.approx(theirs["force_torque"]["force"], abs=0.01 * weight)
    assert ours["force_torque"]["torque"] == pytest.approx(theirs["force_torque"]["torque"], abs=0.002 * weight)
    assert sum(touch.force_in_world for touch in dart.touches) == pytest.approx([0, 0, weight], abs=0.02 * weight)


def test_peaks_of_a_robot_at_rest_are_its_weight():
    with Simulation(robots.load("hubo2plus"), engine="dart", peaks=True) as simulation:
        while simulation.time < 0.5:
            simulation.advance()
        feet = simulation.peak_forces[:2]
        assert feet.sum() == pytest.approx(simulation.robot.mass * 9.81, rel=0.05)
        assert feet.sum() >= 0.99 * simulation.truth.force_torque.force[:2, 2].sum()


def test_a_push_gives_the_momentum_that_it_should():
    simulation = settled("dart", "minihubo", 0.1)
    simulation.reset(base=robots.robot.Placement((0.0, 0.0, 3.0)))
    simulation.push(simulation.robot.root, (2.0, -1.0, 0.0), 0.05)
    before = simulation.com_in_world
    while simulation.time < 0.1:
        simulation.advance()
    after = simulation.com_in_world
    simulation.advance()
    velocity = (simulation.com_in_world - after) / simulation.period
    assert velocity[:2] == pytest.approx(np.array([2.0, -1.0]) * 0.05 / simulation.robot.mass, rel=1e-3)
    assert before[2] - after[2] == pytest.approx(0.5 * 9.81 * 0.1**2, rel=0.02), "it falls freely"
    assert np.linalg.norm(simulation.truth.imu.linear_acceleration) < 0.5, "and weighs nothing"


def test_an_effort_is_what_a_joint_gives_and_no_more_than_it_can():
    simulation = settled("dart", "minihubo", 0.05)
    joint = simulation.robot.index["RSP"]
    reference = simulation.new_reference()
    reference.mode[joint], reference.effort[joint] = Mode.EFFORT, 0.05
    simulation.write(reference)
    simulation.advance()
    assert simulation.truth.effort[joint] == pytest.approx(0.05)
    reference.effort[joint] = 1e4
    simulation.write(reference)
    simulation.advance()
    assert simulation.truth.effort[joint] == pytest.approx(simulation.robot.moving[joint].effort)


@pytest.mark.slow
def test_hubo_walks_with_steps_of_a_fifth_of_a_metre_there_too():
    robot = robots.load("hubo2plus")
    walking = Walking(robot)
    world = Simulation(robot, engine="dart", sensors=SensorModel.realistic(), seed=1)
    state, reference = world.new_state(), world.new_reference()
    walking.stand(0.5)
    lengths, lowest = [], 1.0
    while len(lengths) == 0 or not walking.standing:
        if walking.standing:
            walking.walk(distance=0.8)
            lengths = np.diff([0.0, *(step.at.x for step in walking.walker.pattern.steps)])
        world.read(state)
        walking.cycle(state, reference)
        world.write(reference)
        world.advance()
        lowest = min(lowest, world.base_to_world[2, 2])
    assert lengths == pytest.approx([0.2, 0.2, 0.2, 0.2, 0.0])
    assert walking.trouble == ""
    assert world.com_in_world[0] == pytest.approx(0.8, abs=0.03)
    assert lowest > math.cos(math.radians(3))


def test_what_dart_cannot_do_is_refused():
    robot = robots.load("minihubo")
    for options, reason in (
        ({"scene": "slope:angle=0.1"}, "flat ground only"),
        ({"ankles": AnkleFlexibility()}, "flexible ankles"),
    ):
        with pytest.raises(BadSimulation, match=reason):
            Simulation(robot, engine="dart", **options)
    simulation = Simulation(robot, engine="dart")
    simulation.attach(0.1, robot.root)
    with pytest.raises(BadSimulation, match="carries nothing"):
        simulation.advance()
    with pytest.raises(UnknownName, match="no engine 'darts'"):
        Simulation(robot, engine="darts")
