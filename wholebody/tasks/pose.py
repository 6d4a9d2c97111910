"""Pose: a frame brought to a place and turned as a goal is, in the world or as seen from any other frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.parameters import Unit
from wholebody.tasks import kinds
from wholebody.tasks.kinds import ERROR_LIMIT_OF_FRAMES, Description
from wholebody.tasks.relative import Relative, seen_from
from wholebody.tasks.rotations import checked_quaternion, turn_between
from wholebody.tasks.task import LIMIT_BOUNDS, Task
from wholebody.tasks.vectors import Quaternion, Vector3


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

    def prepare(self) -> None:
        """Bring the goal to unit length."""
        self.goal_orientation = checked_quaternion(self.name, self.goal_orientation)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a parameter; the goal's quaternion is brought to unit length."""
        if name == "goal_orientation" and name in vars(self):
            value = checked_quaternion(self.name, value)
        super().__setattr__(name, value)

    def describe(self, model: Model) -> Description:
        """The frames."""
        reference = -1 if self.reference is None else model.frame(self.reference)
        return Description(kinds.POSE, model.frame(self.frame), reference, kinds.axes_mask("xyz"))

    def error(self, snapshot: Snapshot) -> Array:
        """x* − x, then the rotation vector from what is to the goal."""
        seen = self._seen(snapshot)
        turn = turn_between(self.goal_orientation, np.ascontiguousarray(seen.rotation))
        return np.concatenate([self.goal_position - seen.position, turn])

    def jacobian(self, snapshot: Snapshot) -> Array:
        """Of linear, then angular velocity, in the axes of the reference."""
        return self._seen(snapshot).jacobian

    def bias(self, snapshot: Snapshot) -> Array:
        """Both accelerations at v̇ = 0."""
        return self._seen(snapshot).bias

    def _seen(self, snapshot: Snapshot) -> Relative:
        where = self.describe(snapshot.model)
        return seen_from(snapshot, where.frame, np.asarray(self.origin), where.reference)
