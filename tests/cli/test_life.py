"""Start, stop, status: the processes of a robot."""

import grp
import json
import os
import signal
import stat
import subprocess
import sys
import time

import numpy as np
import pytest
from robot_processes import (
    EXAMPLES,
    MAIN,
    daemon,
    end_all,
    heavy_libraries,
    kill_daemon,
    resident_megabytes,
    simulator,
    wait_for,
    wholebody,
)

from wholebody import robots
from wholebody.channels import Channel, directory
from wholebody.drivers import connect
from wholebody.operator.monitor.watcher import Watcher
from wholebody.processes import lifecycle
from wholebody.realtime import has_ended


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    end_all()


def status():
    return json.loads(wholebody("status", "--json").stdout)


def move(joints, seconds=1.0):
    """Move joints slowly, as a controller, and return where they are then."""
    with connect("test") as robot:
        start, begin = {joint: robot.position(joint) for joint in joints}, robot.now
        while robot.wait() and (t := (robot.now - begin) / seconds) < 1.2:
            robot.move({joint: start[joint] + min(t, 1) * (goal - start[joint]) for joint, goal in joints.items()})
        return {joint: robot.position(joint) for joint in joints}


# The life of a robot.


def test_a_robot_starts_runs_and_stops():
    began = time.monotonic()
    run = wholebody("start", "hubo2plus")
    assert "hubo2plus runs as 'robot'" in run.stdout
    for command in ("console", "read", "stop"):
        assert f"wholebody {command}" in run.stdout, "and what to type next"
    told = status()
    assert told["running"]
    assert told["robot"] == "hubo2plus"
    assert told["processes"] == {"daemon": daemon(), "simulator": simulator()} | told["processes"]
    assert 0 < told["uptime"] < time.monotonic() - began
    assert told["tick"] > 0
    assert told["period"] == pytest.approx(0.005)
    assert {"reference", "gate", "write", "read", "work"} <= {stage["name"] for stage in told["stages"]}
    assert all(0 <= each["mean"] <= each["worst"] for each in told["stages"])
    shown = wholebody("status").stdout
    assert str(daemon()) in shown
    assert "p99" in shown
    processes = daemon(), simulator()
    assert wholebody("stop").stdout.count("ended") == 2
    assert all(map(has_ended, processes))
    log = lifecycle.log_file("robot").read_text()
    assert "deviation" in log, "the final table of the stages"
    ended = wholebody("status", "--json", check=False)
    assert ended.returncode == 1
    assert not json.loads(ended.stdout)["running"]
    assert wholebody("stop", check=False).stderr == (
        "wholebody: no robot called 'robot' is running; start one: wholebody start hubo2plus\n"
    )


def test_a_robot_stays_when_the_terminal_that_started_it_closes():
    wholebody("start", "--driver", "loopback")
    assert os.getsid(daemon()) == daemon(), "a session of its own: no hang-up, no Ctrl-C"


@pytest.mark.slow
def test_a_second_robot_needs_a_second_name():
    wholebody("start", "--driver", "loopback")
    run = wholebody("start", "--driver", "loopback", check=False)
    assert run.returncode == 1
    assert f"running already (process {daemon()})" in run.stderr
    assert "--name" in run.stderr
    wholebody("start", "minihubo", "--driver", "loopback", "--name", "second")
    assert daemon("second") not in (None, daemon())
    wholebody("stop", "--name", "second")
    assert daemon("second") is None
    assert daemon() is not None, "the first runs on"


@pytest.mark.slow
def test_a_killed_daemon_is_started_again_and_nothing_jumps():
    wholebody("start")
    process = simulator()
    there = move({"RSP": -0.5, "REB": -0.9})
    with Channel("robot.simulated") as channel, channel.reader() as reader:
        reader.latest()
        kill_daemon()
        wholebody("start")
        highest = np.zeros(len(robots.load("hubo2plus").moving))
        until = time.monotonic() + 1.0
        while time.monotonic() < until:
            if reader.wait(0.1, mode="next"):
                highest = np.maximum(highest, np.abs(reader.message["velocity"]))
    assert simulator() == process, "the simulator lives on and is kept"
    stiff = [not joint.name[1:].startswith("F") for joint in robots.load("hubo2plus").moving]
    assert highest[stiff].max() < 0.2, "rad/s: it holds what it held; only the fingers are so soft that they sag"
    with connect("test") as robot:
        assert {joint: robot.position(joint) for joint in there} == pytest.approx(there, abs=0.01)


@pytest.mark.slow
def test_a_controller_goes_on_when_the_daemon_is_started_again():
    wholebody("start", "--driver", "loopback")
    with connect("test") as robot:
        kill_daemon()
        robot.wait(0.1)
        assert not robot.wait(0.3)
        wholebody("start", "--driver", "loopback")
        assert robot.wait(2)
        robot.move({"RSP": 0.02})
        wait_for(lambda: robot.wait() and robot.position("RSP") == pytest.approx(0.02))


