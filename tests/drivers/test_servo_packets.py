"""The servo bus of Mini-Hubo: packets, the table of servos, traffic, and simulated lines."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wholebody import robots
from wholebody.drivers.dynamixel import packets
from wholebody.drivers.dynamixel.packets import BROADCAST, RADIANS_PER_COUNT, Fault, Instruction, Request
from wholebody.drivers.dynamixel.ports import SerialPort
from wholebody.drivers.dynamixel.robot import ServoRobot
from wholebody.drivers.dynamixel.simulated import LineFaults, SimulatedServos
from wholebody.drivers.dynamixel.table import ServoTable, Traffic, traffic
from wholebody.errors import HardwareError

MINI = robots.load("minihubo")
TABLE = ServoTable.of(MINI)
N = len(MINI.moving)
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
    assert packets.signed(packets.unsigned(np.array([float(value)]))).tolist() == [value]


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


# Lines.


@pytest.mark.parametrize(("delay", "micros"), [(0.0, 80 + 500 + 140), (0.001, 80 + 500 + 1000 + 140)])
def test_a_reply_comes_when_its_last_bit_is_through_and_not_before(delay, micros):
    simulated = SimulatedServos(MINI, lines=1, faults=LineFaults(delay=delay))
    (port,) = simulated.ports()
    port.send([packets.read(1, packets.PRESENT_POSITION, 8)])
    simulated.advance((micros - 1) * 1e-6)
    assert port.receive() == b""
    simulated.advance(2e-6)
    assert packets.decode_reply(port.receive()).servo == 1


def test_requests_wait_for_the_replies_before_them_and_the_newest_batch_wins():
    simulated = SimulatedServos(MINI, lines=1)
    (port,) = simulated.ports()
    port.send([packets.read(number, packets.PRESENT_POSITION, 8) for number in (1, 2, 3)])
    simulated.advance(2 * 720e-6 + 1e-6)  # the third is on its way
    port.send([packets.ping(4)])
    simulated.advance(0.01)
    heard = [packets.decode_reply(packet).servo for packet in packets.split(port.receive()).packets]
    assert heard == [1, 2, 3, 4]
    port.send([packets.read(number, packets.PRESENT_POSITION, 8) for number in (1, 2, 3)])
    simulated.advance(720e-6)  # the second has not begun
    port.send([packets.ping(4)])
    simulated.advance(0.01)
    heard = [packets.decode_reply(packet).servo for packet in packets.split(port.receive()).packets]
    assert heard == [1, 4]


def test_a_servo_does_not_answer_for_another_nor_to_what_it_does_not_know():
    servos = SimulatedServos(MINI).servos
    assert servos.hear(Request(77, Instruction.PING)) is None
    reply = servos.hear(Request(1, Instruction.READ, bytes((45, 20))))
    assert packets.decode_reply(reply).faults == Fault.RANGE
    reply = servos.hear(Request(1, Instruction.WRITE, bytes((packets.GOAL_POSITION, 0xFF, 0x0F))))
    assert packets.decode_reply(reply).faults == Fault.ANGLE_LIMIT
    reply = servos.hear(Request(1, Instruction.WRITE, bytes((packets.PRESENT_POSITION, 1))))
    assert packets.decode_reply(reply).faults == Fault.RANGE
