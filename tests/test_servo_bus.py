"""The servo bus of Mini-Hubo: packets, lines, simulated servos, and the robot on them."""

import math
import multiprocessing
import os
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wholebody import robots
from wholebody.errors import HardwareError
from wholebody.hardware import Boards, RobotInterface
from wholebody.hardware.servo_bus import packets, registers
from wholebody.hardware.servo_bus.line import LineFaults
from wholebody.hardware.servo_bus.packets import BROADCAST, Fault, Instruction, Request
from wholebody.hardware.servo_bus.ports import DatagramPort, SerialPort
from wholebody.hardware.servo_bus.registers import RADIANS_PER_COUNT
from wholebody.hardware.servo_bus.robot import HOLLOW, HOMING_SPEED, ServoRobot
from wholebody.hardware.servo_bus.simulated import SimulatedServos, serve
from wholebody.hardware.servo_bus.table import ServoTable
from wholebody.hardware.servo_bus.traffic import Traffic, traffic
from wholebody.messages import ALL_JOINTS, Measured, Mode, Status, Verb

MINI = robots.load("minihubo")
TABLE = ServoTable.of(MINI)
N = len(MINI.moving)
RSP = MINI.index["RSP"]
PERIOD = 0.005

servo_numbers = st.integers(0, 253)
data = st.binary(max_size=60)


# Packets.


@pytest.mark.parametrize(
    ("packet", "golden"),
    [
        (packets.ping(1), "ff ff 01 02 01 fb"),
        (packets.read(1, 43, 1), "ff ff 01 04 02 2b 01 cc"),
        (packets.read(3, 36, 8), "ff ff 03 04 02 24 08 ca"),
        (packets.write(BROADCAST, 24, b"\x01"), "ff ff fe 04 03 18 01 e1"),
        (packets.write(1, 30, b"\x00\x02\x00\x02"), "ff ff 01 07 03 1e 00 02 00 02 d2"),
        (
            packets.sync_write(30, {0: bytes.fromhex("10005001"), 1: bytes.fromhex("20026003")}),
            "ff ff fe 0e 83 1e 04 00 10 00 50 01 01 20 02 60 03 67",
        ),
        (packets.reply(1, 0, b"\x20"), "ff ff 01 03 00 20 db"),
        (packets.reply(2, Fault.OVERLOAD | Fault.OVERHEATING), "ff ff 02 02 24 d7"),
    ],
)
def test_packets_are_the_bytes_of_the_protocol(packet, golden):
    assert packet.hex(" ") == golden


@given(servo_numbers, st.sampled_from([Instruction.PING, Instruction.READ, Instruction.WRITE]), data)
def test_a_request_survives_the_way_there(servo, instruction, parameters):
    packet = packets._packet(servo, instruction, parameters)
    assert packets.decode_request(packet) == Request(servo, instruction, parameters)


@given(servo_numbers, st.integers(0, 127), data)
def test_a_reply_survives_the_way_back(servo, faults, content):
    reply = packets.decode_reply(packets.reply(servo, faults, content))
    assert (reply.servo, reply.faults, reply.data) == (servo, Fault(faults), content)


@given(st.dictionaries(servo_numbers, st.binary(min_size=4, max_size=4), min_size=1, max_size=40), st.integers(0, 40))
def test_a_sync_write_gives_every_servo_its_own(parts, address):
    request = packets.decode_request(packets.sync_write(address, parts))
    assert request.servo == BROADCAST
    assert packets.decode_sync_write(request.parameters) == (address, parts)


@given(st.lists(st.tuples(servo_numbers, data), max_size=6), st.integers(0, 400))
def test_packets_are_found_however_the_stream_is_cut(replies, cut):
    sent = [packets.reply(servo, 0, content) for servo, content in replies]
    stream = b"".join(sent)
    first = packets.split(stream[:cut])
    second = packets.split(first.rest + stream[cut:])
    assert [*first.packets, *second.packets] == sent
    assert (second.rest, first.spoilt, second.spoilt) == (b"", 0, 0)


