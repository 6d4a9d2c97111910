"""moteus controllers: their frames byte by byte, the robot on simulated ones, and what happens when things fail."""

import contextlib
import math

import numpy as np
import pytest

from wholebody import messages, robots
from wholebody.drivers.dynamixel.simulated import SteppedPort
from wholebody.drivers.hubo_can.frames import Frame
from wholebody.drivers.hubo_can.simulated.wire import Faults
from wholebody.drivers.moteus import frames
from wholebody.drivers.moteus.frames import Mode, Type, framed, unframed
from wholebody.drivers.moteus.robot import SILENT, MoteusRobot
from wholebody.drivers.moteus.simulated import SimulatedMoteus
from wholebody.drivers.moteus.wiring import Wiring
from wholebody.errors import BadPeriod, HardwareError, UnknownName
from wholebody.messages import ALL_JOINTS, Status, Verb
from wholebody.messages import Mode as ReferenceMode
from wholebody.processes.driver_check import check_driver

ROBOT = robots.load("minihubo")
PERIOD = 0.005
GEARED = """
motors:
  RSP: {id: 7, bus: 0, sign: -1, gear: 6.0, zero: 0.3}
  LSP: {id: 9, bus: 1, gear: 2.0}
"""


class Rig:
    """Controllers and the robot on them, in virtual time."""

    def __init__(self, wiring=None, faults=None, **more):
        self.wiring = wiring or Wiring.of(ROBOT)
        self.simulated = SimulatedMoteus(ROBOT, wiring=self.wiring, **({"faults": faults} if faults else {}))
        self.controllers = self.simulated.controllers
        ports = [SteppedPort(self.simulated, line) for line in self.simulated.lines]
        self.robot = MoteusRobot(ROBOT, self.wiring, ports, PERIOD, **more)
        self.state, self.reference = messages.new(ROBOT.state_dtype()), messages.new(ROBOT.reference_dtype())
        self.reference.mask[:] = True

    def __enter__(self):
        self.robot.__enter__()
        self.robot.read(self.state)
        self.reference.position[:] = self.state.position
        return self

    def __exit__(self, *_):
        self.robot.__exit__(None, None, None)

    def run(self, cycles, write=True):
        for _ in range(cycles):
            if write:
                self.robot.write(self.reference)
            self.simulated.advance(PERIOD)
            self.robot.read(self.state)

    def switch_on(self):
        self.robot.command(Verb.INITIALIZE, ALL_JOINTS, ())
        self.run(5)


# Frames.


def test_a_command_and_an_answer_are_those_of_the_published_example():
    command = (
        frames.write(Type.INT8, frames.MODE, Mode.POSITION)
        + frames.write(Type.INT16, frames.COMMAND_POSITION, 0.0096, 0.072, -1.76)
        + frames.read(Type.INT16, 0, 4)
        + frames.read(Type.INT8, frames.VOLTAGE, 3)
    )
    assert command.hex() == "01000a07206000200150ff140400130d"
    answer = bytes.fromhex("2404000a005000000170ff230d181400")
    motion, rest = frames.parts(answer)
    assert motion.values == pytest.approx((10, 0.008, 0.064, -1.44))
    assert rest.values == (12.0, 20.0, 0.0)


@pytest.mark.parametrize("kind", Type)
def test_what_is_written_is_read_back_within_half_a_unit(kind):
    values = (0.31, -0.7, 2.25)
    (part,) = frames.parts(frames.reply(kind, frames.POSITION, *values))
    units = [1e-6] * 3 if kind is Type.FLOAT else [frames.SCALES[frames.POSITION + each][kind] for each in range(3)]
    assert all(abs(a - b) <= 0.51 * unit for a, b, unit in zip(part.values, values, units, strict=True))
    (none,) = frames.parts(frames.write(kind, frames.WATCHDOG, math.nan))
    assert math.isnan(none.values[0])


@pytest.mark.parametrize("data", ["07206000", "60", "14", "ff", "1480808080808080"])
def test_bytes_that_are_no_frame_are_refused(data):
    with pytest.raises(HardwareError):
        list(frames.parts(bytes.fromhex(data)))


