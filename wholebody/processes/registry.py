"""Registry: which processes there are, and which of them run: each says what it is on a channel that only it writes.

A record on `NAME.process.ROLE` says what runs; whether it still does, the channel knows: its writer lives, or does not.
"""

from __future__ import annotations

import platform
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

import numpy as np

import wholebody
from wholebody.channels import Channel, directory
from wholebody.channels.owned import Opened
from wholebody.drivers import Names
from wholebody.drivers.names import nothing_runs as nothing_runs
from wholebody.errors import BadMessage, ChannelError, NoRobot, RoleTaken, TooManyWriters
from wholebody.messages import Record
from wholebody.processes.launch_plan import LaunchPlan

PLACE = "process"


@dataclass(frozen=True)
class Role:
    """What a process does for a robot, the function of its name that does it, and how its processes are found.

    place    the module in this folder with the function
    channel  which only a process of this role writes, also one that is not ours; without, its record in the registry
    each     the option by which several of them for one robot differ
    """

    name: str
    place: str
    about: str
    channel: Callable[[Names], str] | None = None
    each: str = ""

    def load(self) -> Callable[..., None]:
        """What its process does, imported now."""
        function: Callable[..., None] = getattr(import_module(f"wholebody.processes.{self.place}"), self.name)
        return function

    def record_channel(self, robot: str, label: str = "") -> str:
        """Where its process says what it is."""
        label = re.sub(r"[^A-Za-z0-9_-]+", "-", label)
        return ".".join(part for part in (Names(robot).robot, PLACE, self.name, label) if part)


def _doing(controller: str) -> Callable[[Names], str]:
    return lambda names: names.doing(controller)


DAEMON = Role("daemon", "daemon", "owns a robot; `wholebody start` begins it", lambda names: names.tick)
SIMULATOR = Role("simulator", "devices", "the physics of a simulated robot", lambda names: names.from_simulator)
GUARD = Role("guard", "guard", "stops the robot's device when the daemon hangs or dies")
BOARDS = Role("boards", "devices", "simulated motor boards or servos", lambda names: names.boards)
WALK = Role("walk", "controllers", "the walking controller", _doing("walk"))
CRAWL = Role("crawl", "controllers", "the crawling controller", _doing("crawl"))
ARMS = Role("arms", "controllers", "the controller of the arms", _doing("arms"))
BEHAVIOR = Role("behavior", "controllers", "does the goals of a behaviour, ours or yours", each="behavior")
LIMBS = Role("limbs", "controllers", "merges what sources request for limbs into one reference")
CAMERA = Role("camera", "pictures", "draws what the camera of a simulated robot sees, and finds objects in it")
CARRIER = Role(
    "carrier", "exchange", "carries a controller's parameters over transports other than channels", each="controller"
)
GATEWAY = Role("gateway", "exchange", "lets other machines ask the services of this one", each="endpoint")
HOST = Role("host", "host", "opens the robots of this machine to others, which mirror and start them", each="endpoint")
FILM = Role("film", "pictures", "draws a film of a run")
DEMO = Role("demo", "demo", "a part of `wholebody demo`", each="member")
OWNERS = (GUARD, DAEMON, SIMULATOR, BOARDS)
"""What `wholebody start` begins, in the order in which `wholebody stop` ends it."""
ROLES = {
    role.name: role
    for role in (*OWNERS, WALK, CRAWL, ARMS, BEHAVIOR, LIMBS, CAMERA, CARRIER, GATEWAY, HOST, FILM, DEMO)
}  # fmt: skip


class ProcessMessage(Record):
    """What a process says of itself: its role, since when (time.monotonic()), whether it is ready, and what it runs.

    `plan` is the LaunchPlan of processes that `wholebody start` began.
    """

    role: str
    begun: float
    ready: bool
    robot: str
    driver: str
    tier: str
    scene: str
    versions: str
    plan: str


_SIZES = {"robot": 512, "driver": 512, "tier": 32, "scene": 256, "versions": 128, "plan": 4096}
_RECORD = ProcessMessage.of(
    np.dtype(
        [
            *(("role", "S32"), ("begun", "<f8"), ("ready", "?")),
            *((name, f"S{size}") for name, size in _SIZES.items()),
        ],
        align=True,
    )
)