@given(st.binary(max_size=30).filter(lambda noise: b"\xff" not in noise), data)
def test_noise_before_a_packet_is_skipped_and_counted(noise, content):
    packet = packets.reply(7, 0, content)
    found = packets.split(noise + packet)
    assert (found.packets, found.spoilt) == ((packet,), len(noise))


@given(data, st.data())
def test_a_single_wrong_byte_never_passes_for_a_packet(content, draw):
    packet = bytearray(packets.reply(7, 0, content))
    packet[draw.draw(st.integers(2, len(packet) - 1))] ^= draw.draw(st.integers(1, 255))
    assert bytes(packet) not in packets.split(bytes(packet)).packets
    with pytest.raises(HardwareError, match="no packet"):
        packets.decode_reply(bytes(packet))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: packets.ping(255),
        lambda: packets.write(1, 0, bytes(300)),
        lambda: packets.sync_write(30, {1: b"ab", 2: b"a"}),
        lambda: packets.decode_request(packets._packet(1, 0x55, b"")),
        lambda: ServoTable.of(robots.load("hubo2plus")),
        lambda: ServoTable.of(MINI, 3),
        lambda: Traffic(0),
        lambda: LineFaults(loss=2),
        lambda: ServoRobot(MINI, SimulatedServos(MINI).ports(), period=0.0005),
        lambda: SerialPort("/dev/no such line"),
    ],
)
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(HardwareError):
        wrong()


@given(st.integers(-1023, 1023))
def test_speeds_and_loads_keep_their_sign_in_a_register(value):
    assert registers.signed(registers.unsigned(np.array([float(value)]))).tolist() == [value]


# Table and traffic.


def test_every_joint_has_a_servo_of_its_own():
    assert len(set(TABLE.servo)) == N == 22
    assert sorted(TABLE.servo) == list(range(1, 23))
    assert "mini-hubo-ach" in TABLE.source
    assert [len(TABLE.on(line)) for line in range(2)] == [13, 9]


@given(st.lists(st.floats(-4, 4), min_size=N, max_size=N))
def test_counts_are_the_nearest_that_a_servo_can_show(wanted):
    position = np.clip(np.array(wanted), TABLE.lower, TABLE.upper)
    counts = TABLE.counts(np.array(wanted))
    shown = [TABLE.position(joint, int(counts[joint])) for joint in range(N)]
    assert np.abs(shown - position).max() <= RADIANS_PER_COUNT / 2 + 1e-9


def test_the_right_shoulder_turns_as_on_hubo_and_reaches_where_the_robot_says():
    roll = MINI.index["RSR"]
    assert TABLE.lower[roll] < MINI.joint("RSR").lower
    assert TABLE.upper[roll] > MINI.joint("RSR").upper


def test_traffic_is_counted_byte_by_byte():
    both = traffic(TABLE)
    lower, upper = both["lower"], both["upper"]
    assert lower.write_time == pytest.approx((8 + 13 * 5) * 10e-6)
    assert lower.cycle_time() == pytest.approx(730e-6 + 13 * 220e-6 + 240e-6)
    assert lower.use(PERIOD) == pytest.approx(0.766, abs=1e-3)
    assert upper.use(PERIOD) == pytest.approx(0.55, abs=1e-3)
    assert lower.highest_rate == pytest.approx(261.1, abs=0.1)
    one = traffic(ServoTable.of(MINI, 1))["all"]
    assert one.highest_rate == pytest.approx(159.7, abs=0.1)
    assert one.reads_within(PERIOD) == 15, "on one line at 200 Hz servos must take turns"
    factory = Traffic(13, return_delay=500e-6)
    assert factory.highest_rate == pytest.approx(92.3, abs=0.1)


# The robot on simulated servos, in virtual time.


