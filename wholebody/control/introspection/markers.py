"""Markers: where tasks want frames to be and where those are, as data for any viewer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from wholebody.channels.owned import Opened
from wholebody.control.servo import Servo
from wholebody.messages import Floats, Record, Rows
from wholebody.model.snapshot import Snapshot
from wholebody.parameters.records import ControllerNames
from wholebody.rotations import quaternion_of_matrix
from wholebody.tasks import (
    CartesianPositionTask,
    CenterOfMassTask,
    Orientation2DTask,
    Orientation3DTask,
    PoseTask,
    Task,
)

NAME, PATH = 48, 96
POINT, DIRECTION, FRAME = 1, 2, 4
"""What a marker shows: a point; a direction; axes."""


class Marker(Record):
    """The marker of one task."""

    task: str
    frame: str
    shows: int
    enabled: bool
    parameter: str
    goal_position: Floats
    goal_orientation: Floats
    goal_direction: Floats
    position: Floats
    orientation: Floats
    direction: Floats
    reference_position: Floats
    reference_orientation: Floats


MARKER = np.dtype(
    [
        ("task", f"S{NAME}"),
        ("frame", f"S{NAME}"),
        ("shows", "u1"),
        ("enabled", "?"),
        ("parameter", f"S{PATH}"),
        ("goal_position", "<f8", (3,)),
        ("goal_orientation", "<f8", (4,)),
        ("goal_direction", "<f8", (3,)),
        ("position", "<f8", (3,)),
        ("orientation", "<f8", (4,)),
        ("direction", "<f8", (3,)),
        ("reference_position", "<f8", (3,)),
        ("reference_orientation", "<f8", (4,)),
    ],
    align=True,
)


class MarkerRows(Rows[Marker]):
    """The markers of one message."""

    record = Marker.of(MARKER)


class MarkerMessage(Record):
    """The markers of a controller's tasks at one time."""

    time: float
    markers: MarkerRows


def marker_record(count: int) -> np.dtype[MarkerMessage]:
    """The markers of all tasks that have one: goal and actual, in world; `shows` says what of them counts.

    `parameter` is the path of a goal that is a place, as the task has it: seen from `reference_…`, which is in world.
    """
    return MarkerMessage.of(np.dtype([("time", "<f8"), ("markers", MARKER, (count,))], align=True))


class Markers(Opened):
    """Puts the markers of tasks on a channel, now and then, after the command is written.

    Goals that are measured from another frame than the world are shown where that frame has them now.
    """

    def __init__(self, names: ControllerNames, tasks: Iterable[Task], every: int = 50) -> None:
        super().__init__()
        self.tasks = [task for task in tasks if type(task) in SHOWN]
        self.every = every
        self._out = self._writer(names.markers, marker_record(len(self.tasks))) if self.tasks else None

    def __call__(self, servo: Servo) -> None:
        """Put them."""
        if self._out is None:
            return
        message = self._out.message
        message.time = servo.time
        for task, marker in zip(self.tasks, message.markers, strict=True):
            marker.task, marker.enabled = task.name, task.state == "enabled"
            marker.reference_position[:], marker.reference_orientation[:] = 0.0, (0.0, 0.0, 0.0, 1.0)
            SHOWN[type(task)](task, servo.snapshot, marker)
        self._out.put()


def _frame(task: Any, now: Snapshot, marker: Marker) -> Any:
    """Where the task's frame is; the placement of its reference, 4 × 4."""
    frame = now.model.frame(task.frame)
    marker.frame = task.frame
    marker.position[:] = now.position(frame)
    marker.orientation[:] = quaternion_of_matrix(now.rotation(frame))
    reference = getattr(task, "reference", None)
    if reference is None:
        return np.eye(4)
    at = now.placement(now.model.frame(reference))
    marker.reference_position[:] = at[:3, 3]
    marker.reference_orientation[:] = quaternion_of_matrix(at[:3, :3])
    return at


def _can_be_moved(task: Task, goal: str, marker: Marker) -> None:
    marker.parameter = f"tasks.{task.name}.{goal}"


def _point(task: CartesianPositionTask, now: Snapshot, marker: Marker) -> None:
    at = _frame(task, now, marker)
    marker.shows = POINT
    marker.position += now.rotation(now.model.frame(task.frame)) @ task.point
    marker.goal_position[:] = at[:3, :3] @ task.goal + at[:3, 3]
    _can_be_moved(task, "goal", marker)


def _center(task: CenterOfMassTask, now: Snapshot, marker: Marker) -> None:
    marker.shows, marker.position[:], marker.goal_position[:] = POINT, now.com_in_world, task.goal
    _can_be_moved(task, "goal", marker)


def _direction(task: Orientation2DTask, now: Snapshot, marker: Marker) -> None:
    _frame(task, now, marker)
    marker.shows, marker.goal_direction[:] = DIRECTION, task.goal
    marker.goal_position[:] = marker.position
    marker.direction[:] = now.rotation(now.model.frame(task.frame)) @ task.axis


def _axes(task: Orientation3DTask, now: Snapshot, marker: Marker) -> None:
    at = _frame(task, now, marker)
    marker.shows, marker.goal_position[:] = FRAME, marker.position
    marker.goal_orientation[:] = _turned(at, task.goal)


def _pose(task: PoseTask, now: Snapshot, marker: Marker) -> None:
    at = _frame(task, now, marker)
    marker.shows = POINT | FRAME
    marker.goal_position[:] = at[:3, :3] @ task.goal_position + at[:3, 3]
    marker.goal_orientation[:] = _turned(at, task.goal_orientation)
    _can_be_moved(task, "goal_position", marker)


def _turned(at: Any, goal: Any) -> Any:
    """A quaternion of the reference's axes, in world."""
    a, b, c, d = quaternion_of_matrix(at[:3, :3])
    x, y, z, w = goal
    return (
        d * x + a * w + b * z - c * y,
        d * y - a * z + b * w + c * x,
        d * z + a * y - b * x + c * w,
        d * w - a * x - b * y - c * z,
    )


SHOWN: dict[type[Task], Any] = {
    CartesianPositionTask: _point,
    CenterOfMassTask: _center,
    Orientation2DTask: _direction,
    Orientation3DTask: _axes,
    PoseTask: _pose,
}
