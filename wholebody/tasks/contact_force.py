"""Contact force: how hard a contact is pressed, as far as motion leaves it free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.parameters import Unit
from wholebody.tasks import kinds
from wholebody.tasks.kinds import Description
from wholebody.tasks.task import ForceRows, Task
from wholebody.tasks.vectors import Vector3


@dataclass(eq=False, repr=False)
class ContactForceTask(Task):
    """Let a contact bear a force: Rᵀ f = goal, f that of the world on the robot, R the axes of the contact's frame.

        ContactForceTask("push", "right_hand", (0.0, 0.0, 40.0))     # 40 N on the wall, and no rubbing along it

    z of a surface points into the robot, so pushing is positive. As long as other contacts can bear what this one does
    not, nothing moves. Where motion alone decides the forces (a single contact), the task has no say. While its contact
    is off, it asks for nothing. Gains have no part.

    contact  the name of a contact of the problem
    goal     x, y and z in the frame of that contact
    """

    contact: str
    goal: Annotated[Vector3, Unit("N")]
    row_count = 3

    def describe(self, model: Model) -> Description:
        """The contact."""
        return Description(kinds.CONTACT_FORCE, contacts=(self.contact,))

    def force_rows(self, snapshot: Snapshot, frames: Sequence[int]) -> ForceRows:
        """The force in the axes of the contact's frame."""
        matrix: Array = np.hstack([snapshot.rotation(frames[0]).T, np.zeros((3, 3))])
        return ForceRows((matrix,), np.array(self.goal))
