"""Our driver of Unitree's G1 and our simulated G1, each before the other and before others."""

import os
import socket
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from unitree_rig import g1, rig

from wholebody import messages, robots
from wholebody.drivers.unitree import dds
from wholebody.drivers.unitree.dds import Participant
from wholebody.drivers.unitree.low_level import LOW_COMMAND, LOW_STATE, Message
from wholebody.drivers.unitree.motors import Motors
from wholebody.drivers.unitree.robot import STALE, unitree
from wholebody.drivers.unitree.simulated import WATCHDOG
from wholebody.errors import BadPeriod, HardwareError, NoRobot, RobotTaken
from wholebody.messages import ALL_JOINTS, Mode, Status, Verb


@pytest.fixture(scope="module")
def robot():
    return g1()


@pytest.fixture
def joined(robot):
    """A rig, and the driver that has taken its robot."""
    with rig(robot) as there:
        driver = there.driver()
        with running(there):
            driver.__enter__()
        yield there, driver


class running:
    """The device goes on in a thread while the block runs."""

    def __init__(self, there):
        self.there, self.over = there, threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.over.wait(0.001):
            self.there.run()

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def records(robot):
    state, reference = messages.new(robot.state_dtype()), messages.new(robot.reference_dtype())
    reference.mask[:] = True
    return state, reference


# The driver before a G1.


def test_the_state_is_that_of_the_body(robot, joined):
    there, driver = joined
    state, _ = records(robot)
    there.run()
    driver.read(state)
    np.testing.assert_allclose(state.position, there.body.position, atol=1e-7)
    np.testing.assert_allclose(state.effort, 0.1 * np.arange(29), atol=1e-6)
    assert np.all(state.velocity == 0.5)
    assert np.all(state.temperature == 40)
    imu = state.imu[Motors.of(robot).imu]
    np.testing.assert_allclose(imu.orientation, (0.0, 0.0, np.sin(0.2), np.cos(0.2)), atol=1e-6)
    np.testing.assert_allclose(imu.linear_acceleration, (0.0, 0.0, 9.81), atol=1e-6)
    ready = Status.DRIVER_ON | Status.CONTROL_ON | Status.HOMED
    assert np.all(state.status == int(ready))


@pytest.mark.parametrize(
    ("mode", "uses"),
    [
        (Mode.POSITION, {"position", "stiffness", "damping", "effort"}),
        (Mode.VELOCITY, {"velocity", "damping"}),
        (Mode.EFFORT, {"effort"}),
        (Mode.IMPEDANCE, {"position", "velocity", "effort", "stiffness", "damping"}),
    ],
    ids=lambda value: value.name.lower() if isinstance(value, Mode) else "",
)
def test_each_mode_is_a_case_of_stiffness_damping_and_effort(robot, joined, mode, uses):
    there, driver = joined
    _, reference = records(robot)
    reference.mode[:] = mode
    given = {"position": 0.3, "velocity": 0.7, "effort": 1.5, "stiffness": 33.0, "damping": 4.0}
    for field, value in given.items():
        setattr(reference, field, np.full(29, value))
    driver.write(reference)
    there.run()
    told, table = there.commanded, Motors.of(robot)
    own = {"stiffness": table.stiffness, "damping": table.damping, "effort": 0.1 * np.arange(29)}  # what it bears
    for field, value in given.items():
        wanted = own[field] if field in own and mode in (Mode.POSITION, Mode.VELOCITY) else np.full(29, value)
        np.testing.assert_allclose(getattr(told, field), wanted if field in uses else 0.0, atol=1e-5, err_msg=field)


def test_a_joint_out_of_the_mask_or_told_no_number_goes_on_with_what_it_had(robot, joined):
    there, driver = joined
    _, reference = records(robot)
    reference.position[:] = 0.2
    driver.write(reference)
    reference.position[:] = 0.1
    reference.mask[3], reference.position[7] = False, np.nan
    driver.write(reference)
    there.run()
    assert there.device.received == 2
    np.testing.assert_allclose(np.delete(there.commanded.position, (3, 7)), 0.1, atol=1e-6)
    np.testing.assert_allclose(there.commanded.position[[3, 7]], 0.2, atol=1e-6)


