"""Centroidal momentum: how fast the whole robot moves, and how it spins about its centre of mass."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from wholebody.errors import BadTask
from wholebody.model.model import Model
from wholebody.parameters import Bounds, Unit
from wholebody.tasks import kinds
from wholebody.tasks.kinds import Description
from wholebody.tasks.task import GREATEST_GAIN, Gain, Task
from wholebody.tasks.vectors import Vector6

PARTS = {"linear": slice(0, 3), "angular": slice(3, 6), "both": slice(0, 6)}


@dataclass(eq=False, repr=False)
class MomentumTask(Task):
    """Bring the momentum to a goal: ḣ* = k (h* − h) + ḣff, with k the stiffness, in 1/s; there is no damping.

    goal  linear momentum, then angular momentum about the centre of mass, in world
    part  "linear", "angular" or "both"
    """

    goal: Annotated[Vector6, Unit("kg·m/s, kg·m²/s")] = 0.0
    part: str = "angular"
    stiffness: Annotated[Gain, Unit("1/s"), Bounds(0, GREATEST_GAIN)] = field(default=10.0, kw_only=True)
    damping: Annotated[Gain, Unit("1"), Bounds(0, 0)] = field(default=0.0, kw_only=True)
    row_count = 6

    def prepare(self) -> None:
        """Check the part."""
        if self.part not in PARTS:
            raise BadTask(f"task '{self.name}': part must be one of {', '.join(PARTS)}, not {self.part!r}")

    def describe(self, model: Model) -> Description:
        """The part."""
        return Description(kinds.MOMENTUM, mask=sum(1 << row for row in range(6)[PARTS[self.part]]))
