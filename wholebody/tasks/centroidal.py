"""Centre of mass: keep it, or move it, in the world."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from wholebody.errors import BadTask
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.parameters import Bounds, Unit
from wholebody.tasks import kinds
from wholebody.tasks.kinds import ERROR_LIMIT_OF_FRAMES, Description
from wholebody.tasks.task import GREATEST_GAIN, LIMIT_BOUNDS, Gain, Task
from wholebody.tasks.vectors import Vector3, Vector6


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
        self.axes_of(self.axes)

    def describe(self, model: Model) -> Description:
        return Description(kinds.CENTER_OF_MASS, mask=kinds.axes_mask(self.axes))

    def goal_here(self, snapshot: Snapshot) -> dict[str, Any]:
        return {"goal": snapshot.com_in_world}


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
        if self.part not in PARTS:
            raise BadTask(f"task '{self.name}': part must be one of {', '.join(PARTS)}, not {self.part!r}")

    def describe(self, model: Model) -> Description:
        return Description(kinds.MOMENTUM, mask=sum(1 << row for row in range(6)[PARTS[self.part]]))
