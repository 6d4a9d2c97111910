"""The robots of another machine are found, moved, stopped, started and missed as those of this one."""

import os
import shutil
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from robot_processes import MAIN, daemon, wait_for

from wholebody import security
from wholebody.channels import directory
from wholebody.drivers import connect
from wholebody.drivers.boards import BoardClient
from wholebody.errors import BridgeError, NoRobot
from wholebody.processes.far_robots import FarRobots

pytestmark = pytest.mark.skipif(not find_spec("zenoh"), reason="eclipse-zenoh is not installed")


def begin_host(machine, port):
    host = machine.run(*MAIN, "process", "host", "--endpoint", port)
    assert host.stdout.readline().startswith(f"the robots of this machine can be had at {port}")
    return host


def wait_for_ever(robot):
    while True:
        robot.wait()


class Follower:
    """Mirrors another machine's robots in a process of its own, as `wholebody remote HOST` does."""

    def __init__(self, near, where, prefix=()):
        self.process = near.run(*prefix, *MAIN, "remote", where)

    def says(self, what):
        line = ""
        while what not in line:
            line = self.process.stdout.readline()
            assert line, "it ended"
        return line


@pytest.mark.slow
def test_a_robot_is_started_moved_stopped_and_ended_from_another_machine(far, near, port):
    begin_host(far, port)
    with FarRobots(port) as there:
        assert there.run("status", "--name", "far").code == 1
        ran = there.run("start", "hubo2plus", "--driver", "loopback", "--name", "far")
        assert (ran.code, ran.err) == (0, "")
        assert "hubo2plus runs as 'far'" in ran.out
        follower = Follower(near, port)
        follower.says("mirrored from")
        with connect("wave", "far") as robot:
            assert robot.joints[0] == "RHY"

            def has_moved():
                assert robot.wait(5.0)
                robot.move({"RSP": -0.2})
                return robot.position("RSP") == pytest.approx(-0.2, abs=0.01)

            wait_for(has_moved)
            with BoardClient("far") as boards:
                boards.stop()  # as the stop key of a console here does
            wait_for(lambda: "stopped" in there.run("status", "--name", "far").out)
            ran = there.run("stop", "--name", "far")
            assert "ended" in ran.out
            with pytest.raises(NoRobot, match="the robot 'far' has gone"):
                wait_for_ever(robot)
        follower.says("no robot runs at")
        assert there.run("rm", "-rf", "/").code == 2


@pytest.mark.slow
def test_a_robot_that_hangs_is_killed_from_another_machine(far, near, port, monkeypatch):
    begin_host(far, port)
    with FarRobots(port) as there:
        assert there.run("start", "hubo2plus", "--driver", "loopback", "--name", "far").code == 0
        monkeypatch.setenv("WHOLEBODY_CHANNELS", str(far.folder))
        os.kill(daemon("far"), signal.SIGSTOP)
        ran = there.run("stop", "--kill", "--name", "far")
        assert ran.code == 0, ran.err
        assert "killed" in ran.out
        assert directory.writers("far.tick") == []


@pytest.mark.slow
def test_when_the_link_is_lost_who_uses_the_robot_is_told_and_finds_it_again(far, near, port):
    host = begin_host(far, port)
    with FarRobots(port) as there:
        assert there.run("start", "hubo2plus", "--driver", "loopback", "--name", "far").code == 0
    follower = Follower(near, port)
    follower.says("mirrored from")
    with connect("test", "far") as robot:
        assert robot.wait(5.0)
        host.send_signal(signal.SIGSTOP)
        with pytest.raises(NoRobot, match="the robot 'far' has gone"):
            wait_for_ever(robot)
    follower.says("no word from")
    host.send_signal(signal.SIGCONT)
    follower.says("mirrored from")
    with connect("test", "far") as robot:
        assert robot.wait(5.0)
    with FarRobots(port) as there:
        there.run("stop", "--name", "far")


