"""The commands as a person types them."""

import os
import re
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from wholebody import __version__, _kernels, cli, messages
from wholebody.channels import Channel

CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"
MAIN = [sys.executable, "-c", "from wholebody.cli import main; main()"]


def wholebody(*arguments, timeout=40):
    return subprocess.run([*MAIN, *map(str, arguments)], capture_output=True, text=True, timeout=timeout)


@pytest.fixture
def state():
    with Channel("hubo.state", messages.state(("RHY", "RHR"), imus=["pelvis"])) as channel, channel.writer() as writer:
        writer.message["position"][:] = 0.25, -0.5
        writer.message["imu"]["orientation"][0] = 0, 0, 0, 1
        writer.put()
        yield channel, writer


@pytest.fixture
def ticking(state):
    """The same channel, put to by another process at 500 Hz."""
    source = """
import time
from wholebody.channels import Channel
from wholebody.realtime import sleep_until
writer, instant = Channel("hubo.state").writer(), time.monotonic()
while True:
    instant += 0.002
    sleep_until(instant)
    writer.message["tick"] += 1
    writer.put()
"""
    process = subprocess.Popen([sys.executable, "-c", source])
    reader = state[0].reader()
    reader.latest()
    assert reader.wait(20)
    yield process
    process.kill()
    process.wait()


def test_the_version_is_that_of_the_package_and_of_the_changelog_and_comes_with_the_variant_of_the_kernels():
    run = wholebody("--version")
    assert run.returncode == 0
    assert run.stdout == f"wholebody {__version__}, kernels: {_kernels.model_variant()}\n"
    newest = re.search(r"^## (\d\S*), ", CHANGELOG.read_text(), re.MULTILINE)
    assert newest
    assert __version__ == newest[1] == metadata.version("wholebody")


def test_help_lists_every_command_and_needs_no_argument():
    for run in (wholebody(), wholebody("--help"), wholebody("-h")):
        for command in cli.names():
            assert re.search(rf"^\W*{command}\s", run.stdout + run.stderr, re.MULTILINE), command


def test_an_unknown_command_is_refused_with_the_nearest():
    run = wholebody("chanels")
    assert run.returncode == 2
    assert "channels" in run.stderr


def test_list_shows_what_each_channel_carries_and_who_writes(state, channels_folder):
    (channels_folder / "junk").write_text("no channel")
    run = wholebody("channels", "list")
    row = next(line for line in run.stdout.splitlines() if line.startswith("hubo.state"))
    assert str(state[0].dtype.itemsize) in row
    assert f" {os.getpid()} " in row
    assert "NotAChannel" in run.stdout, "a file that is no channel hides no other"


def test_list_says_so_when_there_is_nothing(channels_folder):
    assert f"no channels in {channels_folder}" in wholebody("channels", "list").stdout.replace("\n", "")


def test_show_tells_the_layout(state):
    output = wholebody("channels", "show", "hubo.state").stdout
    assert f"{state[0].layout.hash:016x}" in output
    assert re.search(r"position +float64 × 2", output)
    assert re.search(r"\[joints\] +RHY, RHR", output)


def test_echo_prints_the_newest_message(state):
    output = wholebody("channels", "echo", "hubo.state", "-n", 1).stdout
    assert re.search(r"position: \[ ?0\.25 -0\.5 ?\]", output)
    assert re.search(r"orientation: \[0\. 0\. 0\. 1\.\]", output)


def test_echo_all_prints_messages_in_order(ticking):
    output = wholebody("channels", "echo", "hubo.state", "--all", "-n", 20, "--field", "tick").stdout
    ticks = [int(line) for line in output.split("\n")[1::2]]
    assert len(ticks) == 20
    assert ticks == sorted(set(ticks))


def test_echo_of_a_field_that_is_not_there_lists_those_that_are(state):
    run = wholebody("channels", "echo", "hubo.state", "--field", "positon")
    assert run.returncode == 2
    assert "velocity" in run.stderr


@pytest.mark.slow
def test_hz_measures_the_rate(ticking):
    output = wholebody("channels", "hz", "hubo.state", "--seconds", 1).stdout
    rate = float(output.split()[0])
    assert 50 < rate < 1000, "500 Hz, on a machine that may be busy"


def test_rm_removes_a_channel_but_not_one_in_use(state):
    run = wholebody("channels", "rm", "hubo.state")
    assert run.returncode == 1
    assert "--force" in run.stderr
    assert state[0].path.exists()
    state[1].close()
    assert wholebody("channels", "rm", "hubo.state").returncode == 0
    assert not state[0].path.exists()
    run = wholebody("channels", "rm", "hubo.state")
    assert run.returncode == 1
    assert run.stderr.startswith("wholebody: there is no channel 'hubo.state'"), "one line, no traceback"


@pytest.mark.slow
def test_the_demo_kills_a_controller_and_nobody_is_hurt(channels_folder):
    run = wholebody("demo", "--seconds", 4, "--kill-every", 1, "--no-walk", timeout=55)
    assert run.returncode == 0, run.stdout + run.stderr
    rows = {
        line.split()[0]: line.split() for line in run.stdout.splitlines() if line[:5] in ("robot", "wave ", "nod  ")
    }
    assert int(rows["nod"][-1]) >= 3, "lives"
    for row in (rows["robot"], rows["wave"]):
        assert int(row[-1]) == 1
        assert int(row[-4]) > 100, "messages"
    assert "Torn or misordered messages: 0." in run.stdout
    assert list(channels_folder.iterdir()) == [], "and nothing is left behind"


def test_the_demo_leaves_no_process_when_it_is_killed(channels_folder):
    process = subprocess.Popen([*MAIN, "demo"], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while not (channels_folder / "demo.state").exists() or not Channel("demo.state").writer_processes():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.kill()
    process.wait()
    while any(Channel(name.name).writer_processes() for name in channels_folder.iterdir()):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_second_demo_is_refused_while_one_runs():
    with Channel("demo.state", np.dtype("f8")) as channel, channel.writer():
        run = wholebody("demo")
    assert run.returncode == 1
    assert "another demo" in run.stderr


@pytest.mark.slow
def test_a_second_demo_with_a_name_of_its_own_runs_beside_the_first(channels_folder):
    with Channel("demo.state", np.dtype("f8")) as channel, channel.writer():
        run = wholebody("demo", "--name", "other", "--seconds", 2, "--no-walk", timeout=55)
        assert "Torn or misordered messages: 0." in run.stdout
        assert [each.name for each in channels_folder.iterdir()] == ["demo.state"]


def test_the_demos_checks_find_a_torn_message():
    from wholebody.processes import demo

    reference = np.zeros(1, messages.reference(demo.JOINTS))[0]
    reference.time = 12.5
    reference.position[:] = demo.CONTROLLERS["wave"].position(12.5)
    assert demo.reference_is_whole("wave", reference)
    reference.position[3] = demo.CONTROLLERS["wave"].position(12.6)[3]
    assert not demo.reference_is_whole("wave", reference)
    state = np.zeros(1, messages.state(demo.JOINTS))[0]
    state.tick = state.effort[:] = 7
    assert demo.state_is_whole(state)
    state.tick = 8
    assert not demo.state_is_whole(state)
