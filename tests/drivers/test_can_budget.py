"""What a cycle costs on the wires: the figures of Hubo-Ach come out of the list of frames."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as some

from wholebody import robots
from wholebody.drivers.hubo_can.budget import STATUS_BITS, Budget, exchanges, over, spread, table
from wholebody.drivers.hubo_can.frames import Frame, Kind, bits, worst_bits
from wholebody.drivers.hubo_can.wiring import Wiring
from wholebody.errors import HardwareError, UnknownName

WIRING = Wiring.read("hubo2plus")


@pytest.mark.parametrize(("length", "expected"), [(0, 55), (2, 75), (3, 85), (6, 115), (8, 135)])
def test_a_frame_takes_44_bits_its_data_3_of_intermission_and_the_worst_stuffing(length, expected):
    assert worst_bits(length) == 44 + 8 * length + 3 + math.floor((33 + 8 * length) / 4) == expected


def _bit_by_bit(frame):
    """Build the frame as a controller does, and count."""
    head = [0, *(frame.id >> at & 1 for at in reversed(range(11))), 0, 0, 0]
    head += [len(frame.data) >> at & 1 for at in reversed(range(4))]
    body = head + [byte >> at & 1 for byte in frame.data for at in reversed(range(8))]
    crc = 0
    for bit in body:
        carry = bit ^ crc >> 14
        crc = crc << 1 & 0x7FFF ^ (0x4599 if carry else 0)
    body += [crc >> at & 1 for at in reversed(range(15))]
    sent = []
    for bit in body:
        sent.append(bit)
        if len(sent) >= 5 and len(set(sent[-5:])) == 1:
            sent.append(1 - bit)
    return len(sent) + 1 + 2 + 7 + 3  # delimiter, acknowledgement, end, intermission


@given(
    some.integers(0, 0x7FF), some.one_of(some.binary(max_size=8), some.sampled_from([b"\0" * 8, b"\xff" * 8, b"\0"]))
)
def test_bits_of_a_frame_are_those_of_one_built_bit_by_bit(identifier, data):
    frame = Frame(identifier, data)
    assert bits(frame) == _bit_by_bit(frame) <= worst_bits(len(data))


def test_two_buses_at_200_hz_are_used_to_78_percent_and_full_at_237_hz():
    budget = Budget.of(exchanges(WIRING), 2)
    assert budget.bits == (3995, 3610)
    assert STATUS_BITS == 220
    assert budget.mean_use(200) == pytest.approx(0.7825)
    assert budget.busiest_use(200) == pytest.approx(0.843)
    assert round(budget.highest_rate) == 237


def test_four_buses_allow_463_to_511_hz_by_split():
    rows = [row for row in table(WIRING) if row.buses == 4]
    assert {row.split for row in rows} == {"by boards", "by exchanges"}
    for row in rows:
        assert 463 <= round(row.budget.highest_rate) <= 511
        assert round(row.budget.even_rate) == 511
    assert round(min(row.budget.highest_rate for row in rows)) == 463


def test_eight_buses_allow_no_more_than_1022_hz():
    for row in table(WIRING):
        if row.buses == 8:
            assert row.budget.highest_rate < row.budget.even_rate < 1023 < 1063
            assert round(row.budget.even_rate) == 1022


@pytest.mark.parametrize("buses", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("whole", [True, False])
def test_spreading_loses_and_adds_nothing(buses, whole):
    parts = exchanges(WIRING)
    found = spread(parts, buses, whole)
    assert sorted((each.node, each.what, each.bits) for each in found) == sorted(
        (each.node, each.what, each.bits) for each in parts
    )
    assert {each.bus for each in found} == set(range(buses))
    if whole:
        assert len({(each.node, each.bus) for each in found}) == len({each.node for each in found})


def test_a_wiring_over_four_buses_costs_what_the_table_says():
    by_boards = next(row for row in table(WIRING) if (row.buses, row.split) == (4, "by boards"))
    assert Budget.of(exchanges(over(WIRING, 4)), 4) == by_boards.budget


def test_an_active_neck_costs_more():
    with_neck = Budget.of(exchanges(WIRING.with_active("EJMC2")), 2)
    assert with_neck.bits == (3995, 3610 + 115 + 85 + 115)


def test_no_bus_at_all_is_refused():
    with pytest.raises(HardwareError, match="at least one"):
        spread(exchanges(WIRING), 0)


# The wiring.


def test_every_joint_of_hubo2plus_is_wired_once():
    robot = robots.load("hubo2plus")
    WIRING.check(robot)
    wired = [joint for board in WIRING.boards for joint in board.joints]
    assert sorted(wired) == sorted(robot.joint_names)


@pytest.mark.parametrize(
    ("joint", "board", "bus", "motor", "counts"),
    [
        ("RHR", 0, 0, 1, 321925.258),
        ("RKN", 2, 0, 0, 101859.164),
        ("WST", 0x23, 0, 0, 159154.943),
        ("RSP", 8, 1, 0, 92599.2396),
        ("LEB", 11, 1, 1, 63661.9772),
        ("RWP", 0x20, 1, 1, 63661.9772),
        ("LF5", 0x25, 1, 4, 5215.1892),
    ],
)
def test_a_joint_is_where_the_tables_say(joint, board, bus, motor, counts):
    found = WIRING.board_of(joint)
    assert (found.number, found.bus, found.joints.index(joint)) == (board, bus, motor)
    assert found.motors[motor].counts_per_radian == pytest.approx(counts, rel=1e-8)


def test_hands_go_by_duty_and_the_neck_sleeps():
    assert {board.name for board in WIRING.boards if board.kind is Kind.HAND} == {"EJMC4", "EJMC5"}
    assert {board.name for board in WIRING.boards if not board.active} == {"EJMC2"}


def test_the_wiring_says_where_it_comes_from():
    assert "hubo-ach" in WIRING.source
    assert "BSD-3-Clause" in WIRING.source


def _document():
    return {
        "robot": "toy",
        "buses": ["one"],
        "boards": {
            "JMC0": {
                "bus": 0,
                "motors": {"A": {"drive": 1, "driven": 2, "harmonic": 100, "encoder": 4000, "direction": -1}},
            }
        },
    }


def test_direction_is_the_sign_of_the_counts():
    motor = Wiring.of(_document()).boards[0].motors[0]
    assert motor.counts_per_radian == pytest.approx(-2 * 100 * 4000 / (2 * math.pi))


def test_a_wiring_that_contradicts_itself_says_what_is_wrong():
    twice = _document()
    twice["boards"]["JMC1"] = twice["boards"]["JMC0"]
    with pytest.raises(HardwareError, match="joint A is there twice"):
        Wiring.of(twice)
    far = _document()
    far["boards"]["JMC0"]["bus"] = 1
    with pytest.raises(HardwareError, match="bus 1 of 1"):
        Wiring.of(far)
    lacking = _document()
    del lacking["boards"]["JMC0"]["motors"]["A"]["encoder"]
    with pytest.raises(HardwareError, match="encoder"):
        Wiring.of(lacking)
    with pytest.raises(HardwareError, match="give the path"):
        Wiring.read("no such robot")
    with pytest.raises(UnknownName, match="no joint"):
        Wiring.of(_document()).check(robots.load("hubo2plus"))
