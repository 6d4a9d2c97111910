"""FollowJointTrajectory: the action of that name, before a TrajectoryServer; as joint_trajectory_controller has it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Protocol, TypeVar

import numpy as np

from wholebody.drivers.connection import Connection
from wholebody.errors import BadTrajectory
from wholebody.operator.ros.trajectory_server import Ended, Run, TrajectoryServer, follow
from wholebody.ros.dds import LATCHED, Quality
from wholebody.ros.interfaces import (
    CANCEL_GOAL,
    GET_RESULT,
    SEND_GOAL,
    UUID,
    CancelGoalRequest,
    CancelGoalResponse,
    FeedbackMessage,
    FollowJointTrajectoryFeedback,
    FollowJointTrajectoryResult,
    GetResultRequest,
    GetResultResponse,
    GoalInfo,
    GoalStatus,
    GoalStatusArray,
    SendGoalRequest,
    SendGoalResponse,
)
from wholebody.ros.message import Message
from wholebody.ros.node import Deferred, Node
from wholebody.ros.standard import Header, JointTrajectory, JointTrajectoryPoint, Time

M = TypeVar("M", bound=Message)
NAME = "joint_trajectory_controller"
FEEDBACK_EVERY = 0.05
"""s, as ros2_control's action_monitor_rate."""
REMEMBERED = 64
"""Goals whose results are kept."""
NONE, REJECTED, UNKNOWN, ENDED = range(4)
"""What becomes of a request to cancel."""


class Status(IntEnum):
    """How far a goal has come, as action_msgs has it."""

    UNKNOWN = 0
    ACCEPTED = 1
    EXECUTING = 2
    CANCELING = 3
    SUCCEEDED = 4
    CANCELED = 5
    ABORTED = 6


ENDS = {
    Ended.DONE: Status.SUCCEEDED,
    Ended.ABORTED: Status.ABORTED,
    Ended.CANCELLED: Status.CANCELED,
    Ended.PREEMPTED: Status.ABORTED,
}


@dataclass
class _Goal:
    """A goal that was given."""

    id: bytes
    stamp: Time
    status: Status = Status.ACCEPTED
    result: FollowJointTrajectoryResult = field(default_factory=FollowJointTrajectoryResult)
    asked: list[Deferred[Any]] = field(default_factory=list)


class Link(Protocol):
    """Where topics go: a node of ROS, or what is like one."""

    def publisher(self, topic: str, kind: type[M], quality: Quality = ...) -> Any:
        """What tells a topic: `put` and `readers`."""

    def subscription(self, topic: str, kind: type[M], take: Callable[[M], None], quality: Quality = ...) -> Any:
        """Have `take` called with what others tell."""

    def spin(self) -> int:
        """Take what came."""


class TrajectoryTopic:
    """The topic joint_trajectory_controller/joint_trajectory.

    now       the time of its stamps
    complain  told what is wrong with a trajectory, which nobody else would hear
    """

    def __init__(
        self,
        link: Link,
        server: TrajectoryServer,
        robot: Connection,
        now: Callable[[], Time],
        complain: Callable[[str, str], None],
    ) -> None:
        self._server, self._robot, self._now, self._complain = server, robot, now, complain
        link.subscription(f"{NAME}/joint_trajectory", JointTrajectory, self._take)

    def step(self) -> None:
        """Go on."""
        self._server.step()

    def _take(self, trajectory: JointTrajectory) -> None:
        """Follow a trajectory; without points: stop."""
        topic = f"{NAME}/joint_trajectory"
        if not trajectory.points and not trajectory.joint_names:
            self._server.stop()
            return

        def end(how: Ended, code: int, text: str) -> None:
            if how is Ended.ABORTED:
                self._complain(topic, text)

        try:
            self._server.begin(follow(trajectory), self._late(trajectory), end)
        except BadTrajectory as error:
            self._complain(topic, str(error))

    def _late(self, trajectory: JointTrajectory) -> float | None:
        stamp = trajectory.header.stamp
        return None if not (stamp.sec or stamp.nanosec) else self._now().seconds - stamp.seconds


