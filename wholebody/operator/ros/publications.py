"""Publications: what a robot tells on topics of ROS, as often as each is meant to come, if somebody listens."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from wholebody.errors import WholebodyError
from wholebody.messages import State
from wholebody.operator.monitor.watcher import Watcher
from wholebody.operator.ros.action import Link
from wholebody.operator.ros.diagnostics import diagnostics
from wholebody.operator.ros.markers import MarkerArrays
from wholebody.operator.ros.standard_messages import StandardMessages
from wholebody.ros.dds import LATCHED, SENSORS, Quality
from wholebody.ros.message import Message
from wholebody.ros.standard import (
    Clock,
    DiagnosticArray,
    Imu,
    JointState,
    MarkerArray,
    Odometry,
    String,
    TFMessage,
    Time,
    WrenchStamped,
)

LOOK_EVERY = 0.2
"""s from one look for who listens to the next."""
MARKERS_EVERY = 0.1
"""s"""
DIAGNOSTICS_EVERY = 1.0
"""s, as diagnostic_updater has it."""
CLOCK = Quality(reliable=False, depth=1)
"""As rclcpp subscribes to /clock."""
TRANSFORMS = Quality(depth=100)
"""As tf2 has it."""


class Topic:
    """A topic, with how often (s) it may come; `wanted` says whether it is due and somebody listens."""

    def __init__(self, writer: Any, every: float = 0.0) -> None:
        self.writer, self._every = writer, every
        self._next = self._look = 0.0
        self._heard = False

    def wanted(self, now: float) -> bool:
        """Whether to put a message now; half a period early counts, or it would miss every other state."""
        if now < self._next:
            return False
        if now > self._look:
            self._look, self._heard = now + LOOK_EVERY, self.writer.readers > 0
        if self._heard:
            self._next = max(self._next + self._every, now - self._every + 1e-4) if self._every else 0.0
        return self._heard

    def put(self, message: Message) -> None:
        """Put one."""
        self.writer.put(message)


class Publications:
    """Of one robot.

    rate  how often transforms and commands come at most, Hz; what is measured comes with every state
    """

    def __init__(self, link: Link, messages: StandardMessages, name: str, simulated: bool, rate: float = 50.0) -> None:
        self._messages, self._watcher, self._simulated = messages, Watcher(name), simulated
        self._complaints: dict[str, tuple[str, float]] = {}
        self._said: dict[str, float] = {}
        slow = 1.0 / rate
        self._joints = Topic(link.publisher("joint_states", JointState))
        self._clock = Topic(link.publisher("/clock", Clock, CLOCK)) if simulated else None
        self._odometry = Topic(link.publisher("odom", Odometry))
        self._imus = self._sensors(link, "imu", Imu, "imu")
        self._wrenches = self._sensors(link, "wrench", WrenchStamped, "force_torque")
        self._markers, self._drawn = (
            MarkerArrays(name, messages.frame),
            Topic(link.publisher("markers", MarkerArray), 0.1),
        )
        self._transforms = Topic(link.publisher("/tf", TFMessage, TRANSFORMS), slow)
        self._commands = Topic(link.publisher("joint_commands", JointState), slow)
        self._diagnostics = Topic(link.publisher("/diagnostics", DiagnosticArray), DIAGNOSTICS_EVERY)
        self._description = link.publisher("robot_description", String, LATCHED)
        self._fixed = link.publisher("/tf_static", TFMessage, LATCHED)

    def introduce(self, stamp: Time) -> None:
        """Say once what never changes: the robot's description, and links that do not move."""
        self._description.put(self._messages.description())
        self._fixed.put(self._messages.fixed_transforms(stamp))

    def put(self, state: State, stamp: Time) -> None:
        """Tell of a state."""
        now, messages = time.monotonic(), self._messages
        if self._joints.wanted(now):
            self._joints.put(messages.joint_state(state, stamp))
        if self._clock is not None and self._clock.wanted(now):
            self._clock.put(Clock(stamp))
        self._each(self._imus, now, lambda: messages.imus(state, stamp))
        self._each(self._wrenches, now, lambda: messages.wrenches(state, stamp))
        if self._odometry.wanted(now) and (odometry := messages.odometry(state, stamp)) is not None:
            self._odometry.put(odometry)
        if self._transforms.wanted(now):
            self._transforms.put(messages.transforms(state, stamp))
        if self._drawn.wanted(now) and (drawn := self._markers.newest(stamp)) is not None:
            self._drawn.put(drawn)
        if self._commands.wanted(now):
            self._commands.put(messages.commands(state, stamp))

    def put_diagnostics(self, stamp: Time) -> None:
        """Tell how it does, once a second."""
        if self._diagnostics.wanted(time.monotonic()):
            recent = time.monotonic() - 10.0 * DIAGNOSTICS_EVERY
            told = {topic: text for topic, (text, when) in self._complaints.items() if when > recent}
            try:
                self._diagnostics.put(diagnostics(self._watcher.look(), stamp, told))
            except WholebodyError:  # it was stopped a moment ago
                return

    def complain(self, topic: str, text: str) -> bool:
        """Have something that came in, and was not done, among the diagnostics; True if it is to be said, too.

        That is what is new, of each topic once a second at most: a peer may send the same nonsense a thousand times.
        """
        now = time.monotonic()
        before, self._complaints[topic] = self._complaints.get(topic), (text, now)
        if before is not None and before[0] == text and now < before[1] + 10.0 * DIAGNOSTICS_EVERY:
            return False
        if now < self._said.get(topic, -math.inf) + DIAGNOSTICS_EVERY:
            return False
        self._said[topic] = now
        return True

    def _sensors(self, link: Link, folder: str, kind: type[Message], which: str) -> dict[str, Topic]:
        sensors = self._messages.robot.sensors_of(which)
        return {each.name: Topic(link.publisher(f"{folder}/{each.name}", kind, SENSORS)) for each in sensors}

    def _each(self, topics: dict[str, Topic], now: float, messages: Callable[[], Any]) -> None:
        wanted = {name for name, topic in topics.items() if topic.wanted(now)}
        if wanted:
            for name, message in messages():
                if name in wanted:
                    topics[name].put(message)
