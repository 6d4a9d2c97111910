"""2D orientation: an axis of a frame pointed in a direction; how the frame turns about that axis is left free."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from wholebody.model.compiled import inlined
from wholebody.model.layout import Array, Tree, Values
from wholebody.model.model import Model
from wholebody.model.point_kernels import Three, add_point_rows, turned
from wholebody.model.snapshot import Snapshot
from wholebody.parameters import Unit
from wholebody.tasks import kinds
from wholebody.tasks.kinds import ERROR_LIMIT_OF_FRAMES, Columns, Description
from wholebody.tasks.rotations import across, checked_direction, turn_onto
from wholebody.tasks.task import LIMIT_BOUNDS, Task
from wholebody.tasks.vectors import Vector3


@dataclass(eq=False, repr=False)
class Orientation2DTask(Task):
    """Point an axis of a frame in a direction: e is the shortest turn there, about two axes of the body across it.

        Orientation2DTask("heading", "base", axis=(1, 0, 0), goal=(0, 1, 0))

    The two rows are angular velocities about axes fixed in the body, so they always have full rank; goal velocities
    are about them too. An axis opposite to its goal turns about the first of them.

    frame  the link, surface or sensor to turn
    axis   a direction in the frame
    goal   where it shall point, in the world
    """

    frame: str
    axis: Annotated[Vector3, Unit("1")]
    goal: Annotated[Vector3, Unit("1")]
    error_limit: Annotated[float, Unit("rad"), LIMIT_BOUNDS] = field(default=ERROR_LIMIT_OF_FRAMES, kw_only=True)
    row_count = 2

    def prepare(self) -> None:
        """Bring both directions to unit length."""
        self.axis = checked_direction(self.name, "the axis", self.axis)
        self.goal = checked_direction(self.name, "the goal", self.goal)

    def describe(self, model: Model) -> Description:
        """The frame."""
        return Description(kinds.ORIENTATION_2D, model.frame(self.frame))

    def error(self, snapshot: Snapshot) -> Array:
        """The shortest turn onto the goal, about the two axes across."""
        R = snapshot.rotation(snapshot.model.frame(self.frame))
        now, goal = R @ self.axis, self.goal / np.linalg.norm(self.goal)
        error: Array = self._across() @ R.T @ np.array(turn_onto(tuple(now), tuple(goal)))
        return error

    def jacobian(self, snapshot: Snapshot) -> Array:
        """Angular velocity about the two axes across."""
        frame = snapshot.model.frame(self.frame)
        jacobian: Array = self._across() @ snapshot.rotation(frame).T @ snapshot.jacobian(frame)[3:]
        return jacobian

    def bias(self, snapshot: Snapshot) -> Array:
        """Axes fixed in the body: d/dt (aᵀ Rᵀ ω) = aᵀ Rᵀ α."""
        frame = snapshot.model.frame(self.frame)
        bias: Array = self._across() @ snapshot.rotation(frame).T @ snapshot.bias(frame)[3:]
        return bias

    def _across(self) -> Array:
        x, y, z = self.axis / np.linalg.norm(self.axis)
        return np.array(across((x, y, z)))


@inlined
def unit(a: Array) -> Three:
    """A direction of unit length; none stays none, and becomes a fault."""
    length = np.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])
    return a[0] / length, a[1] / length, a[2] / length


@inlined
def fill_orientation_2d(
    fixed: Tree, now: Values, floating: bool, frame: int, axis: Array, goal: Array, out: Columns, first: int
) -> int:
    """Two rows about axes of the body across the one that points."""
    R, velocity, bias, lever, B = now.placement[frame], now.velocity[frame], now.bias[frame], now.lever[frame], out.B
    pointing = unit(axis)
    a, b = across(pointing)
    a, b = turned(R, a), turned(R, b)
    e = turn_onto(turned(R, pointing), unit(goal))
    for k in range(2):
        x, y, z = a if k == 0 else b
        B[k, 0], B[k, 1], B[k, 2], B[k, 3], B[k, 4], B[k, 5] = 0.0, 0.0, 0.0, x, y, z
        at = first + k
        out.error[at] = x * e[0] + y * e[1] + z * e[2]
        out.velocity[at] = x * velocity[3] + y * velocity[4] + z * velocity[5]
        out.bias[at] = x * bias[3] + y * bias[4] + z * bias[5]
        out.source[at] = k
    add_point_rows(fixed, now, floating, frame, (lever[0], lever[1], lever[2]), B, 2, out.J, first)
    return 2