class Mini:
    """A robot, its simulated servos, and a loop that writes, lets a period go by and reads."""

    def __init__(self, simulated=None, lines=None, faults=None, period=PERIOD):
        self.simulated = simulated or SimulatedServos(MINI, lines=lines, faults=faults)
        self.period = period
        self.robot = ServoRobot(MINI, self.simulated.ports()[:lines], period)
        self.state = np.zeros(1, MINI.state_dtype())[0]
        self.reference = np.zeros(1, MINI.reference_dtype())[0]
        self.robot.__enter__()
        self.robot.read(self.state)
        self.reference["position"], self.reference["mask"] = self.state["position"], True

    def go(self, seconds):
        seen = []
        for _ in range(round(seconds / self.period)):
            self.robot.write(self.reference)
            self.simulated.advance(self.period)
            self.robot.read(self.state)
            seen.append(self.state.copy())
        return seen

    @property
    def truth(self):
        return self.simulated.servos.plant.position

    def home(self):
        assert self.robot.command(Verb.HOME, ALL_JOINTS, ()).accepted
        self.go(0.2)
        self.reference["position"] = 0.001
        self.go(0.05)
        return self


@pytest.fixture
def mini():
    return Mini().home()


def test_it_is_a_robot_with_boards(mini):
    assert isinstance(mini.robot, RobotInterface)
    assert isinstance(mini.robot, Boards)
    assert mini.robot.modes == {Mode.POSITION}
    assert mini.robot.simulated


@pytest.mark.parametrize("lines", [1, 2])
def test_every_joint_goes_where_it_is_told_to_a_count(lines):
    mini = Mini(lines=lines).home()
    lower, upper = (np.array([getattr(j, end) for j in MINI.moving]) for end in ("lower", "upper"))
    mini.reference["position"] = np.clip(np.linspace(-0.4, 0.4, N), lower, upper)
    mini.go(0.8)
    assert np.abs(mini.truth - mini.reference["position"]).max() <= RADIANS_PER_COUNT / 2 + 1e-6
    assert np.abs(mini.state["position"] - mini.truth).max() <= RADIANS_PER_COUNT / 2 + 1e-6
    assert mini.robot.unanswered.sum() == 0


def test_velocity_effort_and_temperature_are_the_servos(mini):
    mini.reference["position"][RSP] = 0.6
    states = mini.go(0.4)
    fastest = max(state["velocity"][RSP] for state in states)
    assert fastest == pytest.approx(MINI.joint("RSP").velocity, rel=0.15)
    mini.simulated.servos.plant.load[RSP] = -1.5
    mini.go(0.5)
    assert mini.state["effort"][RSP] == pytest.approx(1.5, abs=0.02)
    assert mini.state["temperature"].tolist() == [25] * N


def test_measured_is_what_servos_measure_and_nothing_else(mini):
    flags = Measured.POSITION | Measured.VELOCITY | Measured.EFFORT | Measured.TEMPERATURE
    assert (mini.state["measured"] == flags).all()
    assert mini.state["imu"]["measured"].tolist() == [0], "Mini-Hubo has no IMU"
    assert mini.state["force_torque"]["measured"].tolist() == [0, 0], "they are not on the servo lines"
    assert not mini.state["base"]["known"]
    assert mini.state["imu"]["orientation"][0].tolist() == [0, 0, 0, 1]


def test_servos_are_limp_until_they_are_switched_on():
    mini = Mini()
    mini.reference["position"][RSP] = 0.5
    mini.go(0.5)
    assert mini.truth[RSP] == 0
    assert not mini.state["status"][RSP] & Status.CONTROL_ON
    mini.robot.command(Verb.CONTROL, RSP, (1.0,))
    states = mini.go(1.4)
    assert mini.truth[RSP] == pytest.approx(0.5, abs=0.01)
    assert max(abs(s["velocity"][RSP]) for s in states) < 1.3 * HOMING_SPEED, "what is switched on does not jump"
    assert mini.state["status"][RSP] & Status.CONTROL_ON
    mini.robot.command(Verb.CONTROL, RSP, (0.0,))
    mini.simulated.servos.plant.load[RSP] = -1.0
    mini.go(0.5)
    assert mini.truth[RSP] < 0


