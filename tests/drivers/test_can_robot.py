"""CanRobot on simulated boards, in stepped time: it tracks, says what is measured, and does what it is told."""

import math

import can
import numpy as np
import pytest
from can_rack import PERIOD, ROBOT, Joints, Stage, sine, track

from wholebody.drivers import Boards, RobotInterface
from wholebody.drivers.hubo_can.budget import over
from wholebody.drivers.hubo_can.wiring import Wiring
from wholebody.drivers.joint_drives import Drives
from wholebody.messages import ALL_JOINTS, Measured, MeasuredMotion, MeasuredWrench, Mode, Status, Verb

RSP = ROBOT.index["RSP"]
ON = int(Status.DRIVER_ON | Status.CONTROL_ON | Status.HOMED)


def test_it_is_a_robot_with_boards():
    stage = Stage()
    assert isinstance(stage.hubo, RobotInterface)
    assert isinstance(stage.hubo, Boards)
    assert stage.hubo.simulated
    assert stage.hubo.modes == {Mode.POSITION}
    assert stage.hubo.unwired == ("NKY", "NK1", "NK2")


def test_every_joint_follows_a_slow_sine():
    with Stage() as stage:
        wired = [ROBOT.index[name] for name in ROBOT.joint_names if name not in stage.hubo.unwired]
        motors = [joint for joint in wired if "F" not in ROBOT.joint_names[joint]]
        sizes = 0.2 * np.array([1, -1] * 19)[: len(motors)]  # both ways
        last = 144  # a cycle in which no currents are asked for: encoders are read a little later in those
        for k in range(last + 1):
            stage.reference.position[motors] = sine(k, sizes)
            stage.cycle()
        lag = 0.2 * math.pi * (PERIOD + 0.012)  # the speed of the sine, for a period and the joint's own lag
        assert np.abs(stage.state.position[motors] - sine(last, sizes)).max() < lag
        assert stage.hubo.lost.sum() == stage.hubo.late == stage.hubo.receiver.garbage == 0
        speed = sizes * math.pi * math.cos(math.pi * last * PERIOD)
        assert stage.state.velocity[motors] == pytest.approx(speed, abs=0.03)


def test_the_identified_joints_follow_too():
    with Stage(plant=Drives(ROBOT)) as stage:
        assert track(stage) < 0.03
        assert stage.hubo.lost.sum() == 0


def test_a_cycle_fits_into_its_period_and_uses_the_bus_as_the_budget_says():
    with Stage() as stage:
        before = [wire.traffic.bits for wire in stage.rack.wires]
        start = stage.rack.time
        stage.run(1.0, RSP=0.1)
        used = [wire.traffic.bits - bits for wire, bits in zip(stage.rack.wires, before, strict=True)]
        assert stage.rack.time - start == pytest.approx(1.0, abs=0.006)
        assert 0.65 < used[0] / 1e6 < 0.86  # the budget has the worst stuffing; currents come on top
        assert used[1] < used[0]


def test_fingers_are_driven_by_duty_to_where_they_are_wanted():
    with Stage() as stage:
        stage.run(1.0, RF1=0.4, LF5=0.25)
        assert stage.at("RF1") == pytest.approx(0.4, abs=0.015)
        assert stage.at("LF5") == pytest.approx(0.25, abs=0.015)


@pytest.mark.parametrize(("buses", "least", "most"), [(2, 0.0025, 0.0045), (4, 0.001, 0.00225)])
def test_twice_the_buses_answer_in_half_the_time(buses, least, most):
    with Stage(wiring=over(Wiring.read("hubo2plus"), buses)) as stage:
        stage.run(0.05)
        stage.rack.advance(0.01)
        began = stage.rack.time
        stage.hubo.write(stage.reference)
        stage.hubo.read(stage.state)
        assert least < stage.rack.time - began < most
        assert track(stage) < 0.03
        assert stage.hubo.lost.sum() == 0


# What is measured.


def test_only_what_is_measured_is_called_measured():
    with Stage() as stage:
        stage.run(0.5)
        state = stage.state
        motor = Measured.POSITION | Measured.VELOCITY | Measured.CURRENT | Measured.TEMPERATURE
        assert state.measured[RSP] == motor
        assert state.measured[ROBOT.index["RF1"]] == motor & ~Measured.TEMPERATURE
        assert state.measured[ROBOT.index["NKY"]] == 0
        assert (state.imu.measured == int(_imu())).all()
        assert (state.force_torque.measured == int(_wrench())).all()
        # The plant has the other axes too, but nobody measures them.
        assert np.allclose(state.force_torque.force, (0, 0, 200))
        assert np.allclose(state.force_torque.torque, (3, -4, 0))
        assert np.allclose(state.imu.angular_velocity, (0.1, -0.2, 0), atol=1e-4)
        assert not state.base.known


