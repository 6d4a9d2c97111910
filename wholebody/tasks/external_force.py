"""External force: press a point of the robot against something that is no constraint."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.parameters import Bounds, Unit
from wholebody.tasks import kinds
from wholebody.tasks.kinds import Description
from wholebody.tasks.task import GREATEST_GAIN, Gain, Task, TaskRows
from wholebody.tasks.vectors import Vector3


@dataclass(eq=False, repr=False)
class ExternalForceTask(Task):
    """Exert a force with a point of the robot: F = F* + kp (F* − F_measured) + ki ∫(F* − F_measured) dt.

    What is asked for is the acceleration Λ⁻¹ F that the point would have if what it presses against gave way, with Λ⁻¹
    what constraints and motors leave of J M⁻¹ Jᵀ. If it does not give way, it feels exactly F, whatever the level.
    A damping slows the point down while it touches nothing.

    frame     the link, surface or sensor that carries the point
    goal      the force of the robot on the world, in world
    point     where the point is in its frame: the origin, unless told
    measured  what a sensor says, in the same sense; it counts when there is a stiffness or an integral gain
    """

    frame: str
    goal: Annotated[Vector3, Unit("N")]
    point: Annotated[Vector3, Unit("m")] = 0.0
    measured: Annotated[Vector3, Unit("N")] = 0.0
    stiffness: Annotated[Gain, Unit("1"), Bounds(0, GREATEST_GAIN)] = field(default=0.0, kw_only=True)
    damping: Annotated[Gain, Unit("1/s"), Bounds(0, GREATEST_GAIN)] = field(default=0.0, kw_only=True)
    row_count = 3

    def describe(self, model: Model) -> Description:
        """The frame."""
        return Description(kinds.EXTERNAL_FORCE, model.frame(self.frame), mask=kinds.axes_mask("xyz"))

    def desired(self, snapshot: Snapshot) -> Array:
        """Damping alone: what the force is to add, is for the controller to find."""
        desired: Array = self.damping * (self.goal_velocity - self.velocity(snapshot)) + self.goal_acceleration
        return desired

    def rows(self, snapshot: Snapshot) -> TaskRows:
        """The point's motion, and the force."""
        force = self.goal + self.stiffness * self.error(snapshot) + self.integral_gain * self.accumulated
        return TaskRows(self.jacobian(snapshot), self.bias(snapshot), self.desired(snapshot), force)