def test_home_is_a_slow_way_to_zero_that_old_references_do_not_undo(mini):
    mini.reference["position"][RSP] = 0.4
    mini.go(0.3)
    mini.robot.command(Verb.HOME, RSP, ())
    states = mini.go(1.2)
    assert not states[20]["status"][RSP] & Status.HOMED, "on its way"
    assert mini.state["status"][RSP] & Status.HOMED
    assert mini.truth[RSP] == pytest.approx(0, abs=RADIANS_PER_COUNT), "the reference is still 0.4"
    assert max(abs(s["velocity"][RSP]) for s in states) < 1.3 * HOMING_SPEED
    mini.reference["position"][RSP] = 0.3
    states = mini.go(1.0)
    assert mini.truth[RSP] == pytest.approx(0.3, abs=0.01), "a new one is followed"
    assert max(abs(s["velocity"][RSP]) for s in states) < 1.3 * HOMING_SPEED


def test_joints_out_of_the_mask_and_in_other_modes_keep_what_they_had(mini):
    mini.reference["position"] = 0.1
    mini.reference["mask"] = False
    mini.reference["mask"][[RSP, 0]] = True
    mini.reference["mode"][0] = Mode.EFFORT
    mini.reference["position"][1] = math.nan
    mini.go(0.5)
    assert np.flatnonzero(np.abs(mini.truth) > 0.05).tolist() == [RSP]


def test_stop_holds_every_joint_on_its_way(mini):
    mini.reference["position"][RSP] = 1.2
    mini.go(0.1)
    mini.robot.stop()
    mini.simulated.advance(0.5)
    there = mini.truth[RSP]
    assert 0.05 < there < 0.9
    mini.simulated.advance(1.0)
    assert mini.truth[RSP] == pytest.approx(there, abs=1e-6)


def test_servos_hold_when_the_daemon_dies_and_the_next_takes_over_without_a_jump(mini):
    mini.reference["position"][RSP] = 0.8
    mini.simulated.servos.plant.load[RSP] = 1.0
    mini.go(1.0)
    before = mini.truth.copy()
    mini.simulated.advance(3.0)  # nobody says anything
    assert mini.truth == pytest.approx(before, abs=1e-9)
    after = Mini(mini.simulated)
    assert after.robot._goal[RSP] == pytest.approx(0.8, abs=RADIANS_PER_COUNT)
    assert after.state["status"][RSP] & Status.CONTROL_ON
    states = after.go(0.5)
    assert np.ptp([s["position"][RSP] for s in states]) < 0.04, "no further than the load had moved it"


@pytest.mark.parametrize("faults", [LineFaults(loss=0.2, seed=3), LineFaults(corruption=0.2, seed=4)])
def test_on_a_bad_line_the_robot_still_moves_and_counts(faults):
    mini = Mini(faults=faults).home()
    mini.go(0.5)
    mini.reference["position"][RSP] = 0.5
    states = mini.go(1.0)
    assert mini.truth[RSP] == pytest.approx(0.5, abs=0.01)
    assert mini.robot.unanswered.sum() > 50
    positions = np.array([state["position"] for state in states])
    assert np.abs(np.delete(positions, RSP, 1)).max() < 0.02, "nothing spoilt is taken for a position"
    if faults.corruption:
        assert mini.robot.readings.spoilt > 0


def test_faults_are_the_same_again_with_the_same_seed():
    def counted(seed):
        return Mini(faults=LineFaults(loss=0.1, seed=seed)).home().robot.unanswered.tolist()

    assert counted(1) == counted(1) != counted(2)


