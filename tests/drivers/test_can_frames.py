"""Frames say byte by byte what the protocol says, come back as they went, and noise harms nobody."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as some

from wholebody.drivers.hubo_can import commands, replies
from wholebody.drivers.hubo_can.commands import TABLE, Do, Sense, command, read_command
from wholebody.drivers.hubo_can.frames import Kind, from_sign_magnitude, sign_magnitude
from wholebody.drivers.hubo_can.replies import (
    Currents,
    Encoders,
    ForceTorque,
    Motion,
    MotorStatus,
    Power,
    Tilt,
    read_status,
    write_status,
)
from wholebody.errors import HardwareError
from wholebody.messages import Status

counts_24 = some.integers(-0x7FFFFF, 0x7FFFFF)
counts_32 = some.integers(-(2**31), 2**31 - 1)
counts_16 = some.integers(-32768, 32767)
duties = some.integers(-100, 100).map(lambda percent: percent / 100)


# Golden bytes, worked out by hand from the tables.


@pytest.mark.parametrize(
    ("frame", "identifier", "data"),
    [
        # References: 010 + board; 1000 = 0x0003E8, −1000 = sign bit and the same.
        (commands.motors(8, (1000, -1000)), 0x018, "e80300 e80380"),
        (commands.motors(1, (-1,)), 0x011, "010080 010080"),
        (commands.motors(0, (0x7FFFFF, 0x800000)), 0x010, "ffff7f ffff7f"),
        (commands.neck(0x22, (0.0, math.pi, -math.pi)), 0x032, "0008 ff0f 0000"),
        (commands.hand(0x24, (0.0, 1.0, -1.0, 0.5, -0.01)), 0x001, "24 0d 01 00 64 e4 32 81"),
        # Commands: 001, board, code, …
        (command(Do.STATUS, 0x23), 0x001, "23 02 00"),
        (command(Do.ENCODER, 0x24, 1), 0x001, "24 03 01"),
        (command(Do.CURRENT, 9), 0x001, "09 04"),
        (command(Do.ZERO_ENCODER, 9, commands.ALL_MOTORS), 0x001, "09 06 0f"),
        (command(Do.POSITION_GAINS, 5, 1, 256, 65535), 0x001, "05 07 0100 0001 ffff"),
        (command(Do.POSITION_GAINS, 5, 1, 2, 3, motor=1), 0x001, "05 08 0100 0200 0300"),
        (command(Do.DRIVER, 5, 1), 0x001, "05 0b 01"),
        (command(Do.CONTROL_ON, 5), 0x001, "05 0e"),
        (command(Do.CONTROL_OFF, 5), 0x001, "05 0f"),
        (command(Do.GO_HOME, 8), 0x001, "08 11 12 0000000000"),
        (command(Do.GO_HOME, 8, motor=1), 0x001, "08 11 22 0000000000"),
        (command(Do.READ_POWER, 0x0E), 0x001, "0e e0"),
        (command(Do.INITIALIZE, 8), 0x001, "08 fa"),
        (command(Do.INITIALIZE, 0x30, 0xAA), 0x001, "30 fa aa"),
        (command(Do.NULL_SENSOR, 0x30, 4), 0x001, "30 81 04"),
        (command(Do.NULL_SENSOR, 0x32), 0x001, "32 81"),
        # Sensors: 002; the IMU has its own request.
        (commands.sensor_request(1, Sense.WRENCH), 0x002, "01 12"),
        (commands.sensor_request(2, Sense.ACCELERATION), 0x002, "02 22"),
        (commands.sensor_request(3, Sense.IMU), 0x002, "00 01 00"),
        # Replies.
        (replies.encoders(8, (1, -1)), 0x068, "01000000 ffffffff"),
        (replies.encoders(0x23, (5,)), 0x083, "05000000 05000000"),
        (replies.encoders(0x24, (1, 2, 3, 4, -5), Kind.HAND), 0x084, "0100 0200 0300"),
        (replies.encoders(0x24, (1, 2, 3, 4, -5), Kind.HAND, second_half=True), 0x084, "0400 fbff"),
        (replies.force_torque(1, ForceTorque(1.0, -1.0, 250.0)), 0x041, "6400 9cff c409"),
        (replies.tilt(2, Tilt(math.radians(1), -math.radians(2), 1.0)), 0x052, "6400 38ff ee02"),
        (replies.motion(3, Motion(math.radians(1), 0, 0, -math.radians(1))), 0x053, "6400 0000 0000 9cff"),
        (replies.power(Power(48.0, 2.5, 120.0)), 0x06E, "c012 fa00 b004"),
        (replies.currents(8, (5.23, 0.02), 40), 0x1C8, "82 00 28 0b"),  # 523 = 0x82·4 + 3, 2 = 0·4 + 2
        (replies.currents(0x22, (0.1, 0.2, 1.0), 30), 0x1E2, "19 32 1e fa"),
        (replies.currents(0x24, (0.001, 0.002, 0.003, 0.004, 0.005)), 0x1E4, "01 02 03 00 04 05"),
        (
            write_status(8, [MotorStatus(Status.DRIVER_ON | Status.CONTROL_ON, home=6), MotorStatus(Status.JAMMED)]),
            0x158,
            "63 00 00 00 00 01 00 00",
        ),
        (write_status(1, [MotorStatus(Status.TOO_HOT, mode=1, failures=2)]), 0x151, "04 40 10 00 00000000"),
        (write_status(0x24, [MotorStatus(Status.DRIVER_ON | Status.ENCODER_ERROR)] * 5), 0x174, "81 81 81 81 81"),
    ],
)
def test_a_frame_is_what_the_tables_say(frame, identifier, data):
    assert frame.id == identifier
    assert frame.data.hex() == data.replace(" ", "")


# There and back.


@given(counts_24)
def test_counts_come_back_from_24_bits(counts):
    bits = sign_magnitude(counts)
    assert 0 <= bits < 1 << 24
    assert from_sign_magnitude(bits) == counts


@given(counts_32)
def test_too_many_counts_become_the_most_of_the_same_sign(counts):
    back = from_sign_magnitude(sign_magnitude(counts))
    assert back == max(-0x7FFFFF, min(counts, 0x7FFFFF))


@given(counts_24, counts_24)
def test_references_come_back(first, second):
    assert commands.read_motors(commands.motors(4, (first, second)).data) == (first, second)


@given(some.lists(some.floats(-math.pi, math.pi), min_size=3, max_size=3))
def test_the_neck_comes_back_within_a_count(angles):
    assert commands.read_neck(commands.neck(0x22, angles).data) == pytest.approx(angles, abs=1.001 * math.pi / 4095)


@given(some.lists(duties, min_size=5, max_size=5))
def test_duties_come_back(wanted):
    assert commands.read_hand(commands.hand(0x24, wanted).data) == pytest.approx(wanted)


def _numbers(layout):
    sizes = {"B": some.integers(0, 255), "H": some.integers(0, 65535), "i": counts_32}
    return some.tuples(*(sizes[letter] for letter in layout.format))


@pytest.mark.parametrize("do", Do)
@given(data=some.data())
def test_every_command_comes_back(do, data):
    layout = TABLE[do]
    motor = data.draw(some.integers(0, max(layout.motors, 5 if do is Do.GO_HOME else 1) - 1))
    values = data.draw(_numbers(layout))
    frame = command(do, 0x21, *values, motor=motor)
    assert len(frame.data) <= 8
    assert read_command(frame.data) == commands.Command(do, 0x21, motor, values)


def test_every_code_is_that_of_one_command_only():
    codes = [layout.code + motor for layout in TABLE.values() for motor in range(max(layout.motors, 1))]
    assert len(codes) == len(set(codes))
    assert commands.DUTIES not in codes


@given(counts_32, counts_32)
def test_encoders_come_back(first, second):
    assert replies.read_encoders(replies.encoders(8, (first, second)).data) == Encoders((first, second))


@given(some.lists(counts_16, min_size=5, max_size=5))
def test_encoders_of_a_hand_come_back_in_halves(counts):
    first = replies.read_encoders(replies.encoders(0x24, counts, Kind.HAND).data, Kind.HAND)
    second = replies.read_encoders(replies.encoders(0x24, counts, Kind.HAND, second_half=True).data, Kind.HAND)
    assert (first, second) == (Encoders(tuple(counts[:3])), Encoders(tuple(counts[3:]), 3))


@given(some.lists(counts_16, min_size=4, max_size=4))
def test_sensors_come_back(counts):
    x, y, z, _ = counts
    force = ForceTorque(x * replies.TORQUE, y * replies.TORQUE, z * replies.FORCE)
    tilt = Tilt(x * replies.CENTIDEGREE, y * replies.CENTIDEGREE, z / replies.G_COUNTS)
    motion = Motion(*(count * replies.CENTIDEGREE for count in counts))
    power = Power(x / 100, y / 100, z / 10)
    assert replies.read_force_torque(replies.force_torque(6, force).data) == force
    assert replies.read_tilt(replies.tilt(1, tilt).data) == tilt
    assert replies.read_motion(replies.motion(3, motion).data) == motion
    assert replies.read_power(replies.power(power).data) == power


@pytest.mark.parametrize(
    ("motors", "unit", "most"), [(1, 0.01, 1023), (2, 0.01, 1023), (3, 1 / 250, 255), (5, 1 / 1000, 255)]
)
@given(data=some.data())
def test_currents_come_back(motors, unit, most, data):
    counts = data.draw(some.lists(some.integers(0, most), min_size=motors, max_size=motors))
    warm = data.draw(some.integers(0, 255))
    amperes = [count * unit for count in counts]
    back = replies.read_currents(replies.currents(8, amperes, warm).data, motors)
    assert back.amperes == pytest.approx(amperes)
    assert back == Currents(back.amperes, None if motors == 5 else warm)


statuses = some.builds(
    MotorStatus,
    flags=some.integers(0, 0x7FFF).map(lambda bits: Status(bits) & ~(Status.HOMED | Status.MOTOR_FAILED)),
    home=some.integers(0, 15),
    mode=some.integers(0, 1),
    failures=some.integers(0, 3),
)


@given(some.lists(statuses, min_size=1, max_size=2))
def test_status_comes_back(motors):
    assert read_status(write_status(8, motors).data, len(motors)) == tuple(motors)


@given(statuses)
def test_home_flag_six_alone_says_homed_and_any_failure_says_failed(motor):
    assert (Status.HOMED in motor.status) == (motor.home == 6)
    assert (Status.MOTOR_FAILED in motor.status) == (motor.failures > 0)


@given(some.lists(some.integers(0, 255), min_size=3, max_size=5))
def test_short_status_comes_back_bit_by_bit(data):
    motors = read_status(bytes(data), len(data))
    assert write_status(0x22, motors).data == bytes(data)


@pytest.mark.parametrize("what", [kind for kind in Sense if kind is not Sense.IMU])
def test_a_sensor_is_asked_for_what_it_is_asked_for(what):
    assert commands.read_sensor_request(commands.sensor_request(6, what).data) == (6, what)


# Noise.


@given(some.binary(max_size=8), some.sampled_from(Kind))
def test_no_frame_makes_a_reader_raise(data, kind):
    replies.read_encoders(data, kind)
    for motors in (1, 2, 3, 5):
        read_status(data, motors)
        replies.read_currents(data, motors)
    for reader in (
        *(read_command, commands.read_sensor_request, commands.read_motors, commands.read_neck, commands.read_hand),
        *(replies.read_force_torque, replies.read_motion, replies.read_tilt, replies.read_power),
    ):
        reader(data)


@pytest.mark.parametrize(
    ("do", "values", "motor"),
    [
        (Do.POSITION_GAINS, (1, 2), 0),
        (Do.POSITION_GAINS, (1, 2, 70000), 0),
        (Do.POSITION_GAINS, (1, 2, 3), 2),
        (Do.DRIVER, (), 0),
        (Do.CONTROL_ON, (), 1),
    ],
)
def test_what_no_board_could_read_is_not_written(do, values, motor):
    with pytest.raises(HardwareError, match=do.value):
        command(do, 8, *values, motor=motor)
