"""Internal force: how hard two contacts are pressed towards each other, which moves nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from wholebody.errors import BadTask
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.parameters import Unit
from wholebody.tasks import kinds
from wholebody.tasks.kinds import Description
from wholebody.tasks.task import ForceRows, Task


@dataclass(eq=False, repr=False)
class InternalForceTask(Task):
    """Press two contacts towards each other: ½ n · (f_b − f_a) = goal, with n from contact a to contact b.

        InternalForceTask("squeeze", "left_hand", "right_hand", 20.0)

    Forces are those of the world on the robot; a positive goal squeezes, as when holding a box between the hands, a
    negative one pulls apart, as feet that push each other outwards. It lives in the left null space of S·Nc,
    L* = I − S Nc·(S Nc)‾, so it moves nothing. While one of the contacts is off, it asks for nothing.

    goal  how hard they press, N; less than zero: how hard they pull
    """

    contact_a: str
    contact_b: str
    goal: Annotated[float, Unit("N")]
    row_count = 1

    def prepare(self) -> None:
        """Two contacts."""
        if self.contact_a == self.contact_b:
            raise BadTask(f"task '{self.name}': contact '{self.contact_a}' cannot press on itself; name two contacts")

    def describe(self, model: Model) -> Description:
        """The contacts."""
        return Description(kinds.INTERNAL_FORCE, contacts=(self.contact_a, self.contact_b))

    def force_rows(self, snapshot: Snapshot, frames: Sequence[int]) -> ForceRows:
        """Half the difference of the forces along the line between the contacts."""
        along = snapshot.position(frames[1]) - snapshot.position(frames[0])
        along = along / np.linalg.norm(along)
        row = np.array([[*(0.5 * along), 0.0, 0.0, 0.0]])
        return ForceRows((-row, row), np.array([self.goal]))