def test_a_dead_servo_keeps_its_last_value_is_counted_and_flagged(mini):
    mini.reference["position"][RSP] = 0.3
    mini.go(0.5)
    mini.simulated.servos.dead.add(RSP)
    last = mini.state["position"][RSP]
    mini.reference["position"][RSP] = 0.0
    mini.go(0.5)
    assert mini.state["position"][RSP] == last
    assert mini.robot.unanswered[RSP] >= HOLLOW
    before = np.delete(mini.robot.unanswered, RSP)
    mini.go(0.2)
    assert mini.robot.unanswered[RSP] > HOLLOW, "it is asked again, now and then"
    assert np.delete(mini.robot.unanswered, RSP).sum() - before.sum() < 10, "the others have their line for themselves"
    assert mini.state["status"][RSP] & Status.ENCODER_ERROR
    assert not mini.state["status"][0] & Status.ENCODER_ERROR


def test_a_robot_without_any_servo_is_refused_and_one_with_a_dead_one_is_not():
    simulated = SimulatedServos(MINI)
    simulated.servos.dead.add(RSP)
    mini = Mini(simulated)
    assert mini.state["measured"][RSP] == 0
    assert mini.state["measured"][0] != 0
    simulated.servos.dead.update(range(N))
    with pytest.raises(HardwareError, match="no servo answers"):
        Mini(simulated)


@pytest.mark.parametrize(
    ("fault", "flag"),
    [
        (Fault.OVERHEATING, Status.TOO_HOT),
        (Fault.OVERLOAD, Status.SATURATED),
        (Fault.VOLTAGE, Status.DRIVER_FAULT),
    ],
)
def test_what_a_servo_complains_of_is_in_the_status(mini, fault, flag):
    mini.simulated.servos.faults[RSP] = fault
    mini.go(0.05)
    assert mini.state["status"][RSP] & flag
    assert not mini.state["status"][0] & flag
    mini.simulated.servos.faults[RSP] = 0
    mini.go(0.05)
    assert not mini.state["status"][RSP] & flag


def test_a_load_beyond_the_servo_is_an_overload(mini):
    mini.simulated.servos.plant.load[RSP] = 4.0
    mini.go(0.5)
    assert mini.state["status"][RSP] & Status.SATURATED


def test_where_no_servo_turns_it_stops_and_says_so(mini):
    mini.reference["position"][RSP] = -2.9
    mini.go(2.0)
    assert mini.truth[RSP] == pytest.approx(TABLE.lower[RSP], abs=0.01)
    assert mini.state["status"][RSP] & Status.POSITION_BELOW_MINIMUM


def test_a_console_hears_what_servos_cannot_do(mini):
    answer = mini.robot.command(Verb.GAINS, 0, (1.0, 0, 0))
    assert not answer.accepted
    assert "home" in answer.text
    told = mini.robot.command(Verb.STATUS, RSP, ())
    assert told.text == "servo 17: faults none, 0 unanswered"
    assert told.status & Status.HOMED
    assert told.values[2] == 25


def test_a_line_is_as_busy_as_counted(mini):
    before = [line.busy for line in mini.simulated.lines]
    mini.go(1.0)
    used = [(line.busy - was) / 1.0 for line, was in zip(mini.simulated.lines, before, strict=True)]
    assert used == pytest.approx([each.use(PERIOD) for each in mini.robot.traffic.values()], abs=1e-3)


def test_a_loop_too_fast_for_the_line_reads_servos_in_turn():
    mini = Mini(lines=1).home()
    mini.reference["position"] = 0.02
    at = [np.array([state["position"] for state in mini.go(0.2)])]
    changes = (np.diff(at[0], axis=0) != 0).any(0)
    assert changes[np.array([j.upper > 0.02 for j in MINI.moving])].all(), "everyone's turn comes"
    assert mini.robot.unanswered.sum() == 0, "and nobody is asked for more than fits"


