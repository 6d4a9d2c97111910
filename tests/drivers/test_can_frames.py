"""Frames say byte by byte what the protocol says, come back as they went, and noise harms nobody."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as some

from wholebody.drivers.hubo_can import commands, references, replies
from wholebody.drivers.hubo_can.commands import (
    TABLE,
    BoardParameters,
    Do,
    MotorParameters,
    Sense,
    command,
    read_command,
)
from wholebody.drivers.hubo_can.frames import Frame, Garbage, Kind, from_sign_magnitude, sign_magnitude
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
        (references.motors(8, (1000, -1000)), 0x018, "e80300 e80380"),
        (references.motors(1, (-1,)), 0x011, "010080 010080"),
        (references.motors(0, (0x7FFFFF, 0x800000)), 0x010, "ffff7f ffff7f"),
        (references.neck(0x22, (0.0, math.pi, -math.pi)), 0x032, "0008 ff0f 0000"),
        (references.wrist(0x24, -2, (0.05, -0.5)), 0x034, "020080 05 8a"),
        (references.hand(0x24, (0.0, 1.0, -1.0, 0.5, -0.01)), 0x001, "24 0d 01 00 64 e4 32 81"),
        # Commands: 001, board, code, …
        (command(Do.BOARD_INFO, 3), 0x001, "03 01"),
        (command(Do.STATUS, 0x23), 0x001, "23 02 00"),
        (command(Do.ENCODER, 0x24, 1), 0x001, "24 03 01"),
        (command(Do.CURRENT, 9), 0x001, "09 04"),
        (command(Do.ZERO_ENCODER, 9, commands.ALL_MOTORS), 0x001, "09 06 0f"),
        (command(Do.POSITION_GAINS, 5, 1, 256, 65535), 0x001, "05 07 0100 0001 ffff"),
        (command(Do.POSITION_GAINS, 5, 1, 2, 3, motor=1), 0x001, "05 08 0100 0200 0300"),
        (command(Do.CURRENT_GAINS, 5, 1, 2, 3, motor=1), 0x001, "05 0a 0100 0200 0300"),
        (command(Do.DRIVER, 5, 1), 0x001, "05 0b 01"),
        (command(Do.CONTROL_ON, 5), 0x001, "05 0e"),
        (command(Do.CONTROL_OFF, 5), 0x001, "05 0f"),
        (command(Do.CONTROL_MODE, 0x24, 2), 0x001, "24 10 02"),
        (command(Do.GO_HOME, 8), 0x001, "08 11 12 0000000000"),
        (command(Do.GO_HOME, 8, motor=1), 0x001, "08 11 22 0000000000"),
        (command(Do.SWITCHING, 8, 1), 0x001, "08 13 01"),
        (command(Do.DEAD_ZONE, 8, 7, motor=1), 0x001, "08 21 07"),
        (command(Do.PAGE, 8, 20), 0x001, "08 24 14"),
        (command(Do.HOME_SEARCH, 8, 20, 1, -2, motor=1), 0x001, "08 31 14 01 feffffff"),
        (command(Do.RESOLUTION, 8, 0x8FA0), 0x001, "08 38 a08f"),
        (command(Do.SPEED_LIMITS, 8, 300, 2), 0x001, "08 40 2c01 0200"),
        (command(Do.LOWER_LIMIT, 8, 3, -100, motor=1), 0x001, "08 51 03 9cffffff"),
        (command(Do.UPPER_LIMIT, 8, 3, 100), 0x001, "08 56 03 64000000"),
        (command(Do.HOMING_SPEEDS, 8, 1, 2, 3, 0, 5, motor=1), 0x001, "08 61 01 02 03 00 05"),
        (command(Do.GAIN_OVERRIDE, 8, 50, 60, 1000), 0x001, "08 6f 32 3c e803"),
        (command(Do.ALARM, 8, 4), 0x001, "08 82 04"),
        (command(Do.BEEP, 8, 10), 0x001, "08 83 0a"),
        (command(Do.READ_POWER, 0x0E), 0x001, "0e e0"),
        (command(Do.CHANGE_NUMBER, 8, 9, 1), 0x001, "08 f0 09 01"),
        (command(Do.JAM_LIMITS, 8, 256, 2, 3, 4), 0x001, "08 f2 0001 0200 03 04"),
        (command(Do.ERROR_BOUNDS, 8, 1, 2, 3), 0x001, "08 f3 0100 0200 0300"),
        (command(Do.INITIALIZE, 8), 0x001, "08 fa"),
        (command(Do.INITIALIZE, 0x30, 0xAA), 0x001, "30 fa aa"),
        (command(Do.NULL_SENSOR, 0x30, 4), 0x001, "30 81 04"),
        (command(Do.NULL_SENSOR, 0x32), 0x001, "32 81"),
        # Open-loop duties: direction 1 is clockwise, which is negative.
        (references.coarse(8, (0.5, -0.25)), 0x001, "08 0d 01 00 32 01 19"),
        (references.coarse(8, (0.0, 0.0), run=False), 0x001, "08 0d 00 00 00 00 00"),
        (references.many(0x22, (0.5, -0.25, 0.0)), 0x001, "22 0d 01 32 99 00"),
        (references.fine(8, (1.0, -0.255)), 0x001, "08 0d 03 30 e8 01 ff"),
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
        # Pages: motor 0 has 1 to 6.
        (
            commands.write_motor(8, MotorParameters(kp=1, ki=2, kd=3, resolution=4000, auto_scale=1, clockwise=1), 1),
            0x1C8,
            "0100 0200 0300 a0cf",
        ),
        (
            commands.write_motor(
                8, MotorParameters(dead_zone=9, search_direction=1, search_limit=20, home_offset=0x12345), 2
            ),
            0x1C8,
            "0900 01 00 1400 4523",
        ),
        (
            commands.write_motor(8, MotorParameters(home_offset=0x12345, lower_limit=-1, upper_limit=2), 3),
            0x1C8,
            "0100 ffffffff 0200",
        ),
        (commands.write_motor(8, MotorParameters(max_current=1, kpt=2, kdt=3), 5), 0x1C8, "0100 0000 0200 0300"),
        (
            commands.write_board(8, BoardParameters(can_rate=5, board_type=2, homing_acceleration=3), 20),
            0x1C8,
            "0000 0500 02 00 0300",
        ),
        (
            commands.write_board(8, BoardParameters(limit_duty=1, jam_duty=2, max_error=3), 22),
            0x1C8,
            "01 02 0000 0300 0000",
        ),
    ],
)
def test_a_frame_is_what_the_tables_say(frame, identifier, data):
    assert frame.id == identifier
    assert frame.data.hex() == data.replace(" ", "")


@pytest.mark.parametrize(("motor", "first"), [(0, 1), (1, 7), (2, 13), (3, 24), (4, 30)])
def test_the_pages_of_a_motor_leave_those_of_the_board_alone(motor, first):
    numbers = {commands.motor_page(motor, page) for page in range(1, 7)}
    assert min(numbers) == first
    assert not numbers & set(commands.BOARD_PAGES)


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
    assert references.read_motors(references.motors(4, (first, second)).data) == (first, second)
    assert references.read_wrist(references.wrist(4, first, (0.1, -0.03)).data) == (first, 0.1, -0.03)


@given(some.lists(some.floats(-math.pi, math.pi), min_size=3, max_size=3))
def test_the_neck_comes_back_within_a_count(angles):
    assert references.read_neck(references.neck(0x22, angles).data) == pytest.approx(angles, abs=1.001 * math.pi / 4095)


@given(some.lists(duties, min_size=5, max_size=5))
def test_duties_come_back(wanted):
    assert references.read_hand(references.hand(0x24, wanted).data) == pytest.approx(wanted)
    assert references.read(references.many(0x24, wanted).data, 5) == pytest.approx(wanted)
    assert references.read(references.coarse(1, wanted[:2]).data, 2) == pytest.approx(wanted[:2])
    assert references.read(references.fine(1, wanted[:2]).data, 2) == pytest.approx(wanted[:2])


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
    assert references.CODE not in codes


@given(counts_32, counts_32)
def test_encoders_come_back(first, second):
    assert replies.read_encoders(replies.encoders(8, (first, second))) == Encoders(8, (first, second))


@given(some.lists(counts_16, min_size=5, max_size=5))
def test_encoders_of_a_hand_come_back_in_halves(counts):
    first = replies.read_encoders(replies.encoders(0x24, counts, Kind.HAND), Kind.HAND)
    second = replies.read_encoders(replies.encoders(0x24, counts, Kind.HAND, second_half=True), Kind.HAND)
    assert (first, second) == (Encoders(0x24, tuple(counts[:3])), Encoders(0x24, tuple(counts[3:]), 3))


@given(some.lists(counts_16, min_size=4, max_size=4))
def test_sensors_come_back(counts):
    x, y, z, _ = counts
    force = ForceTorque(x * replies.TORQUE, y * replies.TORQUE, z * replies.FORCE)
    tilt = Tilt(x * replies.CENTIDEGREE, y * replies.CENTIDEGREE, z / replies.G_COUNTS)
    motion = Motion(*(count * replies.CENTIDEGREE for count in counts))
    power = Power(x / 100, y / 100, z / 10)
    assert replies.read_reply(replies.force_torque(6, force)) == force
    assert replies.read_reply(replies.tilt(1, tilt)) == tilt
    assert replies.read_reply(replies.motion(3, motion)) == motion
    assert replies.read_reply(replies.power(power)) == power


@pytest.mark.parametrize(
    ("motors", "unit", "most"), [(1, 0.01, 1023), (2, 0.01, 1023), (3, 1 / 250, 255), (5, 1 / 1000, 255)]
)
@given(data=some.data())
def test_currents_come_back(motors, unit, most, data):
    counts = data.draw(some.lists(some.integers(0, most), min_size=motors, max_size=motors))
    warm = data.draw(some.integers(0, 255))
    amperes = [count * unit for count in counts]
    back = replies.read_currents(replies.currents(8, amperes, warm), motors)
    assert back.amperes == pytest.approx(amperes)
    assert back == Currents(8, back.amperes, None if motors == 5 else warm)


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


def _parameters(kind, narrow):
    def width(name):
        return some.integers(0, narrow.get(name, 65535))

    wide = dict.fromkeys(("home_offset", "lower_limit", "upper_limit"), counts_32)
    return some.builds(kind, **{name: wide.get(name, width(name)) for name in kind.__dataclass_fields__})


@given(
    _parameters(
        MotorParameters,
        {"resolution": 0x3FFF, "auto_scale": 1, "clockwise": 1, "search_direction": 255, "search_mode": 255},
    )
)
def test_the_pages_of_a_motor_in_a_row_are_the_motor(motor):
    row = b"".join(commands.write_motor(8, motor, page).data for page in range(1, 7))
    assert commands.read_motor(row) == motor


@given(_parameters(BoardParameters, {"board_type": 255, "limit_duty": 255, "jam_duty": 255}))
def test_the_pages_of_a_board_in_a_row_are_the_board(board):
    row = b"".join(commands.write_board(8, board, page).data for page in commands.BOARD_PAGES)
    assert commands.read_board(row) == board


@pytest.mark.parametrize("what", [kind for kind in Sense if kind is not Sense.IMU])
def test_a_sensor_is_asked_for_what_it_is_asked_for(what):
    assert commands.read_sensor_request(commands.sensor_request(6, what).data) == (6, what)


# Noise.


@given(some.integers(0, 0x7FF), some.binary(max_size=8), some.sampled_from(Kind))
def test_no_frame_makes_a_reader_raise(identifier, data, kind):
    reading = replies.read_reply(Frame(identifier, data), kind)
    assert reading is not None
    for motors in (1, 2, 3, 5):
        read_status(data, motors)
        references.read(data, motors)
    for reader in (
        *(read_command, commands.read_sensor_request, commands.read_motor, commands.read_board),
        *(references.read_motors, references.read_neck, references.read_wrist, references.read_hand),
    ):
        reader(data)


@pytest.mark.parametrize(
    ("frame", "word"),
    [
        (Frame(0x7FF, b""), "identifier"),
        (Frame(0x068, b"1234567"), "bytes"),
        (Frame(0x041, b"12345678"), "bytes"),
        (Frame(0x053, b"123456"), "bytes"),
    ],
)
def test_garbage_says_why(frame, word):
    reading = replies.read_reply(frame)
    assert isinstance(reading, Garbage)
    assert word in reading.reason


@pytest.mark.parametrize(
    ("do", "values", "motor"),
    [
        (Do.POSITION_GAINS, (1, 2), 0),
        (Do.POSITION_GAINS, (1, 2, 70000), 0),
        (Do.POSITION_GAINS, (1, 2, 3), 2),
        (Do.DEAD_ZONE, (1,), 4),
        (Do.DRIVER, (), 0),
        (Do.CONTROL_ON, (), 1),
    ],
)
def test_what_no_board_could_read_is_not_written(do, values, motor):
    with pytest.raises(HardwareError, match=do.value):
        command(do, 8, *values, motor=motor)