@pytest.mark.slow
def test_what_another_robot_left_behind_is_no_obstacle():
    wholebody("start", "minihubo", "--driver", "loopback")
    kill_daemon()
    wholebody("start", "hubo2plus", "--driver", "loopback")
    assert status()["robot"] == "hubo2plus"


@pytest.mark.slow
def test_a_simulator_for_another_plan_is_replaced():
    wholebody("start", "--no-physics")
    before = simulator()
    kill_daemon()
    wholebody("start", "minihubo", "--no-physics", "--fast")
    assert simulator() != before
    assert has_ended(before)
    assert status()["robot"] == "minihubo"


@pytest.mark.slow
def test_a_daemon_whose_simulator_died_is_given_another():
    wholebody("start", "--no-physics")
    process, before = daemon(), simulator()
    os.kill(before, signal.SIGKILL)
    wait_for(lambda: simulator() is None)
    ticks = Watcher().look().tick
    wholebody("start", "--no-physics")
    assert daemon() == process
    assert simulator() not in (None, before)
    wait_for(lambda: Watcher().look().tick > ticks)


def test_two_starts_at_once_give_one_robot():
    starts = [
        subprocess.Popen([*MAIN, "start", "--driver", "loopback"], stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    said = [each.communicate(timeout=40)[1] for each in starts]
    assert sorted(each.returncode for each in starts) == [0, 1], said
    assert daemon() is not None
    wait_for(lambda: Watcher().look().silent < 1)  # a busy machine may hold the daemon up for a moment


@pytest.mark.slow
def test_somebody_elses_simulator_is_used_and_left_alone():
    own = subprocess.Popen([sys.executable, EXAMPLES / "simulator.py"], stdout=subprocess.DEVNULL)
    wait_for(lambda: simulator() == own.pid, 30)
    try:
        wholebody("start")
        assert simulator() == own.pid
        assert "left alone" in wholebody("stop").stdout
        assert own.poll() is None
    finally:
        own.kill()
        own.communicate()


def test_a_robot_that_cannot_start_says_why():
    with Channel("robot.events", np.dtype("f8")) as channel, channel.writer():
        run = wholebody("start", "--driver", "loopback", check=False)
    assert run.returncode == 1
    assert "did not start" in run.stderr
    assert "robot.events" in run.stderr, "the end of the log"
    assert daemon() is None


def test_in_the_foreground_it_ends_with_a_signal_and_takes_the_simulator_along():
    process = subprocess.Popen([*MAIN, "start", "--foreground"], stdout=subprocess.PIPE, text=True)
    wait_for(lambda: daemon() is not None and simulator() is not None, 30)
    processes = daemon(), simulator()
    with connect("first", timeout=20.0):
        pass
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "ended after" in output
    wait_for(lambda: all(map(has_ended, processes)))


@pytest.mark.slow
def test_nobody_needs_real_time_so_it_may_go_faster():
    wholebody("start", "--no-physics", "--fast")
    wait_for(lambda: Watcher().look().speed > 1.5)


@pytest.mark.slow
def test_the_filter_asked_for_is_that_of_all_joints():
    wholebody("start", "--driver", "loopback", "--filter", "smooth 20")
    assert {joint["filter"] for joint in json.loads(wholebody("read", "--once", "--json").stdout)["joints"]} == {
        "smooth 20"
    }


# What the daemon is.


def test_the_daemon_is_small_and_loads_nothing_heavy():
    wholebody("start", "--no-physics")
    move({"RSP": 0.1}, seconds=0.3)
    assert heavy_libraries(daemon()) == []
    assert resident_megabytes(daemon()) < 100
    assert "mujoco" in heavy_libraries(simulator()), "the simulator is another process, and the check sees it"


def test_a_robot_is_started_for_a_group_and_says_who_may_move_it(channels_folder):
    group = "games" if os.geteuid() == 0 else grp.getgrgid(os.getegid()).gr_name
    said = wholebody("start", "--driver", "loopback", "--group", group, "--readable").stdout
    assert f"and group {group} may move it, everybody may read it" in " ".join(said.split())
    channels = [channels_folder / each for each in directory.names()]
    assert {stat.S_IMODE(each.stat().st_mode) for each in channels} == {0o664}
    assert {grp.getgrgid(each.stat().st_gid).gr_name for each in channels} == {group}
    refused = wholebody("start", "--driver", "loopback", "--name", "other", "--group", "gamse", check=False)
    assert refused.returncode == 1
    assert "no group 'gamse'; closest: 'games'" in refused.stderr