# A process of its own, and a real serial line.


def be_servos(connection, faults=None):
    serve(MINI, ports=(0, 0), step=0.002, faults=faults, ready=connection.send)


@pytest.fixture
def process():
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=be_servos, args=(theirs,))
    process.start()
    assert ours.poll(30)
    yield ours.recv()
    process.terminate()
    process.join(10)
    assert process.exitcode == 0


def live(robot, reference, state, seconds, until=lambda state: False):
    end = time.monotonic() + seconds
    while time.monotonic() < end and not until(state):
        robot.write(reference)
        time.sleep(PERIOD)
        robot.read(state)


def test_servos_in_a_process_of_their_own_hold_while_daemons_come_and_go(process):
    state, reference = np.zeros(1, MINI.state_dtype())[0], np.zeros(1, MINI.reference_dtype())[0]
    reference["mask"] = True
    ports = [DatagramPort(number) for number in process]
    first = ServoRobot(MINI, ports)
    first.__enter__()
    first.command(Verb.HOME, ALL_JOINTS, ())
    live(first, reference, state, 20, lambda state: (state["status"] & Status.CONTROL_ON).all())
    reference["position"][RSP] = 0.5
    live(first, reference, state, 20, lambda state: abs(state["position"][RSP] - 0.5) < 0.01)
    assert state["position"][RSP] == pytest.approx(0.5, abs=0.01)
    for port in ports:  # it dies, without a word; the next one finds everything as it was
        port.close()
    with ServoRobot(MINI, [DatagramPort(number) for number in process]) as second:
        second.read(state)
        assert state["position"][RSP] == pytest.approx(0.5, abs=0.01)
        assert state["reference"][RSP] == pytest.approx(0.5, abs=0.01)
        reference["position"][RSP] = 0.1
        live(second, reference, state, 20, lambda state: abs(state["position"][RSP] - 0.1) < 0.01)
        assert state["position"][RSP] == pytest.approx(0.1, abs=0.01)


def test_nobody_at_the_other_end_is_an_error_with_a_remedy():
    with pytest.raises(HardwareError, match="switched on"), ServoRobot(MINI, DatagramPort(1)):
        pass


def answer_on(master, servos, stop):
    """The far end of a serial line: bytes in, bytes out, as a bus of real servos."""
    got = b""
    while not stop.is_set():
        try:
            got += os.read(master, 4096)
        except BlockingIOError:
            time.sleep(0.0001)
            continue
        found = packets.split(got)
        got = found.rest
        for packet in found.packets:
            answer = servos.hear(packets.decode_request(packet))
            if answer:
                os.write(master, answer)


def test_the_same_robot_runs_on_a_serial_device():
    master, slave = os.openpty()
    os.set_blocking(master, False)
    simulated, stop = SimulatedServos(MINI, lines=1), threading.Event()
    port = SerialPort(os.ttyname(slave))
    far = threading.Thread(target=answer_on, args=(master, simulated.servos, stop))
    far.start()
    try:
        state, reference = np.zeros(1, MINI.state_dtype())[0], np.zeros(1, MINI.reference_dtype())[0]
        with ServoRobot(MINI, port, period=0.02, simulated=False) as robot:
            assert not robot.simulated
            robot.command(Verb.CONTROL, RSP, (1.0,))
            reference["mask"][RSP], reference["position"][RSP] = True, 0.3
            until = time.monotonic() + 20
            while abs(state["position"][RSP] - 0.3) > 0.01 and time.monotonic() < until:
                robot.write(reference)
                time.sleep(0.02)
                for _ in range(20):
                    simulated.servos.advance()
                robot.read(state)
            assert state["position"][RSP] == pytest.approx(0.3, abs=0.01)
            assert (state["measured"] > 0).all()
    finally:
        stop.set()
        far.join()
        os.close(master)
        os.close(slave)
