"""Dynamixel protocol 2.0: its packets byte by byte, X servos of any robot by a table, and their own watchdogs."""

import contextlib

import numpy as np
import pytest

from wholebody import messages, robots
from wholebody.drivers.dynamixel import packets2
from wholebody.drivers.dynamixel.kinds import X
from wholebody.drivers.dynamixel.packets import Fault, Instruction, Request
from wholebody.drivers.dynamixel.robot import ServoRobot
from wholebody.drivers.dynamixel.simulated import LineFaults, SimulatedServos
from wholebody.drivers.dynamixel.table import ServoTable, traffic
from wholebody.errors import HardwareError, UnknownName
from wholebody.messages import ALL_JOINTS, Measured, Status, Verb
from wholebody.processes.driver_check import check_driver

ROBOT = robots.load("minihubo")
PERIOD = 0.01


def table_of(folder, protocol="2.0", **changed):
    """A table of X servos for Mini-Hubo's joints: two lines, each other joint turned round."""
    rows = {
        name: {"servo": number, "zero": 180, "direction": 1 - 2 * (number % 2), "line": ("left", "right")[number % 2]}
        for number, name in enumerate(ROBOT.joint_names, 1)
    }
    for name, row in changed.items():
        rows[name] = row
    lines = "".join(f"  {name}: {row}\n".replace("'", "") for name, row in rows.items())
    path = folder / "servos.yaml"
    path.write_text(f"protocol: {protocol}\nservos:\n{lines}")
    return str(path)


class Rig:
    """Servos and the robot on them, in virtual time."""

    def __init__(self, file, faults=None, watchdog=0.2):
        self.simulated = SimulatedServos(ROBOT, servos=file, faults=faults)
        self.robot = ServoRobot(ROBOT, self.simulated.ports(), PERIOD, servos=file, watchdog=watchdog)
        self.state, self.reference = messages.new(ROBOT.state_dtype()), messages.new(ROBOT.reference_dtype())
        self.reference.mask[:] = True
        self.robot.__enter__()
        self.robot.read(self.state)
        self.reference.position[:] = self.state.position

    def run(self, cycles):
        for _ in range(cycles):
            self.robot.write(self.reference)
            self.simulated.advance(PERIOD)
            self.robot.read(self.state)

    def switch_on(self):
        self.robot.command(Verb.INITIALIZE, ALL_JOINTS, ())
        self.run(ALL)
        return self

    @property
    def truth(self):
        return self.simulated.servos.plant.position


ALL = 2 * len(ROBOT.joint_names)
"""Cycles in which each servo is checked."""


@pytest.fixture
def rig(tmp_path):
    return Rig(table_of(tmp_path))


# Packets.


@pytest.mark.parametrize(
    ("packet", "published"),
    [
        (packets2.ping(1), "ff ff fd 00 01 03 00 01 19 4e"),
        (packets2.read(1, 132, 4), "ff ff fd 00 01 07 00 02 84 00 04 00 1d 15"),
        (packets2.reply(1, 0, bytes.fromhex("a6000000")), "ff ff fd 00 01 08 00 55 00 a6 00 00 00 8c c0"),
    ],
)
def test_packets_are_those_of_the_published_examples(packet, published):
    assert packet.hex(" ") == published


def test_what_looks_like_a_header_is_stuffed_and_comes_out_again():
    data = bytes.fromhex("fffffdfffffd00fffffdfd")
    packet = packets2.write(7, 116, data)
    assert packets2.HEADER not in packet[4:]
    (found,) = packets2.split(b"\x00\xff" + packet).packets
    assert packets2.write_of(packets2.decode_request(found).parameters) == (116, data)


def test_streams_in_pieces_give_the_same_packets_and_spoilt_ones_are_counted():
    random = np.random.default_rng(1)
    sent = [packets2.reply(number, 0, random.bytes(10)) for number in range(20)]
    stream, rest, found = b"".join(sent), b"", []
    for at in range(0, len(stream), 7):
        split = packets2.split(rest + stream[at : at + 7])
        rest, found = split.rest, [*found, *split.packets]
    assert found == sent
    for packet in sent:
        spoilt = bytearray(packet)
        spoilt[int(random.integers(len(spoilt)))] ^= 1 << int(random.integers(8))
        assert packets2.split(bytes(spoilt)).packets == ()


def test_random_bytes_are_packets_or_an_error_of_ours():
    random = np.random.default_rng(2)
    for _ in range(500):
        body = random.bytes(int(random.integers(1, 40)))
        packets2.split(body)
        with contextlib.suppress(HardwareError):
            packets2.decode_request(packets2._packet(1, body[0], body[1:]))


def test_a_sync_read_and_a_sync_write_speak_of_many_servos():
    request = packets2.decode_request(packets2.sync_read(126, 10, (1, 5, 9)))
    assert (request.instruction, request.answers) == (Instruction.SYNC_READ, 3)
    written = packets2.decode_request(packets2.sync_write(112, {3: bytes(8), 4: b"12345678"}))
    assert packets2.decode_sync_write(written.parameters) == (112, {3: bytes(8), 4: b"12345678"})


# The robot.


def test_servos_go_where_joints_are_told_and_say_where_they_are(rig):
    rig.switch_on()
    ready = int(Status.DRIVER_ON | Status.CONTROL_ON | Status.HOMED)
    assert np.all(rig.state.status & ready == ready)
    goal = np.array([np.clip(0.3, joint.lower, joint.upper) for joint in ROBOT.moving])
    rig.reference.position[:] = goal
    rig.run(150)
    np.testing.assert_allclose(rig.truth, goal, atol=X.step)
    np.testing.assert_allclose(rig.state.position, goal, atol=2 * X.step)
    assert rig.robot.unanswered.max() == 0
    assert not (rig.state.measured & int(Measured.TEMPERATURE)).any()