class FollowJointTrajectory(TrajectoryTopic):
    """The action joint_trajectory_controller/follow_joint_trajectory, and the topic beside it."""

    def __init__(
        self,
        node: Node,
        server: TrajectoryServer,
        robot: Connection,
        now: Callable[[], Time],
        complain: Callable[[str, str], None],
    ) -> None:
        super().__init__(node, server, robot, now, complain)
        self._goals: dict[bytes, _Goal] = {}
        self._under_way: _Goal | None = None
        self._told = 0.0
        action = f"{NAME}/follow_joint_trajectory/_action"
        node.service(f"{action}/send_goal", SEND_GOAL, self._send)
        node.service(f"{action}/cancel_goal", CANCEL_GOAL, self._cancel)
        node.service(f"{action}/get_result", GET_RESULT, self._result)
        self._feedback = node.publisher(f"{action}/feedback", FeedbackMessage)
        self._status = node.publisher(f"{action}/status", GoalStatusArray, LATCHED)
        self._publish_status()

    def step(self) -> None:
        """Go on, and say how that goes."""
        super().step()
        run, goal = self._server.run, self._under_way
        if run is not None and goal is not None and time.monotonic() > self._told + FEEDBACK_EVERY:
            self._told = time.monotonic()
            self._feedback.put(FeedbackMessage(UUID(goal.id), self._so_far(run)))

    def _send(self, request: SendGoalRequest) -> SendGoalResponse:
        """Take a goal; one that cannot be followed is accepted and ends at once, so that its result says why."""
        id, stamp = bytes(request.goal_id.uuid), self._now()
        if id in self._goals:
            return SendGoalResponse(False, stamp)
        goal = self._goals[id] = _Goal(id, stamp)
        self._forget()

        def end(how: Ended, code: int, text: str) -> None:
            self._end(goal, ENDS[how], code, text)

        try:
            self._server.begin(request.goal, self._late(request.goal.trajectory), end)
        except BadTrajectory as error:
            self._end(goal, Status.ABORTED, error.code, str(error))
        else:
            goal.status, self._under_way = Status.EXECUTING, goal
            self._publish_status()
        return SendGoalResponse(True, stamp)

    def _cancel(self, request: CancelGoalRequest) -> CancelGoalResponse:
        """Give up one goal, those accepted until a stamp, or all."""
        id, stamp = bytes(request.goal_info.goal_id.uuid), request.goal_info.stamp
        goal = self._under_way
        if any(id) and id not in self._goals:
            return CancelGoalResponse(UNKNOWN)
        if goal is None or (any(id) and id != goal.id):
            return CancelGoalResponse(ENDED if any(id) else NONE)
        if not any(id) and stamp.seconds and goal.stamp.seconds > stamp.seconds:
            return CancelGoalResponse(NONE)
        goal.status = Status.CANCELING
        self._publish_status()
        self._server.stop()
        return CancelGoalResponse(NONE, [GoalInfo(UUID(goal.id), goal.stamp)])

    def _result(self, request: GetResultRequest) -> GetResultResponse | Deferred[GetResultResponse]:
        goal = self._goals.get(bytes(request.goal_id.uuid))
        if goal is None:
            return GetResultResponse(Status.UNKNOWN)
        if goal.status > Status.CANCELING:
            return GetResultResponse(goal.status, goal.result)
        later = Deferred[GetResultResponse]()
        goal.asked.append(later)
        return later

    def _end(self, goal: _Goal, status: Status, code: int, text: str) -> None:
        goal.status, goal.result = status, FollowJointTrajectoryResult(code, text)
        if self._under_way is goal:
            self._under_way = None
        self._publish_status()
        for each in goal.asked:
            each.give(GetResultResponse(status, goal.result))
        goal.asked.clear()

    def _publish_status(self) -> None:
        found = [GoalStatus(GoalInfo(UUID(each.id), each.stamp), each.status) for each in self._goals.values()]
        self._status.put(GoalStatusArray(found))

    def _forget(self) -> None:
        ended = [each.id for each in self._goals.values() if each.status > Status.CANCELING]
        for id in ended[: max(0, len(self._goals) - REMEMBERED)]:
            del self._goals[id]

    def _so_far(self, run: Run) -> FollowJointTrajectoryFeedback:
        state, index, sample = self._robot.state, run.motion.index, run.sample or run.motion.at(0.0)
        actual, velocity = np.array(state.position[index]), np.array(state.velocity[index])
        return FollowJointTrajectoryFeedback(
            Header(self._now()),
            run.motion.joints,
            JointTrajectoryPoint(sample.position, sample.velocity, sample.acceleration),
            JointTrajectoryPoint(actual, velocity),
            JointTrajectoryPoint(sample.position - actual, sample.velocity - velocity),
        )
