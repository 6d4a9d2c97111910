"""Session: one console and the robot it speaks with."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import ExitStack

from rich.console import Console

from wholebody.behaviors.behavior import Goals
from wholebody.drivers import Answer, Names
from wholebody.drivers.boards import BoardClient
from wholebody.drivers.connection import Connection, connect
from wholebody.errors import BadMessage, HardwareError, NoRobot, UnknownName
from wholebody.messages import ALL_JOINTS, Verb
from wholebody.operator.monitor.status_view import JointView, Picture
from wholebody.operator.monitor.tables import wide_console
from wholebody.operator.monitor.watcher import Watcher
from wholebody.processes.registry import DAEMON, nothing_runs, process_of

CONTROLLER = "console"
"""What the console is called as a controller."""
EVERY = "all"
"""What stands for all joints where a joint is asked for."""


class Session:
    """One console: the robot it speaks with, how fast it moves joints, and where it writes."""

    def __init__(self, name: str = "", output: Console | None = None) -> None:
        self.requests = BoardClient(name)
        self.name = self.requests.names.robot
        self.watcher = Watcher(self.name)
        self.output = output or wide_console()
        self.speed = 0.2  # share of the joints' velocity limits
        self.ended = False
        self.goals = Goals(self.name)
        self._asked = 0.0
        self._open = ExitStack()
        self._connection: Connection | None = None

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints of the robot."""
        return self.requests.joints

    def joint(self, text: str) -> int:
        """The number of a joint as it was typed, or ALL_JOINTS."""
        joints = self.joints
        by_lower = {joint.lower(): index for index, joint in enumerate(joints)}
        if text.lower() == EVERY:
            return ALL_JOINTS
        if text.lower() not in by_lower:
            raise UnknownName("joint", text.upper(), joints)
        return by_lower[text.lower()]

    def look(self) -> Picture:
        """How the robot is now."""
        daemon_of(self.name)
        return self.watcher.look(self._asked)

    def view(self, joint: int) -> JointView:
        """How a joint is now."""
        return self.look().joints[joint]

    def request(self, verb: Verb, joint: int = ALL_JOINTS, values: Sequence[float] = ()) -> Answer:
        """Ask the daemon; what is shown from now on is not from before."""
        answer = self.requests.request(verb, joint, values)
        self._asked = time.monotonic()
        return answer

    def ask(self, verb: Verb, joint: int = ALL_JOINTS, values: Sequence[float] = ()) -> Answer:
        """Ask the daemon, and print its answer; HardwareError if it refuses."""
        return self.take(verb, joint, self.request(verb, joint, values))

    def take(self, verb: Verb, joint: int, answer: Answer) -> Answer:
        """Print an answer; HardwareError if it is a refusal."""
        what = answer.text or verb.name.lower().replace("_", " ")
        who = "" if joint == ALL_JOINTS or what.startswith(self.joints[joint]) else f"{self.joints[joint]}: "
        if not answer.accepted:
            raise HardwareError(f"{who}refused: {what}")
        self.say(f"{who}{what}")
        return answer

    def say(self, text: str) -> None:
        """Print a line."""
        self.output.print(text, markup=False, soft_wrap=True)

    @property
    def connection(self) -> Connection:
        """The console as a controller, made when the first joint is to be moved."""
        if self._connection is None:
            self._connection = self._open.enter_context(connect(CONTROLLER, self.name))
        return self._connection

    def reconnect(self) -> None:
        """Forget the connection: the next motion makes another."""
        self._connection = None
        self._open.close()

    def close(self) -> None:
        """Let go of everything."""
        self.reconnect()
        self.goals.close()


def finite(word: str) -> float:
    """A number as it was typed."""
    try:
        value = float(word)
    except ValueError:
        raise BadMessage(f"'{word}' is no number") from None
    if not math.isfinite(value):
        raise BadMessage(f"'{word}' is no position, gain or limit")
    return value


def daemon_of(name: str) -> int:
    """The process of the daemon that runs a robot; NoRobot if there is none."""
    process = process_of(DAEMON, name)
    if process is None:
        raise NoRobot(nothing_runs(Names(name).robot))
    return process
