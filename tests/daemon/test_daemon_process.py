"""The daemon as a process among others: controllers in processes of their own, killed at any moment."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from wholebody import robots
from wholebody.channels import Channel
from wholebody.drivers import Clock, Names, RobotInterface, connect
from wholebody.errors import BadPeriod, NoRobot, UnknownJointWarning, UnknownName
from wholebody.motion import KeyFrames

ROBOT = robots.load("hubo2plus")
STEPS = np.array([joint.velocity for joint in ROBOT.moving]) * 0.005
DAEMON = """
from wholebody import robots
from wholebody.daemon.process import run
from wholebody.drivers import Loopback
robot = robots.load("hubo2plus")
summary = run(robot, Loopback(robot))
print(summary.cycles, len(summary.table))
"""
WAVE = """
import random
from wholebody.drivers import connect
with connect("wave") as robot:
    while True:
        robot.wait(0.1)
        robot.move({"RSP": random.choice([-1.0, 1.0]), "REB": random.uniform(-1.5, 0.0)})
"""


@contextmanager
def python(program: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen([sys.executable, "-c", program], text=True, stdout=subprocess.PIPE) as child:
        try:
            yield child
        finally:
            child.kill()


@pytest.fixture
def daemon() -> Iterator[subprocess.Popen[str]]:
    with python(DAEMON) as child:
        with connect("first", timeout=20.0):
            pass
        yield child


class Commands:
    """Every command that the daemon writes, and the greatest step between two of them."""

    def __init__(self) -> None:
        self.reader = Channel(Names().commanded).reader()
        self.reader.latest()
        self.last = self.reader.message["position"].copy()
        self.steps_above_limit = self.count = 0

    def look(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while True:
            time.sleep(min(0.02, seconds))
            while self.reader.next():
                position = self.reader.message["position"]
                assert not self.reader.missed  # look more often
                self.steps_above_limit += int((np.abs(position - self.last) > STEPS + 1e-12).any())
                self.last = position.copy()
                self.count += 1
            if time.monotonic() >= until:
                return


def test_a_controller_moves_a_joint_and_is_a_robot_and_a_clock(daemon):
    with connect("mine") as robot:
        assert isinstance(robot, RobotInterface)
        assert isinstance(robot, Clock)
        assert robot.joints == ROBOT.joint_names
        assert robot.period == 0.005
        start = robot.position("RSP")
        first = robot.tick()
        for _ in range(100):
            robot.tick()
            robot.move({"RSP": start + 0.2})
        assert robot.now > first
        assert robot.position("RSP") == pytest.approx(start + 0.2)


def test_a_joint_that_the_robot_lacks_is_left_out_with_one_warning(daemon):
    with connect("mine") as robot:
        with pytest.warns(UnknownJointWarning, match="no joint 'RSQ'.*closest: 'RS") as caught:
            move_often(robot, {"RSQ": 0.1, "RSP": 0.05})
        assert len(caught) == 1
        for _ in range(20):
            robot.tick()
        assert robot.position("RSP") == pytest.approx(0.05)
        with pytest.raises(UnknownName, match="RSP"):
            robot.position("RSQ")


def move_often(robot, positions):
    for _ in range(5):
        robot.move(positions)


def test_without_a_daemon_the_error_says_what_to_type():
    with pytest.raises(NoRobot, match="wholebody start"):
        connect("mine", timeout=0.1)


@pytest.mark.parametrize("wrong", [{"period": -1.0}, {"period": float("nan")}, {"lease": True}])
def test_a_contract_that_cannot_be_kept_is_refused(wrong):
    with pytest.raises(BadPeriod):
        connect("mine", timeout=0.1, **wrong)


@pytest.mark.slow
def test_killed_controllers_harm_nobody(daemon):
    commands = Commands()
    for _ in range(8):
        with python(WAVE):
            commands.look(random.uniform(0.4, 0.7))  # and it is killed
    commands.look(0.5)
    assert daemon.poll() is None
    assert commands.count > 500
    assert commands.steps_above_limit == 0


def test_a_controller_goes_on_with_the_daemon_that_follows_a_killed_one():
    with connect_to_new() as (child, robot):
        for _ in range(60):
            robot.tick()
            robot.move({"RSP": 0.5})
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        assert not robot.alive
        with python(DAEMON):
            while not robot.alive:
                time.sleep(0.05)
            for _ in range(10):
                robot.tick()
            commands = Commands()  # of the new one: its loopback robot is at zero again
            for _ in range(100):
                robot.tick()
                robot.move({"RSP": 0.5})
                commands.look(0.0)
            assert commands.steps_above_limit == 0
            assert robot.position("RSP") == pytest.approx(0.5)


@contextmanager
def connect_to_new():
    with python(DAEMON) as child, connect("mine", timeout=20.0) as robot:
        yield child, robot


def test_it_ends_in_order_when_told_to(daemon):
    time.sleep(0.2)
    daemon.send_signal(signal.SIGTERM)
    out, _ = daemon.communicate(timeout=10)
    cycles, rows = out.split()
    assert int(cycles) > 20
    assert int(rows) == 9
    with pytest.raises(NoRobot):
        connect("mine", timeout=0.1)


def test_its_process_is_small_and_loads_nothing_heavy(daemon):
    maps = Path(f"/proc/{daemon.pid}/maps").read_text()
    assert not [library for library in ("llvmlite", "pinocchio", "mujoco", "/scipy/") if library in maps]
    status = Path(f"/proc/{daemon.pid}/status").read_text()
    resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    assert resident < 100 * 1024


def test_the_newest_reference_at_a_tick_is_what_the_tick_writes(daemon):
    grain, index = 2.0**-22, ROBOT.index["RSP"]
    commands = Channel(Names().commanded).reader()
    spoken: list[tuple[int, float]] = []
    written: list[tuple[int, int, float]] = []
    with connect("mine") as robot:
        own = Channel(Names().reference("mine")).reader()
        for count in range(1500):
            robot.move({"RSP": -count * grain})
            if count == 100:  # it is heard by now
                commands.latest()
            time.sleep(0.001)
            while own.next():
                spoken.append((own.stamp_ns, float(own.message["position"][index])))
            while count > 100 and commands.next():
                value = float(commands.message["position"][index])
                written.append((int(commands.message["time"] * 1e9), commands.stamp_ns, value))
    assert len(written) > 100
    for began_ns, ended_ns, value in written:
        newest = [spoke for stamp, spoke in spoken if stamp <= began_ns][-1:]
        newest += [spoke for stamp, spoke in spoken if began_ns < stamp <= ended_ns]
        assert value in newest


@pytest.mark.slow
def test_a_motion_in_a_file_is_played_through_the_daemon(daemon):
    wave = Path(__file__).parents[2] / "examples" / "wave.yaml"
    command = [sys.executable, "-m", "wholebody.cli", "motion", "play", str(wave), "--live"]
    commands = Commands()
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as player:
        while player.poll() is None:
            commands.look(0.05)
        said = player.stdout.read()
    assert player.returncode == 0, said
    assert "holds its end" in said
    assert commands.steps_above_limit == 0
    trajectory = KeyFrames.read(wave, ROBOT).trajectory()
    assert commands.last == pytest.approx(trajectory.at(trajectory.duration).position, abs=1e-9)


@pytest.mark.slow
def test_a_filter_process_makes_steps_smooth(daemon):
    command = [sys.executable, "-m", "wholebody.cli", "filter", "mine", "smooth 20"]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process, connect("mine", filtered=True) as robot:
        try:
            path = []
            until = time.monotonic() + 10.0
            while time.monotonic() < until and robot.position("RSP") < 0.29:
                robot.tick()
                robot.move({"RSP": 0.3})
                path.append(robot.position("RSP"))
        finally:
            process.terminate()
        assert process.wait(10) == 0
    assert path[-1] >= 0.29
    assert np.diff(path).max() < 0.5 * STEPS[ROBOT.index["RSP"]]  # unfiltered it is all of it