def test_joints_that_are_limp_stay_limp_until_switched_on(rig):
    before = rig.truth.copy()
    rig.reference.position[:] = before + 0.1
    rig.run(30)
    np.testing.assert_array_equal(rig.truth, before)


def test_bus_watchdogs_are_armed_and_stop_servos_whose_computer_has_died(rig):
    rig.switch_on()
    memory = rig.simulated.servos._memory
    assert np.all(memory[:, packets2.BUS_WATCHDOG] == 10)  # 0.2 s
    joint = ROBOT.index["LEB"]
    assert "stops by itself 0.2 s after" in rig.robot.command(Verb.STATUS, joint, ()).text
    rig.simulated.advance(0.5)  # nobody says anything
    assert np.all(memory[:, packets2.BUS_WATCHDOG] == packets2.RAN_OUT)
    before = rig.truth.copy()
    rig.reference.position[joint] += 0.2
    rig.run(ALL)
    np.testing.assert_allclose(rig.truth, before, atol=1e-3)
    assert np.all(rig.state.status & int(Status.DRIVER_FAULT))
    rig.reference.position[:] = rig.state.position
    rig.switch_on()
    rig.reference.position[joint] += 0.2
    rig.run(100)
    assert rig.truth[joint] == pytest.approx(before[joint] + 0.2, abs=0.01)


@pytest.mark.slow
def test_a_dead_servo_of_a_sync_read_is_counted_and_the_others_are_read(rig):
    rig.switch_on()
    joint = ROBOT.index["LEB"]
    rig.simulated.servos.dead.add(joint)
    rig.run(200)
    assert rig.state.status[joint] & int(Status.ENCODER_ERROR)
    assert not (np.delete(rig.state.status, joint) & int(Status.ENCODER_ERROR)).any()


def test_hardware_errors_are_shown(rig):
    rig.switch_on()
    joint = ROBOT.index["LEB"]
    rig.simulated.servos.faults[joint] = int(Fault.OVERHEATING)
    rig.run(ALL)
    assert rig.state.status[joint] & int(Status.TOO_HOT)


@pytest.mark.slow
def test_on_a_line_that_loses_and_spoils_packets_joints_still_arrive(tmp_path):
    rig = Rig(table_of(tmp_path), LineFaults(loss=0.03, corruption=0.03, seed=5)).switch_on()
    rig.run(100)
    joint = ROBOT.index["LEB"]
    rig.reference.position[:] = rig.state.position
    rig.reference.position[joint] = goal = rig.state.position[joint] - 0.2
    rig.run(300)
    assert rig.truth[joint] == pytest.approx(goal, abs=0.01)


def test_a_line_carries_what_its_packets_take(tmp_path):
    line = traffic(ServoTable.of(ROBOT, file=table_of(tmp_path)))["left"]
    goals = packets2.sync_write(112, dict.fromkeys(range(line.servos), bytes(8)))
    asked = packets2.sync_read(126, 10, range(line.servos))
    answers = line.servos * len(packets2.reply(1, 0, bytes(10)))
    checked = len(packets2.read(1, 64, 56)) + len(packets2.reply(1, 0, bytes(56)))
    assert line.cycle_time() == pytest.approx((len(goals) + len(asked) + answers + checked) * 1e-5)


def test_a_servo_refuses_registers_that_it_has_not(rig):
    servos = rig.simulated.servos
    request = Request(1, Instruction.READ, (149).to_bytes(2, "little") + (4).to_bytes(2, "little"))
    assert packets2.decode_reply(servos.hear(request)).faults & Fault.RANGE


# Tables.


def test_a_table_of_ones_own_serves_protocol_1_too(tmp_path):
    table = ServoTable.of(ROBOT, file=table_of(tmp_path, protocol="1.0"))
    assert (table.kind.protocol, table.lines, table.baud) == ("1.0", ("right", "left"), 1_000_000)


@pytest.mark.parametrize(
    ("changed", "error", "says"),
    [
        ({"LEB": {"servo": 300, "zero": 180}}, HardwareError, "servos are 0 to 252"),
        ({"LEB": {"zero": 180}}, HardwareError, "write LEB"),
        ({"LEBX": {"servo": 100, "zero": 180}}, UnknownName, "LEBX"),
        ({"RSP": {"servo": 90, "zero": 180, "line": "left"}, "LSP": {"servo": 90, "zero": 180, "line": "left"}},
         HardwareError, "two joints have servo 90"),
    ],
    ids=["number", "row", "joint", "twice"],
)  # fmt: skip
def test_a_table_that_cannot_be_is_refused(tmp_path, changed, error, says):
    with pytest.raises(error, match=says):
        ServoTable.of(ROBOT, file=table_of(tmp_path, **changed))


def test_an_unknown_protocol_is_refused_and_a_robot_without_a_table_told_how(tmp_path):
    with pytest.raises(UnknownName, match=r"3\.0"):
        ServoTable.of(ROBOT, file=table_of(tmp_path, protocol="3.0"))
    with pytest.raises(HardwareError, match=r"servos=FILE\.yaml"):
        ServoTable.of(robots.load("hubo2plus"))


@pytest.mark.slow
def test_the_driver_keeps_every_law_on_simulated_x_servos(tmp_path):
    driver = f"dynamixel:servos={table_of(tmp_path)},watchdog=2"
    assert [each for each in check_driver(driver, "minihubo", period=PERIOD) if not each.passed] == []