def process_record() -> np.dtype[ProcessMessage]:
    """The layout of it."""
    return _RECORD


@dataclass(frozen=True)
class Running:
    """A process that runs; what its role has nothing to do with is empty."""

    role: str
    process: int
    begun: float  # s, by time.monotonic()
    ready: bool
    robot: str
    driver: str
    tier: str
    scene: str
    versions: str
    plan: LaunchPlan | None


class Registration(Opened):
    """A process's entry in the registry, until it is closed or the process ends; RoleTaken if another has the role."""

    def __init__(self, role: Role, name: str, label: str = "", *, robot: str = "", scene: str = "") -> None:
        super().__init__()
        channel = role.record_channel(name, label)
        try:
            self._record = self._writer(channel, process_record(), depth=4, writers=1)
        except TooManyWriters:
            self.close()
            raise RoleTaken(_taken(role, Names(name).robot, channel)) from None
        message = self._message = self._record.message
        message.role, message.begun, message.versions = role.name, time.monotonic(), versions()
        self._put("robot", robot)
        self._put("scene", scene)
        self._record.put()

    def run(self, plan: LaunchPlan) -> None:
        """Say what a launch plan says."""
        known = {
            "robot": plan.robot,
            "driver": plan.behind,
            "tier": plan.tier,
            "scene": plan.scene,
            "plan": plan.text(),
        }
        for field, text in known.items():
            self._put(field, text)
        self._record.put()

    def ready(self) -> None:
        """Say that others can use what this process does."""
        self._message.ready = True
        self._record.put()

    def _put(self, field: str, text: str) -> None:
        if len(text.encode()) > _SIZES[field]:
            raise BadMessage(
                f"the {field} of a process has {len(text.encode())} bytes, at most {_SIZES[field]}: '{text}'"
            )
        setattr(self._message, field, text)


def versions() -> str:
    """The versions of what this process runs on."""
    return f"wholebody {wholebody.__version__}, Python {platform.python_version()}, numpy {np.__version__}"


def _taken(role: Role, name: str, channel: str) -> str:
    with Channel(channel) as opened:
        living = ", ".join(f"process {each}" for each in opened.writer_processes())
    return f"a process '{role.name}' of '{name}' runs already ({living}); end it first, or give another name (--name)"


def running(name: str = "") -> list[Running]:
    """The registered processes of a robot that run."""
    start = f"{Names(name).robot}.{PLACE}."
    found = (_read(each) for each in directory.names() if each.startswith(start))
    return [each for each in found if each is not None]


def running_as(role: Role, name: str = "", label: str = "") -> Running | None:
    """The registered process that has a role for the robot of a name; None if none does."""
    return _read(role.record_channel(name, label))


def process_of(role: Role, name: str = "") -> int | None:
    """The process that has a role for the robot of a name, registered or not; None if none does."""
    channel = role.channel(Names(name)) if role.channel else role.record_channel(name)
    return next(iter(directory.writers(channel)), None)


def plan_of(name: str = "") -> LaunchPlan | None:
    """How the robot of a name was started; None if not by us, or if it does not run."""
    found = running_as(DAEMON, name)
    return None if found is None else found.plan


def robot_of(name: str = "") -> str:
    """Which robot runs under a name."""
    plan = plan_of(name)
    if plan is None and process_of(DAEMON, name) is None:
        raise NoRobot(nothing_runs(Names(name).robot))
    if plan is None:
        raise NoRobot("nobody can tell which robot that is; say --robot hubo2plus, or whatever it is")
    return plan.robot


def _read(channel: str) -> Running | None:
    try:
        with Channel(channel, kind=ProcessMessage) as opened, opened.reader() as reader:
            if opened.dtype != process_record() or not reader.latest():
                return None
            if reader.process not in opened.writer_processes():
                return None
            return _of(reader.process, reader.message)
    except ChannelError:
        return None


def _of(process: int, record: ProcessMessage) -> Running:
    plan = LaunchPlan.parse(record.plan) if record.plan else None
    return Running(
        *(record.role, process, record.begun, record.ready, record.robot, record.driver, record.tier, record.scene),
        *(record.versions, plan),
    )
