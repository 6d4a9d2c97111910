"""Level: two frames at the same height."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from wholebody.model.snapshot import Snapshot
from wholebody.parameters import Bounds, Unit
from wholebody.tasks import Task


@dataclass(eq=False, repr=False)
class LevelTask(Task):
    """Keep a frame as high as another: e = z_other + goal − z_frame.

    frame  the link, surface or sensor that moves
    other  the one that it is measured from
    goal   how much higher it shall be
    """

    frame: str
    other: str
    goal: Annotated[float, Unit("m"), Bounds(-2, 2)] = 0.0
    row_count = 1

    def error(self, snapshot: Snapshot) -> np.ndarray:
        """How much higher it has to go."""
        one, other = (snapshot.position(snapshot.model.frame(name))[2:] for name in (self.frame, self.other))
        return other + self.goal - one

    def jacobian(self, snapshot: Snapshot) -> np.ndarray:
        """Of the difference in height."""
        one, other = (snapshot.jacobian(snapshot.model.frame(name))[2:3] for name in (self.frame, self.other))
        return one - other

    def bias(self, snapshot: Snapshot) -> np.ndarray:
        """Its acceleration at v̇ = 0."""
        one, other = (snapshot.bias(snapshot.model.frame(name))[2:3] for name in (self.frame, self.other))
        return one - other
