"""Cartesian position: a point of the robot, in the world or as seen from any other frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.parameters import Unit
from wholebody.tasks import kinds
from wholebody.tasks.kinds import ERROR_LIMIT_OF_FRAMES, Description
from wholebody.tasks.task import LIMIT_BOUNDS, Task
from wholebody.tasks.vectors import Quaternion, Vector3, checked_direction, checked_quaternion


@dataclass(eq=False, repr=False)
class CartesianPositionTask(Task):
    """Bring a point to a place: e = x* − x, where x is the point as seen from the reference frame.

        CartesianPositionTask("right_hand", "right_palm", (0.4, -0.2, 1.0))
        CartesianPositionTask("to_chest", "left_palm", (0.3, 0.2, 0.1), reference="torso")

    frame         the link, surface or sensor that carries the point
    goal          where to, in the reference frame
    point         where the point is in its frame: the origin, unless told
    reference     the frame in which goal and error are measured: the world, unless told
    axes          which axes of the reference count, such as "xy" or "z"
    """

    frame: str
    goal: Annotated[Vector3, Unit("m")]
    point: Annotated[Vector3, Unit("m")] = 0.0
    reference: str | None = None
    axes: str = "xyz"
    error_limit: Annotated[float, Unit("m"), LIMIT_BOUNDS] = field(default=ERROR_LIMIT_OF_FRAMES, kw_only=True)
    row_count = 3

    def prepare(self) -> None:
        self.axes_of(self.axes)

    def describe(self, model: Model) -> Description:
        reference = -1 if self.reference is None else model.frame(self.reference)
        return Description(kinds.POSITION, model.frame(self.frame), reference, kinds.axes_mask(self.axes))

    def goal_here(self, snapshot: Snapshot) -> dict[str, Any]:
        return {"goal": (_seen(self, snapshot) @ [*self.point, 1.0])[:3]}


@dataclass(eq=False, repr=False)
class Orientation2DTask(Task):
    """Point an axis of a frame in a direction: e is the shortest turn there, about two axes of the body across it.

        Orientation2DTask("heading", "base", axis=(1, 0, 0), goal=(0, 1, 0))

    The two rows are angular velocities about axes fixed in the body, so they always have full rank; goal velocities
    are about them too. An axis opposite to its goal turns about the first of them.

    frame  the link, surface or sensor to turn
    axis   a direction in the frame
    goal   where it shall point, in the world
    """

    frame: str
    axis: Annotated[Vector3, Unit("1")]
    goal: Annotated[Vector3, Unit("1")]
    error_limit: Annotated[float, Unit("rad"), LIMIT_BOUNDS] = field(default=ERROR_LIMIT_OF_FRAMES, kw_only=True)
    row_count = 2
    goals: ClassVar[dict[str, Any]] = {"goal": (1.0, 0.0, 0.0)}

    def prepare(self) -> None:
        self.axis = checked_direction(self.name, "the axis", self.axis)
        self.goal = checked_direction(self.name, "the goal", self.goal)

    def describe(self, model: Model) -> Description:
        return Description(kinds.ORIENTATION_2D, model.frame(self.frame))

    def goal_here(self, snapshot: Snapshot) -> dict[str, Any]:
        return {"goal": snapshot.rotation(snapshot.model.frame(self.frame)) @ self.axis}


@dataclass(eq=False, repr=False)
class Orientation3DTask(Task):
    """Turn a frame as a goal is: e is the rotation vector from how it is turned to the goal, in the reference's axes.

        Orientation3DTask("gaze", "head_camera", (0.0, 0.0, 0.0, 1.0))

    goal       a quaternion x y z w, or a rotation matrix when it is made: from the frame to the reference
    reference  the frame in which goal and error are measured: the world, unless told
    """

    frame: str
    goal: Annotated[Quaternion, Unit("1")]
    reference: str | None = None
    error_limit: Annotated[float, Unit("rad"), LIMIT_BOUNDS] = field(default=ERROR_LIMIT_OF_FRAMES, kw_only=True)
    row_count = 3
    goals: ClassVar[dict[str, Any]] = {"goal": (0.0, 0.0, 0.0, 1.0)}

    def prepare(self) -> None:
        self.goal = checked_quaternion(self.name, self.goal)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a parameter; the goal is brought to unit length."""
        super().__setattr__(
            name, checked_quaternion(self.name, value) if name == "goal" and "goal" in vars(self) else value
        )

    def describe(self, model: Model) -> Description:
        reference = -1 if self.reference is None else model.frame(self.reference)
        return Description(kinds.ORIENTATION_3D, model.frame(self.frame), reference)

    def goal_here(self, snapshot: Snapshot) -> dict[str, Any]:
        return {"goal": _seen(self, snapshot)[:3, :3]}


@dataclass(eq=False, repr=False)
class PoseTask(Task):
    """Bring a frame to a place and turn it: e is x* − x, then the rotation vector to the goal.

        PoseTask("left_foot", "left_sole", (0.0, 0.1, 0.0))

    goal_position     where the frame's origin shall be, in the reference frame
    goal_orientation  a quaternion x y z w, or a rotation matrix when it is made; none is (0, 0, 0, 1)
    origin            kept at zero: the frame's own origin is what is brought there
    reference         the frame in which goals and errors are measured: the world, unless told

    In a kernel it is a Cartesian position of the frame's origin above a 3D orientation.
    """

    frame: str
    goal_position: Annotated[Vector3, Unit("m")]
    goal_orientation: Annotated[Quaternion, Unit("1")] = (0.0, 0.0, 0.0, 1.0)
    origin: Annotated[Vector3, Unit("m")] = 0.0
    reference: str | None = None
    error_limit: Annotated[float, Unit("1"), LIMIT_BOUNDS] = field(default=ERROR_LIMIT_OF_FRAMES, kw_only=True)
    row_count = 6
    goals: ClassVar[dict[str, Any]] = {"goal_position": 0.0, "goal_orientation": (0.0, 0.0, 0.0, 1.0)}

    def prepare(self) -> None:
        self.goal_orientation = checked_quaternion(self.name, self.goal_orientation)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a parameter; the goal's quaternion is brought to unit length."""
        if name == "goal_orientation" and name in vars(self):
            value = checked_quaternion(self.name, value)
        super().__setattr__(name, value)

    def describe(self, model: Model) -> Description:
        reference = -1 if self.reference is None else model.frame(self.reference)
        return Description(kinds.POSE, model.frame(self.frame), reference, kinds.axes_mask("xyz"))

    def goal_here(self, snapshot: Snapshot) -> dict[str, Any]:
        seen = _seen(self, snapshot)
        return {"goal_position": seen[:3, 3], "goal_orientation": seen[:3, :3]}


def _seen(task: Task, snapshot: Snapshot) -> Array:
    """The placement of a task's frame, as seen from its reference; 4 × 4."""
    where = task.describe(snapshot.model)
    placement = snapshot.placement(where.frame)
    return placement if where.reference < 0 else np.linalg.inv(snapshot.placement(where.reference)) @ placement
