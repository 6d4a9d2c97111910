"""A robot's processes: how they are found, begun and ended. Each is found by the channel that it writes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from wholebody.channels import Channel, directory
from wholebody.drivers import Names
from wholebody.errors import ChannelError, HardwareError
from wholebody.messages import labels
from wholebody.processes.launch_plan import Plan, plan_of
from wholebody.robots import Robot

FIRST_STATE_SECONDS = 60.0
PATIENCE = 5.0
"""s. How long a process may take to end by itself."""


@dataclass(frozen=True)
class Role:
    """What a process does for a robot, its module, and the channel that only it writes."""

    name: str
    module: str
    channel: Callable[[Names], str]


DAEMON = Role("daemon", "wholebody.processes.daemon", lambda names: names.tick)
SIMULATOR = Role("simulator", "wholebody.processes.simulator", lambda names: names.from_simulator)
BOARDS = Role("boards", "wholebody.processes.boards", lambda names: names.boards)
ROLES = (DAEMON, SIMULATOR, BOARDS)
COMPANIONS = {"simulator": SIMULATOR, "simulated dynamixel": BOARDS, "simulated hubo_can": BOARDS}
"""What the daemon needs beside it, by what is behind it."""


def process_of(role: Role, name: str) -> int | None:
    """The process that has a role for the robot of a name; None if there is none."""
    try:
        with Channel(role.channel(Names(name))) as channel:
            living = [process for process in channel.writer_processes() if is_alive(process)]
    except ChannelError:
        return None
    return living[0] if living else None


def is_alive(process: int) -> bool:
    """Whether a process runs: one that has ended and that nobody has asked after does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def runtime_folder() -> Path:
    """Where logs are: in the user's runtime folder, or beside the channels if they are elsewhere than usual."""
    own = os.environ.get("XDG_RUNTIME_DIR")
    if own and not os.environ.get("WHOLEBODY_CHANNELS"):
        return Path(own) / "wholebody"
    return directory.folder() / ".log"


def log_file(name: str) -> Path:
    """What the processes of a robot have to say."""
    return runtime_folder() / f"{name}.log"


def sweep(name: str, robot: Robot) -> None:
    """Remove the channels that another robot of this name left behind; what nothing tells apart goes on being used."""
    for each in directory.names():
        if each.startswith(f"{Names(name).robot}.") and _is_of_another(each, robot):
            with contextlib.suppress(ChannelError):  # in use: the daemon says so if it is in its way
                directory.remove(each)


def _is_of_another(channel: str, robot: Robot) -> bool:
    """Whether a channel's messages are of other joints, or of other sensors."""
    try:
        with Channel(channel) as opened:
            layout = opened.dtype
    except ChannelError:
        return True
    is_state = bool(labels(layout)) and "status" in (layout.names or ()) and "measured" in (layout.names or ())
    if is_state:
        own = robot.state_dtype()
        return bool(layout != own or layout.metadata != own.metadata)
    return labels(layout) not in ((), robot.joint_names)


def begin(role: Role, plan: Plan, log: Path | None) -> subprocess.Popen[bytes]:
    """Begin a process: in a session of its own with its output in the log, or, without a log, as a child."""
    command = [sys.executable, "-m", role.module, plan.text()]
    if log is None:
        return subprocess.Popen(command)
    with log.open("ab") as output:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )


def companion_to_begin(plan: Plan) -> Role | None:
    """The companion that the daemon needs and that does not live yet; those left from another plan are ended."""
    needed = COMPANIONS.get(plan.behind)
    for role in (SIMULATOR, BOARDS):
        process = process_of(role, plan.name)
        theirs = plan_of(process)
        if process is not None and theirs is not None and not (role is needed and _fit(theirs, plan)):
            end(process)
        elif process is not None and role is needed:
            return None  # ours from before, or somebody's own simulator
    return needed


def is_lacking(plan: Plan) -> bool:
    """Whether the companion that a running daemon needs has gone: it can be given another."""
    needed = COMPANIONS.get(plan.behind)
    return needed is not None and process_of(needed, plan.name) is None


def _fit(theirs: Plan, plan: Plan) -> bool:
    ours = (plan.robot, plan.behind, plan.period, plan.physics, plan.fast, plan.scene)
    return (theirs.robot, theirs.behind, theirs.period, theirs.physics, theirs.fast, theirs.scene) == ours


def until_first_state(plan: Plan, children: dict[Role, subprocess.Popen[bytes]], log: Path) -> Iterator[str]:
    """Wait for the robot's next state; says what it waits for. HardwareError, with the log's end, if none comes."""
    names, begun = Names(plan.name), time.monotonic()
    while time.monotonic() < begun + FIRST_STATE_SECONDS:
        for child in children.values():
            if child.poll() is not None:
                raise HardwareError(f"the robot did not start (exit code {child.returncode}):\n{tail(log)}")
        missing = [role for role, child in children.items() if process_of(role, plan.name) != child.pid]
        if not missing and _newest_stamp(names.state) > begun:
            return
        yield f"the {missing[0].name}" if missing else "the first state"
        time.sleep(0.05)
    raise HardwareError(f"no state came within {FIRST_STATE_SECONDS:g} s:\n{tail(log)}")


def _newest_stamp(channel: str) -> float:
    try:
        with Channel(channel) as opened, opened.reader() as reader:
            return reader.stamp if reader.latest() else 0.0
    except ChannelError:
        return 0.0


def end(process: int) -> bool:
    """End a process and wait until it is gone; True if it had to be killed."""
    for number, patience in ((signal.SIGTERM, PATIENCE), (signal.SIGKILL, PATIENCE)):
        try:
            os.kill(process, number)
        except ProcessLookupError:
            return False
        except PermissionError:
            raise HardwareError(f"process {process} belongs to somebody else, who must end it") from None
        until = time.monotonic() + patience
        while time.monotonic() < until:
            if not is_alive(process):
                return number == signal.SIGKILL
            time.sleep(0.02)
    raise HardwareError(f"process {process} cannot be ended, not even by SIGKILL")


def tail(log: Path, lines: int = 12) -> str:
    """The end of a log, indented."""
    try:
        text = log.read_text(errors="replace").splitlines()[-lines:]
    except OSError:
        text = []
    return "\n".join(f"  {line}" for line in text) or "  (it said nothing)"
