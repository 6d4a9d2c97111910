"""StandardLog: standard messages beside the exact records of a log, so that other people's tools show the robot move.

with Recorder("run.mcap", ["robot.*"], beside=StandardLog(["robot.*"])) as recorder:
    ...
"""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Sequence

from wholebody import robots
from wholebody.channels import directory
from wholebody.channels.recording.recorder import PutBeside
from wholebody.channels.subscription import Subscription
from wholebody.errors import WholebodyError
from wholebody.messages import State, labels
from wholebody.operator.ros.markers import MarkerArrays
from wholebody.operator.ros.standard_messages import StandardMessages
from wholebody.parameters.remote import Remote
from wholebody.processes.registry import plan_of
from wholebody.ros.cdr import encode
from wholebody.ros.message import Message, definition
from wholebody.ros.standard import Time

STATE, CONTROLLERS_STATE = ".state", ".joint_state"
LOOK_EVERY = 0.5
"""s from one look for robots to the next."""
MARKERS_EVERY = 0.1
"""s"""


class StandardLog:
    """Of robots whose states match any of some patterns: the first one's topics are bare, others' begin with a name.

    rate  how often each comes at most, Hz; 0: never
    """

    def __init__(self, patterns: Sequence[str] = ("*",), rate: float = 50.0) -> None:
        self._patterns, self._every = tuple(patterns), 1.0 / rate if rate > 0 else 0.0
        self._robots: dict[str, _Robot | None] = {}
        self._looked = 0.0

    def __call__(self, put: PutBeside) -> None:
        """Put what is due."""
        if not self._every:
            return
        now = time.monotonic()
        if now > self._looked + LOOK_EVERY:
            self._looked = now
            self._look()
        for each in self._robots.values():
            if each is not None:
                each.put(put)

    def _look(self) -> None:
        """Find robots that are new; one whose description nobody tells is looked for again."""
        there = [name for name in directory.names() if any(fnmatch.fnmatchcase(name, each) for each in self._patterns)]
        states = {name.removesuffix(STATE): name for name in there if name.count(".") == 1 and name.endswith(STATE)}
        for name in there:
            robot = name.partition(".")[0]
            if name.endswith(CONTROLLERS_STATE) and robot not in states:
                states[robot] = name
        for name, channel in states.items():
            if self._robots.get(name) is None:
                self._robots[name] = self._begin(name, channel)

    def _begin(self, name: str, channel: str) -> _Robot | None:
        try:
            description = _description(name, channel)
            if description is None:
                return None
            first = all(each is None for each in self._robots.values())
            return _Robot(name, channel, StandardMessages(description, "" if first else f"{name}/"), self._every)
        except WholebodyError:  # a file that has gone, a controller that has just ended
            return None


def _description(name: str, channel: str) -> robots.Robot | None:
    """The robot whose states are on a channel, by who runs it; None if nobody tells."""
    if (plan := plan_of(name)) is not None:
        return robots.load(plan.robot)
    if not channel.endswith(CONTROLLERS_STATE):
        return None
    remote = Remote(channel.removesuffix(CONTROLLERS_STATE).partition(".")[2], name)
    try:
        return robots.load(remote.description.robot)
    finally:
        remote.close()


class _Robot:
    """One robot: its newest state, as often as is wanted."""

    def __init__(self, name: str, channel: str, messages: StandardMessages, every: float) -> None:
        self._messages, self._every = messages, every
        self._state = Subscription(channel, State)
        self._markers = MarkerArrays(name, messages.frame)
        self._tick, self._next, self._next_markers = -1, 0.0, 0.0  # of the robot's time
        self._introduced = False

    def put(self, put: PutBeside) -> None:
        """Put messages of the newest state, if it is new and its time has come; stamped as it was put."""
        state = self._state.take()
        if state is None or state.tick == self._tick or labels(state.dtype) != self._messages.names:
            return
        now, self._tick = state.time, state.tick
        if self._next - 2 * self._every < now < self._next - 1e-6:  # one that was started again begins at zero
            return
        self._next = max(self._next + self._every, now) if now < self._next + self._every else now + self._every
        stamp = time.monotonic() - self._state.age
        when = Time.of(stamp + time.time() - time.monotonic())

        def one(topic: str, message: Message | None) -> None:
            if message is not None:
                kind = type(message)
                put(f"/{self._messages.prefix}{topic}", kind.ros, definition(kind), encode(message), stamp)

        messages = self._messages
        if not self._introduced:
            self._introduced = True
            one("robot_description", messages.description())
            one("tf_static", messages.fixed_transforms(when))
        one("joint_states", messages.joint_state(state, when))
        one("tf", messages.transforms(state, when))
        one("odom", messages.odometry(state, when))
        for folder, sensors in (("imu", messages.imus(state, when)), ("wrench", messages.wrenches(state, when))):
            for name, message in sensors:
                one(f"{folder}/{name}", message)
        if not self._next_markers - 2 * MARKERS_EVERY < now < self._next_markers:
            self._next_markers = now + MARKERS_EVERY
            one("markers", self._markers.newest(when))
