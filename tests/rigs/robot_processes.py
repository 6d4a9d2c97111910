"""Robots as a person starts them, `wholebody start`, and everything ended afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from wholebody.channels import directory
from wholebody.processes import registry
from wholebody.realtime import has_ended

MAIN = [sys.executable, "-m", "wholebody.cli"]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def wholebody(*arguments, timeout=50, check=True, **more):
    """Run a command as it is typed."""
    run = subprocess.run([*MAIN, *map(str, arguments)], capture_output=True, text=True, timeout=timeout, **more)
    assert not check or run.returncode == 0, run.stdout + run.stderr
    return run


def names():
    """The robots that have channels here."""
    return sorted({each.partition(".")[0] for each in directory.names()})


def end_all():
    """Kill every process of every robot of this test."""
    owners = {registry.process_of(role, name) for name in names() for role in registry.OWNERS}
    found = {each.process for name in names() for each in registry.running(name)} | owners - {None}
    for process in found:
        os.kill(process, signal.SIGKILL)
    for process in found:
        assert has_ended(process, 40.0)


def daemon(name="robot"):
    """The daemon's process."""
    return registry.process_of(registry.DAEMON, name)


def simulator(name="robot"):
    """The simulator's process."""
    return registry.process_of(registry.SIMULATOR, name)


def kill_daemon(name="robot"):
    """Kill the daemon as a crash would, and wait until it is gone."""
    process = daemon(name)
    os.kill(process, signal.SIGKILL)
    wait_for(lambda: daemon(name) is None)
    return process


def heavy_libraries(process):
    """Which libraries that the daemon must do without are loaded in a process."""
    maps = Path(f"/proc/{process}/maps").read_text()
    assert "numpy" in maps, "libraries show here"
    return [name for name in ("pinocchio", "mujoco") if name in maps]


def resident_megabytes(process):
    """The memory that a process has."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


def wait_for(condition, seconds=40.0):
    """Wait until something is so, and return what the condition returned."""
    until = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.01)
    return value
