"""Processes of a robot: begun, waited for, ended; and what they leave behind."""

import os
import struct
import subprocess
import sys
import time

import pytest
from robot_processes import EXAMPLES, daemon, end_all, kill_daemon, simulator, wait_for, wholebody

from wholebody import messages, robots
from wholebody.channels import Channel, directory
from wholebody.drivers import connect
from wholebody.errors import HardwareError, NoRobot
from wholebody.operator.monitor.watcher import Watcher
from wholebody.processes import lifecycle
from wholebody.processes.launch_plan import LaunchPlan
from wholebody.processes.registry import DAEMON, DEMO, WALK, process_of, running, running_as
from wholebody.realtime import has_ended

BEGUN = []
LEASES = 80
"""Where a channel's header says where its writers' places are."""


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    end_all()
    while BEGUN:
        BEGUN.pop().process.wait(20)


def loopback(name="robot"):
    """A robot of nothing but numbers, as `wholebody start` begins it."""
    plan, log = LaunchPlan(name, "hubo2plus", "loopback"), lifecycle.log_file(name)
    BEGUN.append(lifecycle.spawn(DAEMON, stays=True, log=log, plan=plan))
    assert set(lifecycle.until_first_state(plan, BEGUN[-1:], log)) <= {"the daemon", "the first state"}


# Beginning.


def test_a_process_is_ready_when_it_says_so_and_ends_with_the_block():
    with lifecycle.beside(DAEMON, plan=LaunchPlan("mine", "hubo2plus", "loopback")) as child:
        child.until_ready()
        assert running_as(DAEMON, "mine").process == child.pid == daemon("mine")
        with connect("test", "mine") as robot:
            assert robot.wait(5.0)
    assert child.process.returncode == 0
    assert running_as(DAEMON, "mine") is None


def test_a_process_that_cannot_start_says_why(tmp_path):
    said = r"'walk' ended \(exit code 1\):\n.*no robot called 'nobody' is running"
    options = {"name": "nobody", "robot": "hubo2plus", "log": tmp_path / "log"}
    with lifecycle.beside(WALK, **options) as child, pytest.raises(HardwareError, match=said):
        child.until_ready()


def test_a_late_start_is_waited_for_with_a_line_now_and_then(monkeypatch):
    monkeypatch.setattr(lifecycle, "LATE", 0.1)
    said = []
    with lifecycle.beside(DEMO, member="robot") as child, pytest.raises(HardwareError, match="not ready after 1 s"):
        child.until_ready(said.append, seconds=1.0)  # a part of the demo never says that it is ready
    assert 5 <= len(said) <= 10
    assert said[0].startswith("waiting for the demo to start: 0 s so far, at most 1 s")


def test_who_needs_a_process_is_told_when_it_is_lost_and_not_when_it_is_ended():
    said = []
    for lost in (True, False):
        with lifecycle.beside(DEMO, member="robot") as child:
            wait_for(lambda: running("demo"))
            child.tell_when_lost(said.append)
            if lost:
                child.process.kill()
                wait_for(lambda: said)
    time.sleep(0.1)
    assert said == ["the demo has ended"]


PARENT = """
import time
from wholebody.processes import lifecycle
from wholebody.processes.registry import DEMO
lifecycle.spawn(DEMO, member="robot", stays={stays})
time.sleep(60)
"""


@pytest.mark.parametrize("stays", [False, True])
def test_a_process_ends_with_the_one_that_began_it_unless_it_is_to_stay(stays):
    parent = subprocess.Popen([sys.executable, "-c", PARENT.format(stays=stays)])
    wait_for(lambda: running("demo"))
    [child] = running("demo")
    assert os.getsid(child.process) == child.process, "Ctrl-C is for its parent"
    parent.kill()
    parent.wait()
    assert has_ended(child.process, 0.5 if stays else 20.0) == (not stays)


# Ending.


def test_a_process_that_does_not_end_is_killed_and_that_is_said(monkeypatch):
    monkeypatch.setattr(lifecycle, "PATIENCE", 0.3)
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
    for source, killed in (("print('up', flush=True); import time; time.sleep(60)", False), (deaf, True)):
        process = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE)
        process.stdout.readline()
        assert lifecycle.end(process.pid) == killed
        process.communicate()


