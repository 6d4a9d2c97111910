"""Simulated boards do what Hubo's do: fall into step, interpolate, find their home, and switch off what goes wrong."""

import numpy as np
import pytest
from can_rack import PERIOD, ROBOT, Joints, Stage
from hypothesis import given, settings
from hypothesis import strategies as some

from wholebody.drivers.hubo_can import commands, replies
from wholebody.drivers.hubo_can.commands import Do, Sense, command, sensor_request
from wholebody.drivers.hubo_can.frames import SENSOR_BOARD, Frame
from wholebody.drivers.hubo_can.replies import read_status
from wholebody.drivers.hubo_can.simulated.motors import Lock
from wholebody.drivers.hubo_can.simulated.wire import Rack
from wholebody.drivers.hubo_can.wiring import Wiring
from wholebody.errors import HardwareError, UnknownName
from wholebody.messages import Status

RSP = ROBOT.index["RSP"]
WIRING = Wiring.read("hubo2plus")
SCALE = WIRING.board_of("RSP").motors[0].counts_per_radian


@pytest.fixture
def rack():
    return Rack(ROBOT, Joints())


def ask(rack, frame, bus=1):
    """Send a frame and return what boards answer."""
    rack.received[bus].clear()
    rack.send(bus, frame)
    rack.advance(0.002)
    return [each.frame for each in rack.received[bus] if isinstance(each.sender, int)]


def tell(rack, angle, other=0.0):
    """Send RSP and RSR a reference."""
    roll = WIRING.board_of("RSR").motors[1].counts_per_radian
    rack.send(1, commands.motors(8, (round(angle * SCALE), round(other * roll))))


def status(rack, board=8, bus=1, motor=0):
    (frame,) = ask(rack, command(Do.STATUS, board), bus)
    return read_status(frame.data, 2)[motor]


# In step with the references.


@pytest.mark.parametrize("period", [0.005, 0.01, 0.002, 0.0043])
def test_a_board_locks_to_the_period_of_its_references(period):
    lock = Lock()
    for k in range(200):
        lock.arrive(k * period)
    assert lock.locked
    assert lock.period == pytest.approx(period, rel=1e-3)


def test_a_locked_board_smooths_jitter():
    lock, jitter = Lock(), np.random.default_rng(0).uniform(-0.0005, 0.0005, 400)
    ends = [lock.arrive(k * 0.005 + jitter[k]) for k in range(400)]
    spacing = np.diff(ends)[100:]
    raw = np.diff(np.arange(400) * 0.005 + jitter)[100:]
    assert spacing.std() < 0.4 * raw.std()
    assert lock.period == pytest.approx(0.005, rel=0.02)


def test_a_lost_reference_does_not_change_the_period():
    lock = Lock()
    for k in range(300):
        if k % 37:
            lock.arrive(k * 0.005)
    assert lock.period == pytest.approx(0.005, rel=1e-3)


@given(some.lists(some.floats(0.0001, 0.5), min_size=2, max_size=50))
def test_a_reference_is_always_to_be_reached_in_the_future(gaps):
    lock = Lock()
    for now in np.cumsum(gaps):
        assert now < lock.arrive(float(now)) <= now + 2.2 * max(lock.period, 0.005)


def test_boards_go_in_a_straight_line_from_reference_to_reference():
    plant = Joints()
    plant.watched = RSP
    rack = Rack(ROBOT, plant)
    for k in range(200):
        tell(rack, 0.001 * k)
        rack.advance(PERIOD)
    steps = np.diff(plant.targets[200:])
    # 0.001 rad in 5 ms is 0.0002 rad in each step of the board, without corners; a count is 1.1e-5 rad.
    assert np.allclose(steps, 0.0002, atol=2e-5)
    # Without interpolation four steps of five would be zero.
    assert np.count_nonzero(np.abs(steps) < 1e-5) == 0


