"""Pose: a frame brought to a place and turned as a goal is, in the world or as seen from any other frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from wholebody.model.model import Model
from wholebody.parameters import Unit
from wholebody.tasks import kinds
from wholebody.tasks.kinds import ERROR_LIMIT_OF_FRAMES, Description
from wholebody.tasks.task import LIMIT_BOUNDS, Task
from wholebody.tasks.vectors import Quaternion, Vector3, checked_quaternion


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
