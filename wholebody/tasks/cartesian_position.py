"""Cartesian position: a point of the robot, in the world or as seen from any other frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from wholebody.model.model import Model
from wholebody.parameters import Unit
from wholebody.tasks import kinds
from wholebody.tasks.kinds import ERROR_LIMIT_OF_FRAMES, Description
from wholebody.tasks.task import LIMIT_BOUNDS, Task
from wholebody.tasks.vectors import Vector3


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
        """Check the axes."""
        self.axes_of(self.axes)

    def describe(self, model: Model) -> Description:
        """The frames."""
        reference = -1 if self.reference is None else model.frame(self.reference)
        return Description(kinds.POSITION, model.frame(self.frame), reference, kinds.axes_mask(self.axes))
