"""The registry: what runs, as what, and whether it still does."""

import os
import signal
import subprocess
import sys
import time

import pytest
from robot_processes import daemon, end_all, wait_for, wholebody

from wholebody import messages
from wholebody.behaviors import crawling_goals, reaching_goals, walking_goals
from wholebody.channels import Channel, directory
from wholebody.drivers import Names
from wholebody.errors import BadMessage, NoRobot, RoleTaken
from wholebody.processes import lifecycle
from wholebody.processes.launch_plan import LaunchPlan
from wholebody.processes.registry import (
    ARMS,
    CARRIER,
    CRAWL,
    DAEMON,
    WALK,
    Registration,
    plan_of,
    process_of,
    robot_of,
    running,
    running_as,
)


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    end_all()


def test_it_says_which_robot_driver_tier_and_scene_run_and_of_which_versions():
    began = time.monotonic()
    wholebody("start", "minihubo", "--driver", "mini", "--scene", "hall", "--name", "small")
    found = running_as(DAEMON, "small")
    assert (found.role, found.robot, found.driver, found.tier, found.scene) == (
        "daemon", "minihubo", "simulated dynamixel", "mini", "hall",
    )  # fmt: skip
    assert found.process == daemon("small")
    assert found.ready
    assert began < found.begun < time.monotonic()
    assert found.versions.startswith("wholebody 0.")
    assert found.plan == LaunchPlan.make("small", "minihubo", "mini", scene="hall")
    assert robot_of("small") == "minihubo"
    assert {each.role for each in running("small")} == {"daemon", "boards", "guard"}
    assert running() == [], "the robot of another name"


def test_of_a_killed_process_the_record_stays_but_it_does_not_run():
    with lifecycle.beside(DAEMON, plan=LaunchPlan("robot", "hubo2plus", "loopback")) as child:
        child.until_ready()
        assert [each.process for each in running()] == [child.pid]
        child.process.kill()
        child.process.wait()
    assert DAEMON.record_channel("robot") in directory.names()
    assert running_as(DAEMON) is None
    assert running() == []
    assert plan_of() is None
    with pytest.raises(NoRobot, match="wholebody start"):
        robot_of()


def test_what_a_command_line_says_does_not_count():
    plan = LaunchPlan("robot", "minihubo", "mini").text()
    with (
        subprocess.Popen([sys.executable, "-c", "input()", plan], stdin=subprocess.PIPE) as other,
        Channel(Names().tick, messages.tick()) as channel,
        channel.writer() as beats,
    ):
        beats.put()
        assert process_of(DAEMON) == os.getpid(), "a daemon of somebody else"
        assert plan_of() is None
        with pytest.raises(NoRobot, match="--robot"):
            robot_of()
        other.communicate()


def test_a_role_has_one_process_and_the_other_is_told_which():
    with Registration(WALK, "robot", robot="hubo2plus"):
        with pytest.raises(RoleTaken, match=f"'walk' of 'robot' runs already \\(process {os.getpid()}\\).*--name"):
            Registration(WALK, "robot")
        with Registration(WALK, "other"):
            pass
    with Registration(WALK, "robot"):
        pass


def test_carriers_of_two_controllers_run_beside_each_other():
    with Registration(CARRIER, "robot", "reach"), Registration(CARRIER, "robot", "127.0.0.1:7447"):
        assert len(running()) == 2
        assert running_as(CARRIER, "robot", "reach") is not None
        assert running_as(CARRIER, "robot", "stand") is None


def test_a_process_is_not_ready_before_it_says_so():
    with Registration(WALK, "robot") as entry:
        assert not running_as(WALK).ready
        entry.ready()
        assert running_as(WALK).ready


def test_what_is_too_long_for_the_record_is_refused_rather_than_cut():
    with pytest.raises(BadMessage, match="robot of a process has 600 bytes"):
        Registration(WALK, "robot", robot="x" * 600)


def test_a_controller_is_found_by_what_it_writes():
    for role, controller in (
        (WALK, walking_goals.CONTROLLER),
        (CRAWL, crawling_goals.CONTROLLER),
        (ARMS, reaching_goals.CONTROLLER),
    ):
        assert role.channel(Names("some")) == Names("some").doing(controller)


@pytest.mark.slow
def test_a_process_that_is_stopped_for_a_while_still_runs():
    wholebody("start", "--driver", "loopback")
    process = daemon()
    os.kill(process, signal.SIGSTOP)
    try:
        assert running_as(DAEMON).process == process
    finally:
        os.kill(process, signal.SIGCONT)
    wait_for(lambda: running_as(DAEMON) is not None)
