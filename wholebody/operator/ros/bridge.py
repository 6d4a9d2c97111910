"""RosBridge: a robot that runs, on ROS 2: what it measures as topics, trajectories and velocities to it.

with RosBridge(RosOptions(name="robot")) as bridge:
    bridge.run(until_told())

It is a controller like others, `ros`, and talks to the daemon by channels only: whatever becomes of it, the robot's
loop goes on, and joints hold what they were told last.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wholebody import robots
from wholebody.channels.owned import Opened
from wholebody.channels.subscription import Subscription
from wholebody.drivers import Names
from wholebody.drivers.connection import connect
from wholebody.errors import NoRobot
from wholebody.messages import Report
from wholebody.motion.limits import Limits
from wholebody.operator.ros.action import FollowJointTrajectory, Link, TrajectoryTopic
from wholebody.operator.ros.controller_topics import ControllerTopics
from wholebody.operator.ros.markers import MarkerArrays
from wholebody.operator.ros.pictures import Pictures
from wholebody.operator.ros.publications import Publications
from wholebody.operator.ros.services import Requests
from wholebody.operator.ros.standard_messages import StandardMessages
from wholebody.operator.ros.task_goals import TaskGoals
from wholebody.operator.ros.trajectory_server import Ended, TrajectoryServer
from wholebody.operator.ros.velocity import TIMEOUT, VelocityCommands
from wholebody.operator.ros.verb_topic import VerbTopic
from wholebody.processes.registry import Registration, Role, plan_of, robot_of
from wholebody.ros.dds import domain_of
from wholebody.ros.node import Node, check_namespace
from wholebody.ros.standard import Time, Twist

SLICE = 0.02
"""s of waiting for a state after which it sees what came in."""
TAKE_EVERY = 0.004
"""s from one look at what came in to the next, at least."""
SILENT = 1.0
"""s without a state after which a trajectory is given up."""


class Bridge(Opened):
    """A robot that runs, beside tools that take standard messages; heirs say where those go.

    say        told, once each, what came in and was not done
    simulated  whether stamps are a simulated robot's time; this machine's clock otherwise
    """

    role: Role

    def __init__(
        self,
        name: str,
        robot: str,
        rate: float,
        timeout: float,
        say: Callable[[str], None],
        simulated_time: bool,
        namespace: str = "",
    ) -> None:
        super().__init__()
        full, plan = Names(name).robot, plan_of(name)
        self._say, self._simulated = say, simulated_time and plan is not None and plan.behind == "simulator"
        self.robot = robots.load(robot or robot_of(name))
        try:
            entry = self._opened.enter_context(Registration(self.role, full, robot=self.robot.name))
            self._connection = self._opened.enter_context(connect(self.role.name, full))
            self._report = Subscription(Names(full).report, Report)
            self._trajectories = TrajectoryServer(self._connection, self._limits)
            self.link = self._open(full)
            messages = StandardMessages(self.robot, f"{namespace}/" if namespace else "")
            self._publications = Publications(self.link, messages, full, self._simulated, rate)
            self._action = self._following()
            self._velocity = VelocityCommands(full, lambda text: self._complain("cmd_vel", text), timeout)
            self._opened.callback(self._velocity.close)
            self.link.subscription("cmd_vel", Twist, self._velocity.take)
            self._controllers = ControllerTopics(self.link, full)
            self._pictures = Pictures(self.link, messages, full)
            self._verbs = VerbTopic(self.link, full)
            self._opened.callback(self._verbs.close)
            self._begin(full, messages)
            self._publications.introduce(self.now())
            entry.ready()
        except BaseException:
            self.close()
            raise
        self._taken, self._heard = 0.0, time.monotonic()

    def _open(self, name: str) -> Link:
        """Where topics go."""
        raise NotImplementedError

    def _begin(self, name: str, messages: StandardMessages) -> None:
        """Begin what only this one has."""

    def _answer(self) -> None:
        """Answer what only this one is asked."""

    def _following(self) -> TrajectoryTopic:
        """What takes trajectories."""
        return TrajectoryTopic(self.link, self._trajectories, self._connection, self.now, self._complain)

    def now(self) -> Time:
        """The time of ROS: the simulator's, if there is one and nobody wants another, or this machine's."""
        return Time.of(self._connection.now if self._simulated else time.time())

    def run(self, goes_on: Callable[[], bool]) -> None:
        """Go on until told to end; NoRobot if another robot takes its place."""
        while goes_on():
            self.once()

    def once(self, patience: float = SLICE) -> None:
        """Wait for a state, so long (s) at most; pass it on, and do what came in."""
        if self._connection.wait(patience):
            self._heard = time.monotonic()
            self._publications.put(self._connection.state, self._stamp())
            self._action.step()
        elif time.monotonic() > self._heard + SILENT:
            self._trajectories.stop(Ended.ABORTED, "the robot is silent")
        now = time.monotonic()
        if now > self._taken + TAKE_EVERY:
            self._taken = now
            self.link.spin()
            self._velocity.look()
            self._controllers.put(self.now())
            self._pictures.put(self.now())
            self._verbs.step()
            self._publications.put_diagnostics(self.now())
            self._answer()

    def _stamp(self) -> Time:
        """When the state was measured; of a real robot's loop, whose time is CLOCK_MONOTONIC, by the wall clock."""
        state = self._connection.now
        if self._simulated:
            return Time.of(state)
        offset = time.time() - time.monotonic()
        age = time.monotonic() - state
        return Time.of(state + offset if 0.0 <= age < SILENT else time.time())

    def _limits(self) -> Limits:
        """What the daemon's gate passes now."""
        until = time.monotonic() + SILENT
        while (report := self._report.take()) is None:
            if time.monotonic() > until:
                raise NoRobot("the daemon does not say its limits; see `wholebody status`")
            time.sleep(SLICE)
        velocity = np.maximum(report.step_limit / self._connection.period, 1e-9)
        return Limits.make(self._connection.joints, lower=report.lower, upper=report.upper, velocity=velocity)

    def _complain(self, topic: str, text: str) -> None:
        if self._publications.complain(topic, text):
            self._say(f"{topic}: {text}")


