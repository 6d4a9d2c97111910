"""A robot over UDP: real sockets, a network that loses, repeats, reorders and spoils datagrams, and ends that die."""

import contextlib
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wholebody import robots
from wholebody.constraints import Coactuation
from wholebody.control import WBOSC, Problem
from wholebody.control.servo import Servo
from wholebody.drivers import Clock, Loopback, RobotInterface, SteadyClock
from wholebody.drivers.datagrams import Datagrams, Kind
from wholebody.drivers.udp import UdpRobot, UdpServer
from wholebody.errors import HardwareError, NoRobot, RobotTaken, WrongRecord
from wholebody.model import Model
from wholebody.simulation import Simulation
from wholebody.tasks import JointPositionTask

PERIOD = 0.002
SOURCE = Path(__file__).resolve().parents[2]
ROBOT = robots.load("minihubo")


class Noted(Loopback):
    """A loopback robot that counts how often it was stopped."""

    def __init__(self, robot):
        super().__init__(robot)
        self.stops = 0

    def stop(self):
        self.stops += 1
        super().stop()


@contextlib.contextmanager
def serving(interface=None, clock=None, robot=ROBOT, **more):
    """A server in a thread of its own."""
    interface = Noted(robot) if interface is None else interface
    with UdpServer(robot, interface, clock or SteadyClock(PERIOD), **more) as server:
        ended = threading.Event()
        thread = threading.Thread(target=server.run, args=(lambda: not ended.is_set(),))
        thread.start()
        try:
            yield server
        finally:
            ended.set()
            thread.join()


def state_and_reference(robot=ROBOT):
    state, reference = (np.zeros(1, layout)[0] for layout in (robot.state_dtype(), robot.reference_dtype()))
    reference.mask[:] = True
    return state, reference


def follow(far, cycles, joint=0):
    """Send a slow ramp; what came back, beat by beat: times and positions."""
    state, reference = state_and_reference()
    far.read(state)
    reference.position[:] = state.position
    times, positions = [], []
    for cycle in range(cycles):
        times.append(far.tick())
        far.read(state)
        positions.append(float(state.position[joint]))
        reference.position[joint] = 1e-4 * cycle
        far.write(reference)
    return np.array(times), np.array(positions), reference.position[joint]


def test_it_is_a_robot_and_a_clock_and_moves_what_is_behind_the_server():
    with serving() as server, UdpRobot(ROBOT, server.address) as far:
        assert isinstance(far, RobotInterface)
        assert isinstance(far, Clock)
        times, positions, last = follow(far, 100)
        assert far.period == PERIOD
        assert (np.diff(times) > 0).all()
        assert positions[-1] == pytest.approx(last, abs=2e-3)
        assert 0 < far.latency < 1.0
        assert far.counters.garbage == server.counters.garbage == 0


class BadNetwork:
    """Between both ends: loses, repeats and spoils datagrams, makes some late, and adds some of its own."""

    def __init__(self, server, seed):
        self.random = random.Random(seed)
        self.server = server
        self.front, self.back = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        self.front.bind(("127.0.0.1", 0))
        self.address = self.front.getsockname()
        self.client = None
        self.held = []
        for each in (self.front, self.back):
            each.settimeout(0.001)

    def __enter__(self):
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.front.close()
        self.back.close()

    def _run(self):
        while not self.ended.is_set():
            with contextlib.suppress(TimeoutError):
                data, self.client = self.front.recvfrom(65536)
                self._pass_on(data, self.back, self.server)
            with contextlib.suppress(TimeoutError):
                self._pass_on(self.back.recv(65536), self.front, self.client)
            for held in [each for each in self.held if time.monotonic() > each[0]]:
                self.held.remove(held)
                held[1].sendto(held[2], held[3])

    def _pass_on(self, data, through, to):
        fate = self.random.random()
        if fate < 0.2:
            return
        if fate < 0.3:
            self.held.append((time.monotonic() + 0.02, through, data, to))
            return
        if fate < 0.4:
            spoiled = bytearray(data)
            spoiled[self.random.randrange(len(spoiled))] ^= 1 << self.random.randrange(8)
            through.sendto(bytes(spoiled), to)
        if fate < 0.5:
            through.sendto(self.random.randbytes(self.random.randrange(200)), to)
        for _ in range(2 if fate < 0.6 else 1):
            through.sendto(data, to)


@pytest.mark.slow(but="0")
@pytest.mark.parametrize("seed", [0, 1])
def test_on_a_bad_network_the_newest_wins_and_the_rest_is_counted(seed):
    with (
        serving(silence=1.0) as server,
        BadNetwork(server.address, seed) as network,
        UdpRobot(ROBOT, network.address) as far,
    ):
        times, positions, last = follow(far, 300)
        assert (np.diff(times) > 0).all(), "time never goes back"
        assert (np.diff(positions) > -1e-12).all(), "nor does the robot"
        assert positions[-1] == pytest.approx(last, abs=0.01)
        for counters in (far.counters, server.counters):
            assert counters.garbage > 10
            assert counters.late > 10
            assert counters.lost > 10
        assert np.isfinite(far.latency)


@given(noise=st.binary(max_size=300), flip=st.integers(0, 10_000))
def test_no_bytes_do_any_harm(noise, flip):
    with (
        contextlib.closing(Datagrams(ROBOT, ("127.0.0.1", 0))) as there,
        contextlib.closing(Datagrams(ROBOT, ("127.0.0.1", 0))) as here,
    ):
        raw = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        raw.sendto(noise, here.address)
        there.send(Kind.REFERENCE, ("127.0.0.1", raw.getsockname()[1]), np.zeros(40, np.uint8))
        data = bytearray(raw.recv(65536))
        data[flip % len(data)] ^= 1
        raw.sendto(bytes(data), here.address)
        here.wait(0.5)
        assert here.receive() is None
        assert here.counters.garbage == 2
        raw.close()


