"""A node of ROS 2 in this process that asks and listens, and messages of all kinds with random values."""

from __future__ import annotations

import os
import time
import uuid

import numpy as np

from wholebody.ros.dds import USUAL
from wholebody.ros.interfaces import (
    CANCEL_GOAL,
    GET_RESULT,
    SEND_GOAL,
    UUID,
    FollowJointTrajectoryGoal,
    GetResultRequest,
    SendGoalRequest,
)
from wholebody.ros.message import fields_of
from wholebody.ros.node import Node
from wholebody.ros.standard import Duration, JointTrajectory, JointTrajectoryPoint

DOMAIN = 1 + os.getpid() % 200
"""Of this process alone."""
ACTION = "/joint_trajectory_controller/follow_joint_trajectory/_action"


def filled(kind, rng):
    """A message with random values."""
    return kind(**{each.name: _value(each, rng) for each in fields_of(kind)})


def _value(field, rng):
    if field.message is not None:
        return (
            [filled(field.message, rng) for _ in range(rng.randint(0, 3))] if field.many else filled(field.message, rng)
        )
    kind = field.kind
    if kind.count is None:
        return _one(kind.name, rng)
    return [_one(kind.name, rng) for _ in range(rng.randint(0, 5) if kind.count < 0 else kind.count)]


def _one(name, rng):
    if name == "string":
        return "".join(rng.choice("ab é") for _ in range(rng.randint(0, 9)))
    if name == "bool":
        return rng.random() < 0.5
    return float(np.float32(rng.random())) if name.startswith("float") else rng.randint(0, 100)


class Peer(Node):
    """Another node; `beat` is what happens while it waits."""

    def __init__(self, beat=lambda: time.sleep(0.001), name="peer", domain=DOMAIN):
        super().__init__(name, domain=domain)
        self._beat, self.heard = beat, {}

    def listen(self, topic, kind, quality=USUAL):
        """Keep what is published there."""
        self.heard[topic] = []
        self.subscription(topic, kind, self.heard[topic].append, quality)
        return self.heard[topic]

    def wait_for(self, condition, seconds=40.0):
        """Let time go by until something is so."""
        until = time.monotonic() + seconds
        while not (value := condition()):
            assert time.monotonic() < until, "waited in vain"
            self._beat()
            self.spin()
        return value

    def call(self, client, request):
        """Ask a service, and wait for the answer."""
        self.wait_for(lambda: client.ready)
        number, found = client.ask(request), []

        def answered():
            found.append(client.answer(number))
            return found[-1] is not None

        self.wait_for(answered)
        return found[-1]


class TrajectoryClient:
    """A client of FollowJointTrajectory."""

    def __init__(self, peer):
        self.peer = peer
        self.send = peer.client(f"{ACTION}/send_goal", SEND_GOAL)
        self.result = peer.client(f"{ACTION}/get_result", GET_RESULT)
        self.cancel = peer.client(f"{ACTION}/cancel_goal", CANCEL_GOAL)

    def begin(self, joints, points, **more):
        """Send a goal of positions by time; its number."""
        goal = FollowJointTrajectoryGoal(trajectory(joints, points), **more)
        number = uuid.uuid4().bytes
        assert self.peer.call(self.send, SendGoalRequest(UUID(number), goal)).accepted
        return number

    def end(self, number):
        """Wait for how it ends: status, error code, text."""
        response = self.peer.call(self.result, GetResultRequest(UUID(number)))
        return response.status, response.result.error_code, response.result.error_string


def trajectory(joints, points):
    """A JointTrajectory of positions by time."""
    rows = [JointTrajectoryPoint(positions=row, time_from_start=Duration.of(time)) for time, row in points]
    return JointTrajectory(joint_names=joints, points=rows)
