"""2D orientation: an axis of a frame pointed in a direction; how the frame turns about that axis is left free."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from wholebody.model.model import Model
from wholebody.parameters import Unit
from wholebody.tasks import kinds
from wholebody.tasks.kinds import ERROR_LIMIT_OF_FRAMES, Description
from wholebody.tasks.task import LIMIT_BOUNDS, Task
from wholebody.tasks.vectors import Vector3, checked_direction


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

    def prepare(self) -> None:
        """Bring both directions to unit length."""
        self.axis = checked_direction(self.name, "the axis", self.axis)
        self.goal = checked_direction(self.name, "the goal", self.goal)

    def describe(self, model: Model) -> Description:
        """The frame."""
        return Description(kinds.ORIENTATION_2D, model.frame(self.frame))