def _imu():
    return MeasuredMotion.ROLL_AND_PITCH | MeasuredMotion.ANGULAR_VELOCITY_X | MeasuredMotion.ANGULAR_VELOCITY_Y


def _wrench():
    return MeasuredWrench.FORCE_Z | MeasuredWrench.TORQUE_X | MeasuredWrench.TORQUE_Y


def test_roll_and_pitch_arrive_as_an_orientation_without_yaw():
    plant = Joints()
    plant.orientation = (0.0, math.sin(0.1), 0.0, math.cos(0.1))
    with Stage(plant=plant) as stage:
        stage.run(0.05)
        assert stage.state.imu.orientation[0] == pytest.approx(plant.orientation, abs=1e-4)


def test_tilt_and_power_are_beside_the_state():
    with Stage() as stage:
        stage.run(0.3, RAP=0.1)
        assert stage.hubo.tilts["right_foot"].y == pytest.approx(0.1, abs=1e-3)
        assert stage.hubo.tilts["left_foot"].y == pytest.approx(0.0, abs=1e-3)
        assert stage.hubo.power.voltage == 48.0


def test_every_joint_has_its_status_within_a_tenth_of_a_second():
    with Stage() as stage:
        stage.run(0.1)
        wired = [ROBOT.index[name] for name in ROBOT.joint_names if name[1] not in "KF"]
        assert {int(flags) & ON for flags in stage.state.status[wired]} == {ON}


# References.


def test_joints_outside_the_mask_go_on_with_what_they_had():
    with Stage() as stage:
        stage.run(0.2, RSP=0.1, LSP=0.2)
        stage.reference.mask[:] = False
        stage.reference.mask[RSP] = True
        stage.run(0.2, RSP=0.15, LSP=-1.0)
        assert stage.at("RSP") == pytest.approx(0.15, abs=1e-3)
        assert stage.at("LSP") == pytest.approx(0.2, abs=1e-3)


def test_a_reference_that_is_no_number_is_not_passed_on():
    with Stage() as stage:
        stage.run(0.2, RSP=0.1)
        stage.run(0.1, RSP=math.nan)
        assert stage.at("RSP") == pytest.approx(0.1, abs=1e-3)


def test_stop_holds_where_it_is_and_never_raises():
    with Stage() as stage:
        stage.run(0.05, RSP=0.3)
        here = stage.at("RSP")
        stage.hubo.stop()
        stage.rack.advance(0.5)
        assert stage.truth("RSP") == pytest.approx(here, abs=0.02)
        for port in stage.hubo.ports:
            port.bus.send_frames = _fail
        stage.hubo.stop()
        assert stage.hubo.ports[0].unsent > 0
        assert "unplugged" in stage.hubo.take_events()[0]


def _fail(frames):
    raise can.CanOperationError("the cable is unplugged")


def test_a_new_client_takes_over_without_a_jump():
    with Stage() as stage:
        stage.run(0.5, RSP=0.3)
        held = stage.truth("RSP")
    assert stage.truth("RSP") == pytest.approx(held, abs=1e-3)
    stage.rack.advance(1.0)  # nobody is there, and the boards hold
    assert stage.truth("RSP") == pytest.approx(held, abs=1e-3)
    again = Stage(plant=stage.plant)
    again.rack = stage.rack
    for port, old in zip(again.hubo.ports, stage.hubo.ports, strict=True):
        port.bus = old.bus
    again.hubo.now = lambda: stage.rack.time
    with again:
        assert again.at("RSP") == pytest.approx(held, abs=1e-3)
        again.reference.mask[:] = False
        again.reference.mask[ROBOT.index["LSP"]] = True  # it says nothing of RSP
        again.run(0.2, RSP=0.0)
        assert again.truth("RSP") == pytest.approx(held, abs=1e-3)


def test_without_patience_a_read_takes_what_is_there():
    with Stage(patience=0.0) as stage:
        began = stage.rack.time
        stage.hubo.read(stage.state)
        assert stage.rack.time == began
        stage.run(0.05)
        lost = stage.hubo.lost.sum()  # of the reads above, which left no time to answer
        assert track(stage) < 0.03
        assert stage.hubo.lost.sum() == lost


# Commands.


def test_home_brings_every_joint_home_and_says_so():
    start = np.zeros(len(ROBOT.joint_names))
    start[RSP], start[ROBOT.index["LKN"]] = 0.3, 0.4
    with Stage(homed=False, plant=Joints(start=start)) as stage:
        stage.run(0.1)
        assert stage.at("RSP") == 0.0  # it does not know
        assert Status.HOMED not in Status(int(stage.at("RSP", "status")))
        answer = stage.hubo.command(Verb.HOME, ALL_JOINTS, ())
        assert answer.accepted
        stage.run(3.5)
        assert Status.HOMED in Status(int(stage.at("RSP", "status")))
        assert stage.truth("RSP") == pytest.approx(0.0, abs=0.0075)
        assert stage.truth("LKN") == pytest.approx(0.0, abs=0.0075)
        stage.run(0.5, RSP=0.04)
        stage.run(0.5, RSP=0.2)
        assert stage.truth("RSP") == pytest.approx(0.2, abs=2e-3)