def test_random_bytes_are_parts_or_an_error_of_ours():
    random = np.random.default_rng(1)
    for _ in range(2000):
        with contextlib.suppress(HardwareError):
            list(frames.parts(random.bytes(int(random.integers(1, 64)))))


def test_frames_are_filled_up_to_lengths_that_can_fd_has_and_go_through_a_stream():
    assert [len(frames.padded(bytes(each))) for each in (0, 8, 9, 13, 33, 64)] == [0, 8, 12, 16, 48, 64]
    with pytest.raises(HardwareError, match="64 at most"):
        frames.padded(bytes(65))
    sent = [Frame(0x8001, b"\x01\x00\x0a"), Frame(0x100, b"")]
    assert list(unframed(b"".join(map(framed, sent)) + b"\x01\x00\x05\x00")) == sent


# The robot.


def test_joints_are_limp_until_switched_on_and_then_go_where_they_are_told():
    with Rig() as rig:
        assert not (rig.state.status & int(Status.DRIVER_ON)).any()
        goal = np.clip(rig.state.position + 0.1, *np.transpose([(j.lower, j.upper) for j in ROBOT.moving]))
        rig.reference.position[:] = goal
        rig.run(50)
        assert abs(rig.state.position - goal).max() > 0.09  # limp
        rig.switch_on()
        rig.run(100)
        np.testing.assert_allclose(rig.state.position, goal, atol=2e-3)
        ready = int(Status.DRIVER_ON | Status.CONTROL_ON | Status.HOMED)
        assert np.all(rig.state.status & ready == ready)
        assert rig.robot.unanswered.sum() == 0


def test_sign_gear_and_zero_are_those_of_the_wiring(tmp_path):
    (tmp_path / "motors.yaml").write_text(GEARED)
    wiring = Wiring.of(ROBOT, str(tmp_path / "motors.yaml"))
    with Rig(wiring) as rig:
        rig.switch_on()
        joint = ROBOT.index["RSP"]
        rig.reference.position[joint] = 0.5
        rig.run(1)
        at = wiring.joints.index(joint)
        told = rig.controllers.registers[at]
        rig.run(100)
        told = rig.controllers.registers[at]
        assert told[frames.COMMAND_POSITION] == pytest.approx(-6.0 * (0.5 - 0.3) / (2 * math.pi), rel=1e-6)
        assert rig.state.position[joint] == pytest.approx(0.5, abs=2e-3)
        assert rig.state.measured.astype(bool).sum() == 2  # the others have no controller
        assert len(wiring.unmoved) == len(ROBOT.joint_names) - 2


def test_velocities_and_efforts_are_followed():
    with Rig() as rig:
        rig.switch_on()
        joint, start = ROBOT.index["LEB"], rig.state.position.copy()
        rig.reference.mode[joint], rig.reference.velocity[joint] = ReferenceMode.VELOCITY, -0.4
        rig.run(100)
        assert rig.state.position[joint] - start[joint] == pytest.approx(-0.2, abs=0.02)
        rig.reference.mode[joint], rig.reference.effort[joint] = ReferenceMode.EFFORT, 0.3
        before = rig.state.position[joint]
        rig.run(20)
        assert rig.state.position[joint] > before + 0.001


@pytest.mark.parametrize(("watchdog", "ends"), [(0.05, True), (0.6, False)])
def test_a_watchdog_that_is_armed_damps_a_joint_whose_computer_has_died(watchdog, ends):
    with Rig(watchdog=watchdog) as rig:
        rig.switch_on()
        rig.reference.mode[:], rig.reference.velocity[:] = ReferenceMode.VELOCITY, 0.3
        rig.run(10)
        rig.simulated.advance(0.2)  # nobody says anything
        here = rig.controllers._state.position.copy()
        rig.simulated.advance(0.1)
        went = np.abs(rig.controllers._state.position - here).max()
        assert bool(went < 1e-3) is ends
        assert np.all(rig.controllers.mode == (Mode.TIMEOUT if ends else Mode.POSITION))
        if ends:  # and it does not go on by itself
            rig.run(5)
            assert np.all(rig.state.status & int(Status.DRIVER_FAULT))
            assert not (rig.state.status & int(Status.DRIVER_ON)).any()
            rig.reference.mode[:] = ReferenceMode.POSITION
            rig.switch_on()
            assert np.all(rig.state.status & int(Status.DRIVER_ON))