def test_stop_removes_the_channels_so_that_nobody_reads_of_controllers_that_died():
    loopback()
    with connect("one") as one, connect("other") as other:
        for _ in range(20):
            one.wait()
            one.move({"RSP": 0.01})
            other.move({"RSP": 0.02})
        wait_for(lambda: "fight" in [event.name for event in Watcher().look().events])
    lifecycle.stop()
    assert [each for each in directory.names() if each.startswith("robot.")] == []
    read = wholebody("read", "--once", check=False)
    assert read.returncode == 1
    assert "no robot called 'robot' is running" in read.stderr
    loopback()
    assert Watcher().look().controllers == ()
    assert Watcher().look().events == ()


def test_stop_clears_away_what_a_killed_daemon_left():
    loopback()
    kill_daemon()
    assert "left behind are removed" in wholebody("stop").stdout
    assert directory.names() == []
    with pytest.raises(NoRobot, match="wholebody start"):
        lifecycle.stop()


def test_stop_ends_no_process_that_a_channels_memory_names_and_that_does_not_write_it():
    loopback()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as innocent:
        for each in directory.names():
            with Channel(each) as channel, channel.path.open("r+b") as file:
                (leases,) = struct.unpack_from("<Q", file.read(LEASES + 8), LEASES)
                file.seek(leases + 4)  # of the first writer, after its slots
                file.write(struct.pack("<I", innocent.pid))
        with pytest.raises(HardwareError, match=rf"says that process {innocent.pid} writes it, which it does not"):
            lifecycle.stop()
        assert innocent.poll() is None
        innocent.communicate(b"\n")
    BEGUN[-1].end()


def test_stop_removes_no_channel_that_is_written_nor_what_belongs_to_it():
    record = messages.event()
    with (
        Channel("robot.state", record),
        Channel("robot.reach.about", record) as about,
        Channel("robot.reach.ask", record),
        Channel("other.state", record),
        about.writer(),
    ):
        assert lifecycle.remove_channels("robot") == ["robot.state"]
        assert directory.names() == ["other.state", "robot.reach.about", "robot.reach.ask"]
        with pytest.raises(NoRobot):
            lifecycle.stop("robot")


@pytest.mark.slow
def test_a_simulator_of_somebody_else_is_found_by_the_next_robot_after_a_stop():
    own = subprocess.Popen([sys.executable, EXAMPLES / "simulator.py"], stdout=subprocess.DEVNULL)
    try:
        wait_for(lambda: simulator() == own.pid)
        for _ in range(2):
            wholebody("start")
            assert "left alone" in wholebody("stop").stdout
    finally:
        own.kill()
        own.communicate()


@pytest.mark.slow
def test_stop_ends_the_robot_of_the_name_and_no_other():
    for name in ("one", "other"):
        loopback(name)
    wholebody("stop", "--name", "one")
    assert daemon("one") is None
    assert process_of(DAEMON, "other") is not None
    assert {each.partition(".")[0] for each in directory.names()} == {"other"}


# Who depends on a process that ends.


def follow(robot):
    """As a controller does that wants to go on."""
    while robot.wait():
        pass


def test_a_controller_is_told_when_its_daemon_dies():
    loopback()
    wave = subprocess.Popen([sys.executable, EXAMPLES / "wave.py", "30"], stderr=subprocess.PIPE, text=True)
    with connect("look") as robot:
        wait_for(lambda: robot.wait() and robot.position("RSP") < -0.01)
        kill_daemon()
        with pytest.raises(NoRobot, match="has gone"):
            follow(robot)
        assert not robot.wait(0.01), "who gives a time gets an answer"
    _, said = wave.communicate(timeout=20)
    assert wave.returncode == 1
    assert "the robot 'robot' has gone; start it again: wholebody start" in said


def test_a_controller_does_not_wait_for_a_robot_that_was_stopped_though_another_runs_under_its_name():
    loopback()
    with connect("test") as robot:
        lifecycle.stop()
        loopback()
        with pytest.raises(NoRobot, match=r"has gone|was stopped, and another runs"):
            follow(robot)


# What is left.


def test_only_channels_of_another_robot_are_swept_and_none_that_is_in_use():
    mini, hubo = robots.load("minihubo"), robots.load("hubo2plus")
    with (
        Channel("robot.state", mini.state_dtype()) as state,
        Channel("robot.commanded", mini.reference_dtype()) as commanded,
        Channel("robot.wave.reference", mini.reference_dtype()) as used,
        used.writer(),
        Channel("robot.to_simulator", messages.tick()) as common,
        Channel("other.state", mini.state_dtype()) as other,
    ):
        everything = [each.path for each in (state, commanded, used, common, other)]
        lifecycle.sweep("robot", mini)
        assert all(path.exists() for path in everything)
        lifecycle.sweep("robot", hubo)
        assert [path.name for path in everything if not path.exists()] == ["robot.state", "robot.commanded"]