@dataclass(frozen=True)
class RosOptions:
    """How a robot is on ROS.

    namespace  before the names of its topics, and of its frames; the robot alone needs none
    domain     of DDS: a number, or what ROS_DOMAIN_ID says
    network    an interface by name or address; the loopback, if none is given
    wall       stamp with this machine's clock, although the robot is simulated
    rate       of transforms, Hz
    timeout    s after which a velocity counts no more
    """

    name: str = ""
    robot: str = ""
    namespace: str = ""
    domain: str | None = None
    network: str = ""
    wall: bool = False
    rate: float = 50.0
    timeout: float = TIMEOUT


class RosBridge(Bridge):
    """A robot's node of ROS 2."""

    role = Role("ros", "", "the bridge to ROS 2")
    node: Node

    def __init__(self, options: RosOptions, say: Callable[[str], None] = lambda text: None) -> None:
        self._options, namespace = options, check_namespace(options.namespace)
        self._domain = domain_of(options.domain)
        simulated = not options.wall
        super().__init__(options.name, options.robot, options.rate, options.timeout, say, simulated, namespace)

    def _open(self, name: str) -> Node:
        def complain(text: str) -> None:
            self._complain("messages", text)

        self.node = Node(_node_name(name), self._options.namespace, self._domain, self._options.network, complain)
        return self._opened.enter_context(self.node)

    def _begin(self, name: str, messages: StandardMessages) -> None:
        self._requests = Requests(self.node, name)
        self._opened.callback(self._requests.close)
        markers = MarkerArrays(name, messages.frame)
        self._goals = TaskGoals(self.node, self._requests.parameters, markers, self._complain)

    def _answer(self) -> None:
        self._requests.step()
        self._goals.step()

    def _following(self) -> TrajectoryTopic:
        return FollowJointTrajectory(self.node, self._trajectories, self._connection, self.now, self._complain)


def _node_name(name: str) -> str:
    """A robot's name as one that a node may have."""
    found = "".join(each if each.isalnum() and each.isascii() else "_" for each in name)
    return found if found[:1].isalpha() else f"robot_{found}"
