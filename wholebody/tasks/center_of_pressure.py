"""Centre of pressure: where in its sole a foot presses on the ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.parameters import Unit
from wholebody.tasks import kinds
from wholebody.tasks.kinds import Description
from wholebody.tasks.task import ForceRows, Task
from wholebody.tasks.vectors import Vector2


@dataclass(eq=False, repr=False)
class CenterOfPressureTask(Task):
    """Press on the ground at a point of a sole: m_y + p_x f_z = 0 and m_x − p_y f_z = 0, in the axes of the sole.

        CenterOfPressureTask("left_cop", "left_foot", (0.02, 0.0))

    Where the contacts can push against each other (two feet on the ground), that freedom is used, and nothing moves.
    Where they cannot (one foot), the wrench follows from the motion alone; then the body moves so that the centre of
    pressure is there, at this task's level. While its contact is off, the task asks for nothing. Gains have no part.

    contact  the name of a flat contact of the problem
    goal     x and y in the frame of that contact
    """

    contact: str
    goal: Annotated[Vector2, Unit("m")]
    row_count = 2

    def describe(self, model: Model) -> Description:
        """The contact."""
        return Description(kinds.CENTER_OF_PRESSURE, contacts=(self.contact,))

    def force_rows(self, snapshot: Snapshot, frames: Sequence[int]) -> ForceRows:
        """The two moments about the goal that shall vanish."""
        x, y, z = snapshot.rotation(frames[0]).T
        matrix = np.array([[*(self.goal[0] * z), *y], [*(-self.goal[1] * z), *x]])
        return ForceRows((matrix,), np.zeros(2))