def test_taken_and_stopped_it_holds_where_it_is_and_bears_what_it_bore(robot, joined):
    there, driver = joined
    where = there.body.position.copy()
    driver.read(records(robot)[0])  # nothing was written: it says again what it wants
    there.run()
    np.testing.assert_allclose(there.commanded.position, where, atol=1e-6)
    np.testing.assert_allclose(there.commanded.effort, 0.1 * np.arange(29), atol=1e-5)
    there.body.position = where + 0.05
    there.run()
    driver.stop()
    there.run()
    np.testing.assert_allclose(there.commanded.position, where + 0.05, atol=1e-6)


def test_a_state_with_a_wrong_check_sum_is_dropped_and_counted(robot, joined):
    there, driver = joined
    state, _ = records(robot)
    there.run()
    driver.read(state)
    spoilt = Message(LOW_STATE)
    spoilt.motors[:, 1] = 3.0
    wire = spoilt.pack().copy()
    wire[100] ^= 1
    there.join().writer(LOW_STATE.name, LOW_STATE.type, LOW_STATE.size).write(wire)
    driver.read(state)
    assert driver.bad == 1
    assert abs(state.position).max() < 1
    assert "1 with a wrong check sum" in driver.command(Verb.STATUS, 0, ()).text


def test_without_states_nothing_is_measured_any_more(robot, joined, monkeypatch):
    there, driver = joined
    state, _ = records(robot)
    there.run()
    driver.read(state)
    assert state.measured.all()
    now = driver._heard
    monkeypatch.setattr("wholebody.drivers.unitree.robot.time.monotonic", lambda: now + 2 * STALE)
    driver.read(state)
    assert not state.measured.any()
    assert np.all(state.status & int(Status.ENCODER_ERROR))


def test_motors_are_switched_off_and_on_again_where_they_are(robot, joined):
    there, driver = joined
    state, reference = records(robot)
    driver.command(Verb.CONTROL, ALL_JOINTS, (0.0,))
    driver.write(reference)
    there.run()
    assert not there.commanded.stiffness.any()
    assert not there.commanded.damping.any()
    there.body.position = np.full(29, 0.07)
    there.run()
    driver.read(state)
    assert not (state.status & int(Status.DRIVER_ON)).any()
    driver.command(Verb.CONTROL, ALL_JOINTS, (1.0,))
    driver.read(state)
    there.run()
    np.testing.assert_allclose(there.commanded.position, 0.07, atol=1e-6)


def test_of_a_thousand_commands_none_has_a_wrong_check_sum(robot, joined):
    there, driver = joined
    _, reference = records(robot)
    random = np.random.default_rng(1)
    for _ in range(1000):
        reference.position[:] = random.normal(size=29)
        driver.write(reference)
        there.run()
    assert (there.device.received, there.device.bad, driver.unsent) == (1000, 0, 0)


def test_motors_of_joints_that_the_description_lacks_are_held(robot):
    legs = tuple(name for name in robot.joint_names if name.split("_")[1] in ("hip", "knee", "ankle"))
    table = Motors.of(SimpleNamespace(name="legs", joint_names=legs, sensors_of=lambda kind: ()))
    assert (len(table.joints), table.others.tolist(), table.imu) == (12, list(range(12, 29)), None)


# A G1 that cannot be taken.


def test_nobody_there_is_an_error_that_says_what_to_look_at(robot):
    with rig(robot) as there, pytest.raises(NoRobot, match=r"no rt/lowstate came within 0\.1 s; is the G1"):
        there.driver(timeout=0.1).__enter__()