def test_boards_hold_when_references_end(rack):
    for k in range(100):
        tell(rack, 0.002 * k)
        rack.advance(PERIOD)
    rack.advance(2.0)
    assert rack.boards.motors.position[RSP] == pytest.approx(0.198, abs=1e-4)
    assert rack.boards.motors.control[RSP]


# Frames.


def test_a_board_answers_only_on_its_own_bus(rack):
    assert ask(rack, command(Do.ENCODER, 8, 0), bus=0) == []
    assert [frame.id for frame in ask(rack, command(Do.ENCODER, 8, 0), bus=1)] == [0x068]


def test_no_board_talks_unasked(rack):
    rack.advance(0.1)
    assert not any(rack.received)


def test_encoders_count_from_zero(rack):
    tell(rack, 0.1, -0.2)
    rack.advance(0.2)
    (frame,) = ask(rack, command(Do.ENCODER, 8, 0))
    first, second = replies.read_encoders(frame.data).counts
    assert first == pytest.approx(0.1 * SCALE, abs=2)
    assert second == pytest.approx(-0.2 * 63661.977, abs=2)


def test_sensors_answer_as_far_as_they_have_axes(rack):
    (force,) = ask(rack, sensor_request(1, Sense.WRENCH), bus=0)
    assert replies.read_force_torque(force.data) == replies.ForceTorque(3.0, -4.0, 200.0)
    (imu,) = ask(rack, sensor_request(3, Sense.IMU), bus=0)
    motion = replies.read_motion(imu.data)
    assert (motion.roll_rate, motion.pitch_rate) == pytest.approx((0.1, -0.2), abs=1e-4)
    both = [ask(rack, sensor_request(2, sense), bus=0)[0].id for sense in (Sense.WRENCH, Sense.ACCELERATION)]
    assert both == [0x042, 0x052]


def test_roll_and_pitch_are_those_of_the_pelvis():
    plant = Joints()
    plant.orientation = (np.sin(0.1), 0.0, 0.0, np.cos(0.1))
    rack = Rack(ROBOT, plant)
    rack.advance(0.01)
    (frame,) = ask(rack, sensor_request(3, Sense.IMU), bus=0)
    motion = replies.read_motion(frame.data)
    assert (motion.roll, motion.pitch) == pytest.approx((0.2, 0.0), abs=1e-4)


def test_a_foot_is_tilted_by_its_leg():
    plant = Joints()
    plant.position[ROBOT.index["RAP"]] = 0.1
    rack = Rack(ROBOT, plant)
    (right,) = ask(rack, sensor_request(1, Sense.ACCELERATION), bus=0)
    (left,) = ask(rack, sensor_request(2, Sense.ACCELERATION), bus=0)
    assert replies.read_tilt(right.data).y == pytest.approx(0.1, abs=1e-4)
    assert replies.read_tilt(left.data).y == 0


def test_a_nulled_sensor_reads_zero(rack):
    ask(rack, command(Do.NULL_SENSOR, SENSOR_BOARD + 1, 0), bus=0)
    (frame,) = ask(rack, sensor_request(1, Sense.WRENCH), bus=0)
    assert replies.read_force_torque(frame.data) == replies.ForceTorque(0, 0, 0)


@settings(max_examples=30)
@given(some.lists(some.tuples(some.integers(0, 0x7FF), some.binary(max_size=8)), min_size=1, max_size=40))
def test_noise_on_both_buses_raises_nothing(noise):
    rack = Rack(ROBOT, Joints())
    for identifier, data in noise:
        rack.send(0, Frame(identifier, data))
        rack.send(1, Frame(identifier, data))
    rack.advance(0.02)
    assert np.isfinite(rack.boards.motors.position).all()


# Control, faults.


