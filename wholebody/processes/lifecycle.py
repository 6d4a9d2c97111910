"""A robot's processes: how they are begun, waited for and ended, and what they leave behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from wholebody.channels import Channel, directory
from wholebody.drivers import Names
from wholebody.errors import ChannelError, HardwareError, NoRobot, NotPermitted
from wholebody.messages import labels
from wholebody.processes import registry
from wholebody.processes.launch_plan import LaunchPlan
from wholebody.processes.registry import (
    BEHAVIOR,
    BOARDS,
    DAEMON,
    GUARD,
    OWNERS,
    ROLES,
    SIMULATOR,
    Role,
    process_of,
    running_as,
)
from wholebody.realtime import has_ended
from wholebody.robots import Robot

STARTING_SECONDS = 60.0
LATE = 5.0
"""s after which a start-up that is waited for is worth a line, and again."""
PATIENCE = 5.0
"""s. How long a process may take to end by itself."""
LOOK_EVERY = 0.02
"""s"""
Say = Callable[[str], None]


class Wait:
    """A wait for something that starts; when that takes long there is a line, now and then."""

    def __init__(self, seconds: float = STARTING_SECONDS, say: Say | None = None) -> None:
        self.seconds, self._say = seconds, say or _to_stderr
        self.begun = time.monotonic()
        self._again = self.begun + LATE

    @property
    def over(self) -> bool:
        """Whether it was too long."""
        return time.monotonic() > self.begun + self.seconds

    def on(self, what: str) -> None:
        """Wait a little longer."""
        now = time.monotonic()
        if now > self._again:
            self._again += LATE
            self._say(f"waiting for {what} to start: {now - self.begun:.0f} s so far, at most {self.seconds:g} s")
        time.sleep(LOOK_EVERY)


class Child:
    """A process that we began."""

    def __init__(self, role: Role, options: dict[str, str], log: Path | None, process: subprocess.Popen[bytes]) -> None:
        self.role, self.process, self._log = role, process, log
        plan = options.get("plan")
        self.name = LaunchPlan.parse(plan).name if plan else options.get("name", "")
        self._label, self._ending = options.get(role.each, ""), False

    @property
    def pid(self) -> int:
        """Its number."""
        return self.process.pid

    def look(self) -> None:
        """HardwareError, with the end of its log, if it has ended."""
        if self.process.poll() is not None:
            said = f":\n{tail(self._log)}" if self._log else "; it says why above"
            raise HardwareError(f"the process '{self.role.name}' ended (exit code {self.process.returncode}){said}")

    @property
    def ready(self) -> bool:
        """Whether others can use what it does; HardwareError if it has ended."""
        self.look()
        found = running_as(self.role, self.name, self._label)
        return found is not None and found.process == self.pid and found.ready

    def until_ready(self, say: Say | None = None, seconds: float = STARTING_SECONDS) -> None:
        """Wait until it is ready; if that takes long, `say` says so (on stderr, unless told otherwise)."""
        wait = Wait(seconds, say)
        while not self.ready:
            if wait.over:
                raise HardwareError(f"the {self.role.name} is not ready after {seconds:g} s:\n{tail(self._log)}")
            wait.on(f"the {self.role.name}")

    def tell_when_lost(self, say: Say) -> None:
        """Have `say` told, from another thread, when it ends before we end it."""

        def watch() -> None:
            has_ended(self.pid, within=None)
            if not self._ending:
                say(f"the {self.role.name} has ended")

        threading.Thread(target=watch, name=f"life of the {self.role.name}", daemon=True).start()

    def end(self) -> bool:
        """End it, and wait until it is gone; True if it had to be killed."""
        self._ending = True
        killed = self.process.poll() is None and end(self.pid)
        self.process.wait()
        return killed


def spawn(role: Role, *, log: Path | None = None, stays: bool = False, **options: Any) -> Child:
    """Begin a process, in a session of its own so that Ctrl-C is ours; it ends with us, however that is, or `stays`.

    options: those of its command. What it says goes into the log; without one, where what we say goes.
    """
    texts = {key: _text(value) for key, value in options.items() if value not in (None, "")}
    words = [word for key, text in texts.items() for word in (f"--{key}", text)]
    words += [] if stays else ["--until", str(os.getpid())]
    with contextlib.ExitStack() as stack:
        output = None
        if log is not None:
            _make_log_folder(log.parent)
            output = stack.enter_context(log.open("ab"))
            words += ["--log", str(log)]
        process = subprocess.Popen(
            [sys.executable, "-m", "wholebody.processes", role.name, *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    return Child(role, texts, log, process)


@contextlib.contextmanager
def beside(role: Role, *, log: Path | None = None, **options: Any) -> Iterator[Child]:
    """A process of ours that ends with the block."""
    child = spawn(role, log=log, **options)
    try:
        yield child
    finally:
        child.end()


def begin_behavior(plan: LaunchPlan, behavior: str, log: Path | None = None, stays: bool = False) -> Child:
    """Begin one of the behaviours of a plan, beside its daemon."""
    return spawn(BEHAVIOR, log=log, stays=stays, name=plan.name, robot=plan.robot, behavior=behavior)


def begin_guard(plan: LaunchPlan, log: Path | None = None, stays: bool = False) -> Child:
    """Begin the guard of a plan's daemon, instead of one that is left of a daemon before it."""
    left = process_of(GUARD, plan.name)
    if left is not None:
        end(left)
    return spawn(GUARD, log=log, stays=stays, plan=plan)