def test_a_g1_that_somebody_else_commands_is_not_taken(robot):
    with rig(robot) as there:
        other = there.join().writer(LOW_COMMAND.name, LOW_COMMAND.type, LOW_COMMAND.size)
        command, cycle = Message(LOW_COMMAND), there.device.cycle

        def both():
            other.write(command.pack())
            cycle()

        there.device.cycle = both
        with running(there), pytest.raises(RobotTaken, match=r"somebody else publishes rt/lowcmd.*debug mode"):
            there.driver().__enter__()


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"interface": "wire7"}, HardwareError, "no network interface 'wire7'; there are lo"),
        ({"interface": "lo", "motors": "none.yaml"}, HardwareError, "none.yaml"),
        ({"interface": "lo", "period": 0.05}, BadPeriod, "--period 0.002"),
    ],
    ids=["interface", "motors", "period"],
)
def test_options_that_cannot_be_are_refused(robot, options, error, says):
    with pytest.raises(error, match=says):
        unitree(robot, options.pop("period", 0.002), "test", **options)


def test_another_robot_is_refused_with_the_nearest_name_of_a_motor(robot):
    with pytest.raises(HardwareError, match=r"no joint of hubo2plus is in g1\.yaml"):
        Motors.of(robots.load("hubo2plus"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("motors: 5", "no table of motors"),
        ("motors: {left_knee: {motor: 35, stiffness: 1, damping: 1}}", "motors are 0 to 34"),
        ("motors: {a: {motor: 1, stiffness: 1, damping: 1}, b: {motor: 1, stiffness: 1, damping: 1}}", "twice"),
        ("motors: {left_knee: {motor: 3, stiffness: -1, damping: 1}}", "0 to 10000"),
    ],
)
def test_a_table_of_motors_that_cannot_be_is_refused(robot, tmp_path, text, says):
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(HardwareError, match=says):
        Motors.of(robot, str(tmp_path / "mine.yaml"))


# The simulated G1 before a client.


def test_a_client_that_dies_leaves_the_joints_damped_and_one_that_is_slow_does_not(robot):
    with rig(robot) as there:
        client = there.join().writer(LOW_COMMAND.name, LOW_COMMAND.type, LOW_COMMAND.size)
        command = Message(LOW_COMMAND)
        command.modes[:], command.motors[:, 4] = 1, 50.0
        for _ in range(20):
            client.write(command.pack())
            there.run(10)  # 50 commands a second
            assert there.commanded.stiffness.all()
        died = there.now
        while there.commanded.stiffness.any():
            there.run()
        assert there.now - died <= 0.04
        assert np.all(there.commanded.damping == Motors.of(robot).resting)
        assert there.said == ["a client commands it", f"no command for {WATCHDOG * 1e3:g} ms: its joints are damped"]
        client.write(command.pack())
        there.run()
        assert there.commanded.stiffness.all()


def test_a_command_with_a_wrong_check_sum_or_no_numbers_is_dropped_and_counted(robot):
    with rig(robot) as there:
        client = there.join().writer(LOW_COMMAND.name, LOW_COMMAND.type, LOW_COMMAND.size)
        command = Message(LOW_COMMAND)
        command.modes[:], command.motors[:, 4] = 1, 50.0
        wire = command.pack().copy()
        wire[40] ^= 4
        client.write(wire)
        command.record["mode_pr"] = 1
        client.write(command.pack())
        command.record["mode_pr"], command.motors[3, 1] = 0, np.nan
        client.write(command.pack())
        before = len(there.body.written)
        there.run()
        assert (there.device.received, there.device.bad, len(there.body.written)) == (0, 3, before)


# The network.


def test_on_loopback_no_other_interface_is_heard_nor_joined():
    before = dds._sockets()
    with Participant(domain=9, tag="alone"):
        opened = dds._sockets() - before
        assert len(opened) >= 3
        for number in opened:
            with socket.socket(fileno=os.dup(number)) as each:
                assert each.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16).rstrip(b"\0") == b"lo"


def test_a_domain_that_a_process_uses_otherwise_is_refused():
    with (
        Participant(domain=8, tag="one"),
        pytest.raises(HardwareError, match=r"uses DDS domain 8 on another"),
        Participant(domain=8, tag="two"),
    ):
        pass
    with Participant(domain=8, tag="two"):
        pass
