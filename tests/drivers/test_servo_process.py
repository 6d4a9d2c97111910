"""Mini-Hubo's servos in a process of their own, and on a serial device."""

import multiprocessing
import os
import threading
import time

import numpy as np
import pytest

from wholebody import robots
from wholebody.drivers.dynamixel import packets
from wholebody.drivers.dynamixel.ports import SerialPort
from wholebody.drivers.dynamixel.robot import ServoRobot
from wholebody.drivers.dynamixel.simulated import SimulatedServos, serve
from wholebody.drivers.simulated_devices import DatagramPort
from wholebody.errors import HardwareError
from wholebody.messages import ALL_JOINTS, Status, Verb

MINI = robots.load("minihubo")
RSP = MINI.index["RSP"]
PERIOD = 0.005


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
    reference.mask[:] = True
    ports = [DatagramPort(number) for number in process]
    first = ServoRobot(MINI, ports)
    first.__enter__()
    first.command(Verb.HOME, ALL_JOINTS, ())
    live(first, reference, state, 20, lambda state: (state.status & Status.CONTROL_ON).all())
    reference.position[RSP] = 0.5
    live(first, reference, state, 20, lambda state: abs(state.position[RSP] - 0.5) < 0.01)
    assert state.position[RSP] == pytest.approx(0.5, abs=0.01)
    for port in ports:  # it dies, without a word; the next one finds everything as it was
        port.close()
    with ServoRobot(MINI, [DatagramPort(number) for number in process]) as second:
        second.read(state)
        assert state.position[RSP] == pytest.approx(0.5, abs=0.01)
        assert state.reference[RSP] == pytest.approx(0.5, abs=0.01)
        reference.position[RSP] = 0.1
        live(second, reference, state, 20, lambda state: abs(state.position[RSP] - 0.1) < 0.01)
        assert state.position[RSP] == pytest.approx(0.1, abs=0.01)


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


@pytest.mark.slow
def test_the_same_robot_runs_on_a_serial_device():
    master, slave = os.openpty()
    os.set_blocking(master, False)
    simulated, stop = SimulatedServos(MINI, lines=1), threading.Event()
    port = SerialPort(os.ttyname(slave))
    far = threading.Thread(target=answer_on, args=(master, simulated.servos, stop))
    far.start()
    try:
        state, reference = np.zeros(1, MINI.state_dtype())[0], np.zeros(1, MINI.reference_dtype())[0]
        with ServoRobot(MINI, port, period=0.02) as robot:
            assert not robot.simulated
            robot.command(Verb.CONTROL, RSP, (1.0,))
            reference.mask[RSP], reference.position[RSP] = True, 0.3
            until = time.monotonic() + 20
            while abs(state.position[RSP] - 0.3) > 0.01 and time.monotonic() < until:
                robot.write(reference)
                time.sleep(0.02)
                for _ in range(20):
                    simulated.servos.advance()
                robot.read(state)
            assert state.position[RSP] == pytest.approx(0.3, abs=0.01)
            assert (state.measured > 0).all()
    finally:
        stop.set()
        far.join()
        os.close(master)
        os.close(slave)