def _text(value: Any) -> str:
    return value.text() if isinstance(value, LaunchPlan) else str(value)


def _make_log_folder(folder: Path) -> None:
    """Make it; one that lies beside channels, where a group may write, must be ours."""
    channels = directory.make_folder()
    folder.mkdir(parents=True, exist_ok=True)
    if folder.parent == channels and os.lstat(folder).st_uid != os.geteuid():
        raise NotPermitted(
            f"{folder}, where logs go, belongs to somebody else; set XDG_RUNTIME_DIR to a folder of your own"
        )


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def runtime_folder() -> Path:
    """Where logs are: in the user's runtime folder, or beside the channels if they are elsewhere than usual."""
    own = os.environ.get("XDG_RUNTIME_DIR")
    if own and not os.environ.get("WHOLEBODY_CHANNELS"):
        return Path(own) / "wholebody"
    return directory.folder() / ".log"


def log_file(name: str) -> Path:
    """What the processes of a robot have to say."""
    return runtime_folder() / f"{name}.log"


FULL = 4096
"""Bytes of a disk that are as good as none."""


def is_log_lost(name: str) -> bool:
    """Whether the disk of that is full, so that nobody can read what is said from now on."""
    try:
        disk = os.statvfs(log_file(name).parent)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < FULL


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


def companion_to_begin(plan: LaunchPlan) -> Role | None:
    """The companion that the daemon needs and that does not live yet; those left from another plan are ended."""
    needed = ROLES.get(plan.companion)
    for role in (SIMULATOR, BOARDS):
        ours = running_as(role, plan.name)
        if ours is not None and ours.plan is not None and not (role is needed and _fit(ours.plan, plan)):
            end(ours.process)
        elif process_of(role, plan.name) is not None and role is needed:
            return None  # ours from before, or somebody's own simulator
    return needed


def is_lacking(plan: LaunchPlan) -> bool:
    """Whether the companion that a running daemon needs has gone: it can be given another."""
    needed = ROLES.get(plan.companion)
    return needed is not None and process_of(needed, plan.name) is None


def _fit(theirs: LaunchPlan, plan: LaunchPlan) -> bool:
    same = ("robot", "behind", "period", "physics", "fast", "scene", "self_collision")
    return all(getattr(theirs, each) == getattr(plan, each) for each in same)


def until_first_state(plan: LaunchPlan, children: list[Child], log: Path, say: Say | None = None) -> Iterator[str]:
    """Wait for the robot's next state; says what it waits for. HardwareError, with the log's end, if none comes."""
    names, wait = Names(plan.name), Wait(say=say)
    while not wait.over:
        try:
            missing = [child.role for child in children if not child.ready]
        except HardwareError as error:
            raise HardwareError(f"the robot did not start: {error}") from None
        if not missing and _newest_stamp(names.state) > wait.begun:
            return
        what = f"the {missing[0].name}" if missing else "the first state"
        yield what
        wait.on(what)
    raise HardwareError(f"no state came within {wait.seconds:g} s:\n{tail(log)}")