def test_another_robot_is_refused_with_a_word():
    with serving() as server, pytest.raises(WrongRecord, match="another robot"):
        UdpRobot(robots.load("hubo2plus"), server.address).__enter__()
    assert server.counters.strange > 0


@pytest.mark.slow
def test_a_second_controller_waits_until_the_first_falls_silent():
    with serving(silence=1.0) as server:
        first = UdpRobot(ROBOT, server.address).__enter__()
        hold = threading.Event()

        def go_on():
            while not hold.wait(0.01):
                follow(first, 1)

        thread = threading.Thread(target=go_on)
        thread.start()
        with pytest.raises(RobotTaken, match="another controller"):
            UdpRobot(ROBOT, server.address, timeout=0.4).__enter__()
        hold.set()
        thread.join()
        first._wire.close()  # it dies without a word
        with UdpRobot(ROBOT, server.address, timeout=20.0) as second:
            assert server.interface.stops > 0, "silence stopped the robot"
            follow(second, 5)


def test_stop_is_obeyed_and_where_nobody_answers_that_is_said():
    with serving() as server:
        with UdpRobot(ROBOT, server.address) as far:
            follow(far, 20)
            before = server.interface.stops
        deadline = time.monotonic() + 5
        while server.interface.stops == before and time.monotonic() < deadline:
            time.sleep(0.01)
        assert server.interface.stops > before
        with pytest.raises(HardwareError, match="listen"):
            UdpServer(ROBOT, Loopback(ROBOT), SteadyClock(PERIOD), server.address)
    with pytest.raises(NoRobot, match="no state"):
        UdpRobot(ROBOT, server.address, timeout=0.1).__enter__()
    with pytest.raises(NoRobot, match="nobody knows"):
        UdpRobot(ROBOT, ("no such machine.invalid", 1))


SERVER = """
import sys
from wholebody import robots
from wholebody.drivers import Loopback, SteadyClock
from wholebody.drivers.udp import UdpServer
robot = robots.load("minihubo")
with UdpServer(robot, Loopback(robot), SteadyClock(0.002), ("127.0.0.1", int(sys.argv[1]))) as server:
    print(server.address[1], flush=True)
    server.run()
"""


def process(port):
    started = subprocess.Popen([sys.executable, "-c", SERVER, str(port)], stdout=subprocess.PIPE, text=True)
    return started, int(started.stdout.readline())


def test_a_server_killed_and_started_again_is_found_by_the_same_controller():
    server, port = process(0)
    try:
        with UdpRobot(ROBOT, ("127.0.0.1", port), timeout=30.0) as far:
            follow(far, 50)
            server.send_signal(signal.SIGKILL)
            server.communicate()
            server, _ = process(port)
            _, positions, last = follow(far, 50)
            assert positions[-1] == pytest.approx(last, abs=2e-3)
    finally:
        server.kill()
        server.communicate()


def test_whole_body_control_runs_over_it_in_simulated_time():
    dreamer = robots.load("dreamer")
    model = Model(dreamer)
    problem = Problem([JointPositionTask("posture", dreamer.posture("stand"))], Coactuation.of(model))
    with Simulation(dreamer, control_period=0.001) as simulation:
        start = simulation.truth.position.copy()
        with (
            serving(simulation, simulation, dreamer, patience=0.5, silence=5.0) as server,
            UdpRobot(dreamer, server.address) as far,
        ):
            servo = Servo(far, far, WBOSC(model), lambda time, snapshot: problem)
            servo.run(0.3)
            moved = np.abs(simulation.truth.position - start).max()
        assert moved < 0.01, "it holds by efforts alone"
        assert servo.counters.faults == 0
        assert servo.echo.latency <= 0.003


def test_a_server_that_waits_for_answers_waits_for_a_slow_controller_and_lets_go_of_one_that_stopped():
    with (
        Simulation(ROBOT, control_period=PERIOD) as simulation,
        serving(simulation, simulation, patience=60.0) as server,
    ):
        state, reference = state_and_reference()
        for _ in range(2):
            with UdpRobot(ROBOT, server.address, timeout=30.0) as far:
                far.tick()  # a second state without an answer to the first: it is asked for
                begun = far.read(state) or state.time
                for cycle in range(1, 6):
                    far.write(reference)
                    if cycle == 3:
                        time.sleep(0.5)  # longer than the silence that a robot in real time allows
                    assert far.tick() == pytest.approx(begun + cycle * PERIOD), "no beat goes by without its answer"


@pytest.mark.slow
def test_the_example_moves_a_simulated_robot_in_another_process():
    example = [sys.executable, "-m", "examples.far_robot"]
    server = subprocess.Popen([*example, "serve", "0", "20"], stdout=subprocess.PIPE, text=True, cwd=SOURCE)
    try:
        port = server.stdout.readline().rpartition(":")[2].strip()
        run = subprocess.run(
            [*example, "127.0.0.1", port, "0.5"], capture_output=True, text=True, timeout=120, check=True, cwd=SOURCE
        )
        assert float(run.stdout.split()[3]) < 1.0, run.stdout
        assert "garbage=0" in run.stdout
    finally:
        server.kill()
        server.communicate()
