"""Centre of pressure: where in its sole a foot presses on the ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from wholebody.errors import BadTask
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.parameters import Bounds, Unit
from wholebody.tasks import kinds
from wholebody.tasks.kinds import Description
from wholebody.tasks.task import GREATEST_GAIN, ForceRows, Gain, Task, TaskRows
from wholebody.tasks.vectors import Vector2, Vector3


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
    goals: ClassVar[dict[str, Any]] = {}  # a state of motion says nothing of forces

    def describe(self, model: Model) -> Description:
        return Description(kinds.CENTER_OF_PRESSURE, contacts=(self.contact,))

    def force_rows(self, snapshot: Snapshot, frames: Sequence[int]) -> ForceRows:
        """The two moments about the goal that shall vanish."""
        x, y, z = snapshot.rotation(frames[0]).T
        matrix = np.array([[*(self.goal[0] * z), *y], [*(-self.goal[1] * z), *x]])
        return ForceRows((matrix,), np.zeros(2))


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
    goals: ClassVar[dict[str, Any]] = {}  # a state of motion says nothing of forces

    def describe(self, model: Model) -> Description:
        return Description(kinds.CONTACT_FORCE, contacts=(self.contact,))

    def force_rows(self, snapshot: Snapshot, frames: Sequence[int]) -> ForceRows:
        """The force in the axes of the contact's frame."""
        matrix: Array = np.hstack([snapshot.rotation(frames[0]).T, np.zeros((3, 3))])
        return ForceRows((matrix,), np.array(self.goal))


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
    goals: ClassVar[dict[str, Any]] = {}  # a state of motion says nothing of forces

    def describe(self, model: Model) -> Description:
        return Description(kinds.EXTERNAL_FORCE, model.frame(self.frame), mask=kinds.axes_mask("xyz"))

    def desired(self, snapshot: Snapshot) -> Array:
        """Damping alone: what the force is to add, is for the controller to find."""
        desired: Array = self.damping * (self.goal_velocity - self.velocity(snapshot)) + self.goal_acceleration
        return desired

    def rows(self, snapshot: Snapshot) -> TaskRows:
        """The point's motion, and the force."""
        force = self.goal + self.stiffness * self.error(snapshot) + self.integral_gain * self.accumulated
        return TaskRows(self.jacobian(snapshot), self.bias(snapshot), self.desired(snapshot), force)


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
    goals: ClassVar[dict[str, Any]] = {}  # a state of motion says nothing of forces

    def prepare(self) -> None:
        if self.contact_a == self.contact_b:
            raise BadTask(f"task '{self.name}': contact '{self.contact_a}' cannot press on itself; name two contacts")

    def describe(self, model: Model) -> Description:
        return Description(kinds.INTERNAL_FORCE, contacts=(self.contact_a, self.contact_b))

    def force_rows(self, snapshot: Snapshot, frames: Sequence[int]) -> ForceRows:
        """Half the difference of the forces along the line between the contacts."""
        along = snapshot.position(frames[1]) - snapshot.position(frames[0])
        along = along / np.linalg.norm(along)
        row = np.array([[*(0.5 * along), 0.0, 0.0, 0.0]])
        return ForceRows((-row, row), np.array([self.goal]))
