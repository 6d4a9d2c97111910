"""Every robot is a RobotInterface, and what drives its loop a Clock."""

import numpy as np
import pytest

from wholebody import robots
from wholebody.channels import Channel
from wholebody.drivers import Clock, RobotInterface
from wholebody.messages import Mode
from wholebody.simulation import Simulation


@pytest.fixture(params=[True, False], ids=["physics", "kinematic"])
def robot(request):
    with Simulation(robots.load("hoap3"), physics=request.param) as simulation:
        yield simulation


def test_a_simulation_is_a_robot_and_a_clock(robot):
    assert isinstance(robot, RobotInterface)
    assert isinstance(robot, Clock)


def test_a_tick_is_one_period(robot):
    assert robot.period == 0.005
    assert [robot.tick() for _ in range(3)] == pytest.approx([0.005, 0.010, 0.015], abs=0)


def test_reading_twice_gives_the_same_and_moves_nothing(robot):
    robot.tick()
    one, two = robot.new_state(), robot.new_state()
    robot.read(one)
    robot.read(two)
    assert one.tobytes() == two.tobytes()
    assert one["tick"] == 1


def test_a_joint_out_of_the_mask_keeps_its_reference(robot):
    reference, state = robot.new_reference(), robot.new_state()
    held = reference.position.copy()
    reference.position[:] = held + 0.05
    reference.mask[:] = False
    reference.mask[10] = True
    robot.write(reference)
    robot.tick()
    robot.read(state)
    changed = np.flatnonzero(state.reference != held)
    assert changed.tolist() == [10]


def test_stop_holds_every_joint_where_it_is_and_never_raises(robot):
    reference, state = robot.new_reference(), robot.new_state()
    arm = robot.robot.index["R_SAA"]
    reference.position[arm] -= 0.5
    robot.write(reference)
    for _ in range(10):
        robot.tick()
    robot.stop()
    robot.read(state)
    there = state.position[arm]
    for _ in range(100):
        robot.tick()
    robot.read(state)
    assert state.position[arm] == pytest.approx(there, abs=0.05)
    assert abs(there - reference.position[arm]) > 0.1, "it was stopped on its way"


def test_leaving_the_with_block_after_an_error_stops_the_robot():
    simulation = Simulation(robots.load("hoap3"))
    reference = simulation.new_reference()
    reference.velocity[:], reference.mode[:] = 1.0, Mode.VELOCITY

    def fail():
        with simulation:
            simulation.write(reference)
            simulation.tick()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    before = simulation.truth.position
    for _ in range(100):
        simulation.tick()
    assert np.abs(simulation.truth.position - before).max() < 0.02


def test_state_and_reference_pass_through_channels(robot):
    description = robot.robot
    with (
        Channel("t.state", description.state_dtype()) as states,
        Channel("t.ref", description.reference_dtype()) as refs,
    ):
        state, reference = states.writer(), refs.writer()
        measured, commanded = states.reader(), refs.reader()
        reference.message.setfield(robot.new_reference(), description.reference_dtype(), 0)
        reference.message["position"][3] += 0.02
        reference.put()
        assert commanded.latest()
        robot.write(commanded.message)
        robot.tick()
        robot.read(state.message)
        state.put()
        assert measured.latest()
        assert np.array_equal(measured.message["reference"], reference.message["position"])
        assert measured.message["time"] == robot.period
