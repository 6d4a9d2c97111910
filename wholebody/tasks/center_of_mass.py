"""Centre of mass: keep it, or move it, in the world."""

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
class CenterOfMassTask(Task):
    """Bring the centre of mass to a place in the world: e = c* − c, along the axes that count, such as "xy".

    goal  where the centre of mass shall be, in world
    """

    goal: Annotated[Vector3, Unit("m")]
    axes: str = "xyz"
    error_limit: Annotated[float, Unit("m"), LIMIT_BOUNDS] = field(default=ERROR_LIMIT_OF_FRAMES, kw_only=True)
    row_count = 3

    def prepare(self) -> None:
        """Check the axes."""
        self.axes_of(self.axes)

    def describe(self, model: Model) -> Description:
        """The axes."""
        return Description(kinds.CENTER_OF_MASS, mask=kinds.axes_mask(self.axes))