def test_a_fault_is_shown_until_it_is_reset():
    with Rig() as rig:
        rig.switch_on()
        rig.controllers.break_down(3, 38)
        rig.run(3)
        joint = rig.wiring.joints[3]
        assert rig.state.status[joint] & int(Status.DRIVER_FAULT)
        assert rig.state.status[joint] & int(Status.TOO_HOT)
        assert "fault 38" in rig.robot.command(Verb.STATUS, joint, ()).text
        assert "100 ms after a last command" in rig.robot.command(Verb.STATUS, joint, ()).text
        rig.robot.command(Verb.RESET, joint, ())
        rig.run(3)
        assert not rig.state.status[joint] & int(Status.DRIVER_FAULT | Status.DRIVER_ON)


def test_a_dead_controller_is_no_longer_measured_and_harms_no_other():
    with Rig() as rig:
        rig.switch_on()
        rig.controllers.dead.add(4)
        rig.run(SILENT + 3)
        joint = rig.wiring.joints[4]
        assert rig.state.measured[joint] == 0
        assert rig.state.status[joint] & int(Status.ENCODER_ERROR)
        assert np.delete(rig.state.measured, joint).all()


def test_on_a_bus_that_loses_delays_and_spoils_frames_joints_still_arrive():
    with Rig(faults=Faults(loss=0.1, delay=0.05, corruption=0.05)) as rig:
        rig.switch_on()
        rig.run(10)
        rig.reference.position[:] = rig.state.position
        joint = ROBOT.index["RSP"]
        rig.reference.position[joint] += 0.2
        goal = rig.reference.position[joint]
        rig.run(150)
        assert rig.state.position[joint] == pytest.approx(goal, abs=5e-3)


def test_a_controller_that_does_not_know_its_output_is_not_homed():
    rig = Rig()
    rig.controllers.home[2] = 1
    with rig:
        joint = rig.wiring.joints[2]
        assert not rig.state.status[joint] & int(Status.HOMED)
        answer = rig.robot.command(Verb.HOME, joint, ())
        assert not answer.accepted
        assert "moteus_tool" in answer.text


def test_nobody_on_the_bus_is_an_error():
    rig = Rig()
    rig.controllers.dead.update(range(len(rig.wiring.id)))
    with pytest.raises(HardwareError, match="no moteus controller answers"):
        rig.__enter__()


@pytest.mark.parametrize(
    ("period", "watchdog", "says"),
    [(0.001, 0.1, "wire them to more buses"), (0.02, 0.05, r"give watchdog=0\.06 or more")],
)
def test_what_buses_or_watchdogs_cannot_do_is_refused(period, watchdog, says):
    with pytest.raises(BadPeriod, match=says):
        MoteusRobot(ROBOT, Wiring.of(ROBOT), [], period, watchdog)


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("motors: {RSX: {id: 1}}", UnknownName, "RSX"),
        ("motors: {RSP: {id: 1}, LSP: {id: 1}}", HardwareError, "both have controller 1 on bus 0"),
        ("motors: {RSP: {id: 200}}", HardwareError, "1 to 127"),
        ("motors: {RSP: {id: 1, sign: 2}}", HardwareError, "sign is 1 or -1"),
        ("motors: {RSP: {id: 1, gears: 2}}", HardwareError, "has gears; known are bus, gear, id, sign, zero"),
        ("motors: {RSP: 4}", HardwareError, "write RSP"),
        ("nothing: 4", HardwareError, "no motors"),
    ],
)
def test_a_wiring_that_cannot_be_is_refused(tmp_path, text, error, says):
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(error, match=says):
        Wiring.of(ROBOT, str(tmp_path / "mine.yaml"))


@pytest.mark.slow
def test_the_driver_keeps_every_law_on_simulated_controllers():
    assert [each for each in check_driver("moteus:watchdog=1", "hubo2plus") if not each.passed] == []