def test_control_off_lets_go_and_on_begins_by_holding(rack):
    tell(rack, 0.1)
    rack.advance(0.2)
    ask(rack, command(Do.CONTROL_OFF, 8))
    tell(rack, 0.3)
    rack.advance(0.2)
    assert rack.boards.motors.position[RSP] == pytest.approx(0.1, abs=1e-3)
    assert Status.CONTROL_ON not in status(rack).status
    ask(rack, command(Do.CONTROL_ON, 8))
    rack.advance(0.2)
    assert rack.boards.motors.position[RSP] == pytest.approx(0.1, abs=1e-3)
    tell(rack, 0.3)
    rack.advance(0.2)
    assert rack.boards.motors.position[RSP] == pytest.approx(0.3, abs=1e-3)


def run_into(rack, what):
    rack.break_joint("RSP", what)
    for k in range(100):
        tell(rack, 0.005 * k, 0.002 * k)
        rack.advance(PERIOD)
    rack.advance(0.3)


@pytest.mark.parametrize(
    ("what", "flag"),
    [("jam", Status.JAMMED), ("encoder", Status.ENCODER_ERROR), ("over-current", Status.DRIVER_FAULT)],
)
def test_a_broken_joint_switches_itself_off_and_says_why_and_its_neighbour_goes_on(rack, what, flag):
    run_into(rack, what)
    said = status(rack)
    assert flag in said.status
    assert Status.CONTROL_ON not in said.status
    neighbour = status(rack, motor=1)
    assert neighbour.status == Status.DRIVER_ON | Status.CONTROL_ON | Status.HOMED
    assert rack.boards.motors.position[ROBOT.index["RSR"]] == pytest.approx(0.198, abs=1e-3)


def test_whole_joints_have_no_faults(rack):
    for k in range(100):
        tell(rack, 0.005 * k, 0.002 * k)
        rack.advance(PERIOD)
    assert status(rack).status == Status.DRIVER_ON | Status.CONTROL_ON | Status.HOMED


def test_a_reference_far_away_is_a_big_error():
    rack = Rack(ROBOT, Joints(time_constant=0.5))
    tell(rack, 1.5)
    rack.advance(0.1)
    assert Status.BIG_ERROR in status(rack).status
    assert rack.boards.motors.position[RSP] < 0.5


def test_reset_clears_faults_and_forgets_the_home(rack):
    run_into(rack, "jam")
    rack.break_joint("RSP", "jam", broken=False)
    ask(rack, command(Do.ZERO_ENCODER, 8, 0))
    said = status(rack)
    assert not said.status & (Status.JAMMED | Status.HOMED)
    (frame,) = ask(rack, command(Do.ENCODER, 8, 0))
    assert replies.read_encoders(frame.data).counts[0] == 0


def test_a_jerk_is_no_over_current():
    plant = Joints()
    rack = Rack(ROBOT, plant)
    for effort in (3.0, 0.0, -3.0, 0.0):
        plant.effort[RSP] = effort * ROBOT.joint("RSP").effort
        rack.advance(0.1)
    assert Status.DRIVER_FAULT not in status(rack).status
    plant.effort[RSP] = 3.0 * ROBOT.joint("RSP").effort
    rack.advance(0.3)
    assert Status.DRIVER_FAULT in status(rack).status


def test_a_motor_warms_with_its_current():
    plant = Joints()
    plant.effort[RSP] = 0.8 * ROBOT.joint("RSP").effort
    rack = Rack(ROBOT, plant)
    rack.advance(1.0)
    (frame,) = ask(rack, command(Do.CURRENT, 8))
    reading = replies.read_currents(frame.data, 2)
    assert reading.amperes == pytest.approx((8.0, 0.0), abs=0.02)
    assert reading.temperature > 25


def test_a_dead_board_says_nothing_and_holds_nothing(rack):
    rack.kill_board("JMC8")
    assert ask(rack, command(Do.ENCODER, 8, 0)) == []
    tell(rack, 0.3)
    rack.advance(0.2)
    assert rack.boards.motors.position[RSP] == 0
    rack.kill_board("JMC8", dead=False)
    assert len(ask(rack, command(Do.ENCODER, 8, 0))) == 1


