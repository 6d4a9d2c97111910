"""Services between machines: two processes without a channel in common, and a network between them."""

import json
import os
import signal
import socket
import subprocess
import tempfile
from importlib.util import find_spec

import numpy as np
import pytest
from robot_processes import MAIN, wait_for, wholebody

from wholebody.channels.bridge.gateway import OtherMachine
from wholebody.errors import BadParameter, BridgeError, NoController, UnknownName
from wholebody.parameters.remote import Remote, running

pytestmark = pytest.mark.skipif(not find_spec("zenoh"), reason="eclipse-zenoh is not installed")
FAST = "include: dreamer_reach.yaml\ninterface: {type: simulation, real_time: false}\n"


@pytest.fixture(scope="module")
def robots_machine():
    """The shared memory of another machine, and a port there."""
    with tempfile.TemporaryDirectory(prefix="wholebody-test-", dir="/dev/shm") as folder:
        with socket.socket() as end:
            end.bind(("127.0.0.1", 0))
            port = end.getsockname()[1]
        yield {**os.environ, "WHOLEBODY_CHANNELS": folder}, f"127.0.0.1:{port}"


def begin(file, machine, where):
    command = [*MAIN, "run", str(file), "--listen", where, "--json"]
    return subprocess.Popen(command, env=machine, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def end(process):
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)


@pytest.fixture(scope="module")
def far(robots_machine, tmp_path_factory):
    """A controller on another machine."""
    machine, where = robots_machine
    file = tmp_path_factory.mktemp("far") / "fast.yaml"
    file.write_text(FAST)
    process = begin(file, machine, where)
    yield process, file
    end(process)


@pytest.fixture
def remote(robots_machine, far):
    found = []

    def reached():
        try:
            found.append(Remote(connect=robots_machine[1]))
        except NoController:
            assert far[0].poll() is None
        return found

    wait_for(reached, 50)
    yield found[0]
    found[0].close()


def test_everything_works_as_at_home(remote, tmp_path):
    assert running() == [], "nothing runs on this machine"
    assert remote.alive
    goal = remote.get("tasks.right_hand.goal") + np.array([0.0, 0.0, 0.02])
    remote.forget()
    assert remote.set("tasks.right_hand.goal", goal).tolist() == goal.tolist()
    assert remote.values()["tasks.right_hand.goal"].tolist() == goal.tolist()
    assert {each.path for each in remote.list()} == set(remote.values())
    happened = remote.wait_for("right_hand_arrived", timeout=20.0)
    assert happened is not None
    counts = [happened.count]
    while (again := remote.wait_for("right_hand_arrived", timeout=0.05)) is not None:
        counts.append(again.count)  # it had arrived where it was before, too
    assert counts == sorted(set(counts)), "each arrival is told once"
    jacobians = remote.constraint_jacobians()
    assert np.linalg.matrix_rank(np.vstack(list(jacobians.values()))) >= len(jacobians) > 0
    remote.disable("right_hand")
    assert remote.get("tasks.right_hand.state") == "disabled"
    wait_for(lambda: np.isnan(remote.get("tasks.right_hand.error")).all())
    remote.enable("right_hand")
    remote.save(tmp_path / "tuned.yaml")
    assert "tasks.right_hand.goal" in (tmp_path / "tuned.yaml").read_text()


def test_what_cannot_be_is_refused_there_and_said_here(remote, robots_machine):
    with pytest.raises(BadParameter, match="outside"):
        remote.set("tasks.right_hand.stiffness", -1.0)
    with pytest.raises(UnknownName, match="closest"):
        remote.get("tasks.right_hand.gaol")
    with pytest.raises(NoController, match="'elsewhere'"):
        Remote("elsewhere", connect=robots_machine[1])
    there = OtherMachine(robots_machine[1])
    for noise in ({}, {"channel": 3}, {"channel": "robot.reach.about", "file": "x", "after": "y"}, {"ending": None}):
        there.ask(0.2, **noise)
    for name in ("robot.reach.parameters.requests", "robot.reach.about", "nothing"):
        there.put(name, b"noise")
    there.close()
    assert remote.get("servo.cycles") > 0, "it goes on"
    with pytest.raises(BridgeError, match="no endpoint"):
        Remote(connect="nowhere")


def test_the_commands_reach_it(remote, robots_machine):
    where = ("--connect", robots_machine[1])
    said = wholebody("set", "tasks.right_hand.goal", 0.3, -0.2, 0.9, *where).stdout
    assert said.split() == ["0.3", "-0.2", "0.9"]
    assert json.loads(wholebody("get", "tasks.right_hand.goal", "--json", *where).stdout) == [0.3, -0.2, 0.9]


@pytest.mark.slow
def test_a_controller_that_was_started_again_is_found_again(remote, far, robots_machine):
    process, file = far
    process.kill()
    process.communicate(timeout=30)
    with pytest.raises(NoController):
        remote.get("tasks.right_hand.goal", timeout=1.0)
    again = begin(file, *robots_machine)

    def answers():
        try:
            return remote.get("servo.cycles", timeout=2.0) > 0
        except NoController:
            assert again.poll() is None
            return False

    try:
        wait_for(answers, 50)
    finally:
        end(again)
