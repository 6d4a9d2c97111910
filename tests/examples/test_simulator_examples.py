"""Anybody's simulator: the examples in Python and in C, driven through the link."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from simulator_peers import PERIOD, assert_lock_step, make_channels, new_records
from test_c_peer import compile_c, wholebody

from wholebody import messages, robots
from wholebody.channels import Channel, Layout
from wholebody.channels.languages.c_header import c_header
from wholebody.drivers.simulator_link import SimulatorLink

ROBOT = "minihubo"
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def robot():
    return robots.load(ROBOT)


def run_example(command, robot):
    """Drive an example's joints to 0.3 through the link, and look at the way they take."""

    def alive():
        assert example.poll() is None, "the example ended"

    link = SimulatorLink(robot, idle=alive)
    with subprocess.Popen(command) as example:
        try:
            with link:
                state, reference = new_records(robot)
                reference.position[:] = 0.3
                expected = np.zeros(len(robot.moving))
                for cycle in range(1000):
                    assert link.tick() == pytest.approx(cycle * PERIOD, abs=1e-9)
                    link.write(reference)
                    link.read(state)
                    assert state.position == pytest.approx(expected, abs=1e-12)
                    expected += (0.3 - expected) * PERIOD / 0.05
                assert (link.missed, link.restarts) == (0, 0)
        finally:
            example.kill()
    assert_lock_step(Channel("robot.from_simulator"), Channel("robot.to_simulator"))


def test_the_example_in_python_is_a_simulator(robot):
    make_channels(robot)
    run_example([sys.executable, str(EXAMPLES / "simulator.py"), ROBOT], robot)


def test_the_example_in_c_is_a_simulator(robot, tmp_path):
    make_channels(robot)
    for name in ("robot.simulated", "robot.commanded", "robot.to_simulator", "robot.from_simulator"):
        wholebody("channels", "header", name, "-o", str(tmp_path / f"{name.replace('.', '_')}.h"))
    run_example([compile_c(tmp_path, EXAMPLES / "simulator.c")], robot)


@pytest.mark.slow
def test_the_example_in_c_says_what_is_wrong(tmp_path, robot):
    SimulatorLink(robot).close()
    other = robots.load("hoap3")
    for name, dtype in (
        ("robot.simulated", other.state_dtype()),
        ("robot.commanded", other.reference_dtype()),
        ("robot.to_simulator", messages.tick()),
        ("robot.from_simulator", messages.tick()),
    ):
        (tmp_path / f"{name.replace('.', '_')}.h").write_text(c_header(name, Layout.of(dtype)))
    run = subprocess.run([compile_c(tmp_path, EXAMPLES / "simulator.c")], capture_output=True, text=True, timeout=20)
    assert run.returncode == 1
    assert "another layout" in run.stderr