def test_what_cannot_be_broken_is_named(rack):
    with pytest.raises(UnknownName, match="RSQ"):
        rack.break_joint("RSQ")
    with pytest.raises(UnknownName, match="rust"):
        rack.break_joint("RSP", "rust")
    with pytest.raises(HardwareError, match="JMC99"):
        rack.kill_board("JMC99")


# Home.


@pytest.mark.parametrize("start", [0.5, 0.0, -0.06, -0.4])
def test_a_motor_finds_its_home_from_either_side_of_the_switch(start):
    plant = Joints()
    plant.position[RSP] = start
    rack = Rack(ROBOT, plant, homed=False)
    (frame,) = ask(rack, command(Do.ENCODER, 8, 0))
    assert replies.read_encoders(frame.data).counts[0] == 0  # switched on, it does not know where it is
    assert Status.HOMED not in status(rack).status
    ask(rack, command(Do.GO_HOME, 8))
    rack.advance(4.0)
    assert status(rack).home == 6
    assert Status.HOMED in status(rack).status
    assert plant.position[RSP] == pytest.approx(0.0, abs=0.0075)
    (frame,) = ask(rack, command(Do.ENCODER, 8, 0))
    assert replies.read_encoders(frame.data).counts[0] == pytest.approx(plant.position[RSP] * SCALE, abs=0.0015 * SCALE)


def test_the_limit_switch_is_closed_where_it_is():
    offset = WIRING.board_of("RSP").motors[0].home_offset
    plant = Joints()
    rack = Rack(ROBOT, plant)
    for angle, closed in ((-offset + 0.01, False), (-offset - 0.01, True), (-offset - 0.1, False)):
        plant.position[RSP] = angle
        ask(rack, command(Do.CONTROL_OFF, 8))
        rack.advance(0.01)
        assert (Status.AT_LIMIT_SWITCH in status(rack).status) is closed


def test_all_motors_with_a_switch_find_their_true_zero():
    start = np.random.default_rng(1).uniform(-0.2, 0.2, len(ROBOT.joint_names))
    plant = Joints(start=start)
    rack = Rack(ROBOT, plant, homed=False)
    homed = []
    for board in WIRING.active:
        for number, motor in enumerate(board.motors):
            if motor.home_direction:
                rack.send(board.bus, command(Do.GO_HOME, board.number, motor=number))
                homed.append(ROBOT.index[motor.joint])
    rack.advance(6.0)
    assert len(homed) == 25
    assert np.abs(plant.position[homed]).max() < 0.0075
    assert (rack.boards.motors.home[homed] == 6).all()
    assert np.abs(rack.boards.motors.zero[homed]).max() < 0.0015  # a step at the speed of the search


def test_references_do_not_disturb_a_motor_on_its_way_home():
    plant = Joints()
    plant.position[RSP] = 0.4
    rack = Rack(ROBOT, plant, homed=False)
    rack.send(1, command(Do.GO_HOME, 8))
    for _ in range(600):
        tell(rack, 0.7)
        rack.advance(PERIOD)
        if rack.boards.motors.home[RSP] == 6:
            break
        assert plant.position[RSP] < 0.41
    assert rack.boards.motors.home[RSP] == 6


def test_a_jammed_motor_does_not_find_its_home():
    plant = Joints()
    plant.position[RSP] = 0.4
    rack = Rack(ROBOT, plant, homed=False)
    rack.break_joint("RSP")
    ask(rack, command(Do.GO_HOME, 8))
    rack.advance(8.0)
    said = status(rack)
    assert said.home != 6
    assert Status.JAMMED in said.status


# The neck, if it is active.


def test_an_active_neck_follows_in_16_bits():
    with Stage(wiring=WIRING.with_active("EJMC2")) as stage:
        stage.run(0.5, NKY=0.3, NK1=-0.1)
        assert stage.truth("NKY") == pytest.approx(0.3, abs=0.002)
        assert stage.at("NKY") == pytest.approx(0.3, abs=0.004)
        assert stage.at("NK1") == pytest.approx(-0.1, abs=0.004)
