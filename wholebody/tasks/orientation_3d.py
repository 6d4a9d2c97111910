"""3D orientation: a frame turned as a goal is, in the world or as seen from any other frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from wholebody.model.model import Model
from wholebody.parameters import Unit
from wholebody.tasks import kinds
from wholebody.tasks.kinds import ERROR_LIMIT_OF_FRAMES, Description
from wholebody.tasks.task import LIMIT_BOUNDS, Task
from wholebody.tasks.vectors import Quaternion, checked_quaternion


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

    def prepare(self) -> None:
        """Bring the goal to unit length."""
        self.goal = checked_quaternion(self.name, self.goal)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a parameter; the goal is brought to unit length."""
        super().__setattr__(
            name, checked_quaternion(self.name, value) if name == "goal" and "goal" in vars(self) else value
        )

    def describe(self, model: Model) -> Description:
        """The frames."""
        reference = -1 if self.reference is None else model.frame(self.reference)
        return Description(kinds.ORIENTATION_3D, model.frame(self.frame), reference)