def test_after_homing_a_joint_waits_for_a_reference_near_it():
    start = np.zeros(len(ROBOT.joint_names))
    with Stage(plant=Joints(start=start)) as stage:
        stage.run(0.5, RSP=0.3)
        stage.hubo.command(Verb.HOME, RSP, ())
        stage.run(3.5, RSP=0.3)  # a controller that has not noticed
        assert stage.truth("RSP") == pytest.approx(0.0, abs=0.0075)
        stage.run(0.1, RSP=0.02)
        stage.run(0.3, RSP=0.3)
        assert stage.truth("RSP") == pytest.approx(0.3, abs=2e-3)


def test_control_goes_off_and_on_for_a_board_without_a_jump():
    with Stage() as stage:
        stage.run(0.2, RSP=0.1)
        answer = stage.hubo.command(Verb.CONTROL, RSP, (0.0,))
        assert answer.accepted
        assert "JMC8 (RSP, RSR)" in answer.text
        stage.run(0.2, RSP=0.5)
        assert not Status(int(stage.at("RSP", "status"))) & Status.CONTROL_ON
        assert stage.truth("RSP") == pytest.approx(0.1, abs=1e-3)
        stage.hubo.command(Verb.CONTROL, RSP, (1.0,))
        stage.run(0.2, RSP=0.5)
        assert stage.truth("RSP") == pytest.approx(0.1, abs=1e-3)
        stage.run(0.1, RSP=0.12)
        stage.run(0.3, RSP=0.5)
        assert stage.truth("RSP") == pytest.approx(0.5, abs=2e-3)


def test_reset_is_for_faults_only_and_asks_for_homing():
    with Stage() as stage:
        stage.run(0.1)
        assert "nothing to reset" in stage.hubo.command(Verb.RESET, ALL_JOINTS, ()).text
        stage.rack.break_joint("RSP", "over-current")
        stage.run(0.4)
        assert Status.DRIVER_FAULT in Status(int(stage.at("RSP", "status")))
        stage.rack.break_joint("RSP", "over-current", broken=False)
        answer = stage.hubo.command(Verb.RESET, RSP, ())
        assert "home it" in answer.text
        stage.run(0.2)
        flags = Status(int(stage.at("RSP", "status")))
        assert flags == Status.DRIVER_ON | Status.CONTROL_ON


def test_status_names_the_flags():
    with Stage() as stage:
        stage.run(0.2)
        answer = stage.hubo.command(Verb.STATUS, RSP, ())
        assert answer.accepted
        assert answer.status == ON
        assert answer.text == "RSP: driver on, control on, homed"
        assert "no faults" in stage.hubo.command(Verb.STATUS, ALL_JOINTS, ()).text


def test_gains_reach_the_board():
    with Stage() as stage:
        assert stage.hubo.command(Verb.GAINS, ROBOT.index["RSR"], (100.0, 0.0, 20.0, 0.0)).accepted
        stage.run(0.05)
        assert stage.rack.boards.boards[8].gains == [(0, 0, 0), (100, 0, 20)]
        assert not stage.hubo.command(Verb.GAINS, RSP, (1e6, 0.0, 0.0)).accepted


def test_initialize_loads_defaults_and_sensors_are_nulled():
    with Stage() as stage:
        stage.hubo.command(Verb.GAINS, RSP, (100.0, 0.0, 20.0))
        assert stage.hubo.command(Verb.INITIALIZE, RSP, ()).accepted
        assert stage.hubo.command(Verb.INITIALIZE_SENSORS, ALL_JOINTS, ()).accepted
        stage.run(0.05)
        assert stage.rack.boards.boards[8].gains[0] == (0, 0, 0)
        assert np.allclose(stage.state.force_torque.force, 0)


@pytest.mark.parametrize(
    ("verb", "joint", "values", "why"),
    [
        (Verb.HOME, "NKY", (), "no active board"),
        (Verb.HOME, "RF1", (), "no home"),
        (Verb.GAINS, "RF1", (1.0, 1.0, 1.0), "no gains"),
        (Verb.CONTROL, "RSP", (2.0,), "say 1"),
        (Verb.FILTER, "RSP", (), "do not know"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_reason(verb, joint, values, why):
    with Stage() as stage:
        answer = stage.hubo.command(verb, ROBOT.index[joint], values)
        assert not answer.accepted
        assert why in answer.text
