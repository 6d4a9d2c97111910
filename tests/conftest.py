"""Every test has shared memory of its own, and no deadline: machines are shared."""

import os
import shutil
import signal
import socket
import tempfile
from pathlib import Path

os.environ.setdefault("MUJOCO_GL", "egl")  # before any test imports mujoco, which reads it once

import hypothesis
import pytest
from counted_channel import COUNT
from two_machines import Machine

from wholebody.channels import Channel

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # run in the background: the processes of tests must hear Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

hypothesis.settings.register_profile("shared machine", deadline=None)
hypothesis.settings.load_profile("shared machine")


SLOW_LIMIT = 900
"""s that a test has that is marked slow; all others have the `timeout` of pyproject.toml."""


def pytest_collection_modifyitems(items):
    """Take `slow(but=…)` off parametrised cases that are named, which run in `make test`; slow ones have more time."""
    for item in items:
        for mark in [each for each in item.own_markers if each.name == "slow" and "but" in each.kwargs]:
            but = mark.kwargs["but"]
            if item.callspec.id in ([but] if isinstance(but, str) else but):
                item.own_markers.remove(mark)
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW_LIMIT))


@pytest.fixture(autouse=True)
def channels_folder(monkeypatch):
    folder = Path(tempfile.mkdtemp(prefix="wholebody-test-", dir="/dev/shm"))
    monkeypatch.setenv("WHOLEBODY_CHANNELS", str(folder))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def far(channels_folder):
    machine = Machine(channels_folder / "far")
    yield machine
    machine.stop()


@pytest.fixture
def near(channels_folder, monkeypatch):
    """The machine that imports; bridges and channels of the test process itself are there too."""
    machine = Machine(channels_folder / "near")
    monkeypatch.setenv("WHOLEBODY_CHANNELS", str(machine.folder))
    yield machine
    machine.stop()


@pytest.fixture
def port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


@pytest.fixture
def channel():
    with Channel("test.count", COUNT, depth=8, writers=4) as opened:
        yield opened