def _newest_stamp(channel: str) -> float:
    try:
        with Channel(channel) as opened, opened.reader() as reader:
            return reader.stamp if reader.latest() else 0.0
    except ChannelError:
        return 0.0


def end(process: int, at_once: bool = False) -> bool:
    """End a process and wait until it is gone; True if it had to be killed, which it is without a word if at once."""
    for number in (signal.SIGKILL,) if at_once else (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(process, number)
        except ProcessLookupError:
            return False
        except PermissionError:
            raise HardwareError(f"process {process} belongs to somebody else, who must end it") from None
        if has_ended(process, PATIENCE):
            return number == signal.SIGKILL
    raise HardwareError(f"process {process} cannot be ended, not even by SIGKILL")


def stop(name: str = "", kill: bool = False) -> list[str]:
    """End a robot's behaviours, its daemon, then what that had beside it, and remove its channels; a line on each.

    Processes may end by themselves, unless they are to be killed.

    NoRobot if there is nothing of it. What `wholebody start` did not start is left alone, with the channels it needs.
    """
    robot = Names(name).robot
    behaviors = [each for each in directory.names() if each.startswith(f"{BEHAVIOR.record_channel(robot)}.")]
    owners = [(role, role.channel(Names(robot)) if role.channel else role.record_channel(robot)) for role in OWNERS]
    roles = [*((BEHAVIOR, channel) for channel in behaviors), *owners]
    found = [(role, channel, process) for role, channel in roles for process in directory.writers(channel)[:1]]
    lines, left = [], set[Role]()
    for role, channel, process in found:
        if not directory.has_open(process, channel):
            raise HardwareError(
                f"channel '{channel}' says that process {process} writes it, which it does not have open: somebody has "
                f"written into its memory; end the {role.name} by hand, then: wholebody channels rm {channel}"
            )
        if role not in (DAEMON, BEHAVIOR) and running_as(role, robot) is None:
            left.add(role)
            lines.append(f"{role.name} {process}: left alone, because `wholebody start` did not start it")
            continue
        how = "did not end by itself and was killed" if end(process, kill) else "ended"
        lines.append(f"{role.name} {process}: {'killed' if kill else how}")
    removed = remove_channels(robot, kept=HANDSHAKE if SIMULATOR in left else ())
    if not (found or removed):
        raise NoRobot(registry.nothing_runs(robot))
    if not found:
        lines.append(f"nothing of '{robot}' runs any more; the channels that it left behind are removed")
    return lines


HANDSHAKE = ("to_simulator", "from_simulator", "simulated", "objects", "commanded")
"""What a simulator has open: if they were made anew, it would never hear of a daemon again."""


def remove_channels(name: str, kept: tuple[str, ...] = (), force: bool = False) -> list[str]:
    """Remove a robot's channels; unless forced, those of one prefix (of a controller) stay if one is still written."""
    start = f"{Names(name).robot}."
    channels: dict[str, list[str]] = {}
    for each in directory.names():
        if each.startswith(start):
            prefix, _, rest = each[len(start) :].partition(".")
            channels.setdefault(rest if prefix == registry.PLACE else prefix, []).append(each)
    removed = []
    for prefix, together in channels.items():
        if prefix not in kept and (force or not any(map(directory.writers, together))):
            for each in together:
                with contextlib.suppress(ChannelError):  # somebody else was faster
                    directory.remove(each, force)
                    removed.append(each)
    return removed


def clean() -> dict[str, list[str]]:
    """Remove the channels and logs of robots of which no process writes anything any more; which, by robot."""
    robots: dict[str, list[str]] = {}
    for name in directory.names():
        robots.setdefault(name.partition(".")[0], []).append(name)
    removed: dict[str, list[str]] = {}
    for robot, names in robots.items():
        if any(map(directory.writers, names)):
            continue
        for each in names:
            with contextlib.suppress(ChannelError):  # somebody else was faster, or whose it is
                directory.remove(each)
                removed.setdefault(robot, []).append(each)
        log_file(robot).unlink(missing_ok=True)
    return removed


def tail(log: Path | None, lines: int = 12) -> str:
    """The end of a log, indented."""
    try:
        text = log.read_text(errors="replace").splitlines()[-lines:] if log else []
    except OSError:
        text = []
    return "\n".join(f"  {line}" for line in text) or "  (it said nothing)"