@pytest.mark.slow
def test_only_who_has_the_token_comes_in_and_it_is_on_no_command_line(far, near, port, tmp_path, monkeypatch):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    monkeypatch.setenv("WHOLEBODY_KEYS", str(ours))
    security.make()
    host = begin_host(far, f"tls/{port}")
    assert security.token() not in Path(f"/proc/{host.pid}/cmdline").read_text()
    with FarRobots(f"tls/{port}") as there:
        assert there.run("status").code == 1
    with FarRobots(port) as there, pytest.raises(BridgeError, match="nobody answers at"):
        there.run("status")
    monkeypatch.setenv("WHOLEBODY_KEYS", str(theirs))
    security.make()
    shutil.copy(ours / "robot.pem", theirs)
    with FarRobots(f"tls/{port}") as there, pytest.raises(BridgeError, match="nobody answers at"):
        there.run("status")


@pytest.mark.slow
def test_a_robot_of_a_name_that_is_taken_here_is_left_out(far, near, port):
    begin_host(far, port)
    with FarRobots(port) as there:
        assert there.run("start", "hubo2plus", "--driver", "loopback", "--name", "far").code == 0
        other = near.run(
            sys.executable,
            "-c",
            "import sys; from wholebody.channels import Channel; writer = Channel('far.tick', '<f8').writer();"
            "print(flush=True); sys.stdin.read()",
        )
        other.stdout.readline()
        wait_for(there.look)
        assert there.robots == ()
        assert f"here (process {other.pid}): start it with --name" in there.refused["far"]
        other.kill()
        other.wait()
        wait_for(lambda: there.look() and there.robots == ("far",))
        there.run("stop", "--name", "far")


@pytest.mark.slow
def test_where_nobody_answers_it_says_what_to_run_there(port):
    with FarRobots(port) as there, pytest.raises(BridgeError, match=r"process host --endpoint 0\.0\.0\.0:7449"):
        there.run("status")


@pytest.fixture
def network():
    """Two hosts with a cable between them: what runs a command on each; and what plugs the cable."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("needs root, and apt install iproute2")
    names = [f"wb{os.getpid()}{end}" for end in "ab"]

    def ip(*words):
        return subprocess.run(["ip", *words], capture_output=True, text=True)

    if ip("netns", "add", names[0]).returncode:
        pytest.skip("this machine allows no network namespaces")
    try:
        ip("netns", "add", names[1])
        ip("link", "add", names[0], "type", "veth", "peer", "name", names[1])
        for number, name in enumerate(names, 1):
            ip("link", "set", name, "netns", name)
            ip("-n", name, "addr", "add", f"10.77.0.{number}/24", "dev", name)
            for each in ("lo", name):
                ip("-n", name, "link", "set", each, "up")
        on = [["ip", "netns", "exec", name] for name in names]
        yield on, lambda state: ip("-n", names[0], "link", "set", names[0], state)
    finally:
        for name in names:
            ip("netns", "del", name)


@pytest.mark.slow
def test_over_a_network_it_takes_keys_and_a_cable_may_be_pulled(far, near, network, tmp_path, monkeypatch):
    (there, here), plug = network
    monkeypatch.setenv("WHOLEBODY_KEYS", str(tmp_path / "keys"))
    command = [*there, *MAIN, "process", "host", "--endpoint", "10.77.0.1:7449"]
    refused = far.run(*command)
    assert refused.wait(60) == 1
    assert "wholebody keys make" in far.said.read_text(), "without keys nothing listens to others"
    security.make(["10.77.0.1"])
    assert far.run(*command).stdout.readline()

    def remote(*words):
        return near.run(*here, *MAIN, "remote", "10.77.0.1", *words)

    assert "runs as 'far'" in remote("start", "hubo2plus", "--driver", "loopback", "--name", "far").communicate()[0]
    follower = Follower(near, "10.77.0.1", here)
    follower.says("mirrored from 10.77.0.1:7449: far")
    with connect("test", "far") as robot:
        assert robot.wait(5.0)
        plug("down")
        with pytest.raises(NoRobot, match="the robot 'far' has gone"):
            wait_for_ever(robot)
    follower.says("no word from")
    plug("up")
    follower.says("mirrored from")
    with connect("test", "far") as robot:
        assert robot.wait(5.0)
    assert remote("stop", "--name", "far").wait(60) == 0
