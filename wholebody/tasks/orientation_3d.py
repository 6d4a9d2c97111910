"""3D orientation: a frame turned as a goal is, in the world or as seen from any other frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from wholebody.model.compiled import inlined
from wholebody.model.layout import Array, Tree, Values
from wholebody.model.model import Model
from wholebody.model.point_kernels import Three, add_point_rows, cross, turned_back
from wholebody.model.snapshot import Snapshot
from wholebody.parameters import Unit
from wholebody.tasks import kinds
from wholebody.tasks.kinds import ERROR_LIMIT_OF_FRAMES, Columns, Description
from wholebody.tasks.relative import Relative, seen_from
from wholebody.tasks.rotations import checked_quaternion, relative_rotation, turn_between
from wholebody.tasks.task import LIMIT_BOUNDS, Task
from wholebody.tasks.vectors import Quaternion


@dataclass(eq=False, repr=False)
class Orientation3DTask(Task):
    """Turn a frame as a goal is: e is the rotation vector from how it is turned to the goal, in the reference's axes.

        Orientation3DTask("gaze", "head_camera", (0.0, 0.0, 0.0, 1.0))

    goal       a quaternion x y z w, or a rotation matrix when it is made: from the frame to the reference
    reference  the frame in which goal and error are measured: the world, unless told
    """

    frame: str
    goal: Annotated[Quaternion, Unit("1")]
    reference: str | None = None
    error_limit: Annotated[float, Unit("rad"), LIMIT_BOUNDS] = field(default=ERROR_LIMIT_OF_FRAMES, kw_only=True)
    row_count = 3

    def prepare(self) -> None:
        """Bring the goal to unit length."""
        self.goal = checked_quaternion(self.name, self.goal)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a parameter; the goal is brought to unit length."""
        super().__setattr__(
            name, checked_quaternion(self.name, value) if name == "goal" and "goal" in vars(self) else value
        )

    def describe(self, model: Model) -> Description:
        """The frames."""
        reference = -1 if self.reference is None else model.frame(self.reference)
        return Description(kinds.ORIENTATION_3D, model.frame(self.frame), reference)

    def error(self, snapshot: Snapshot) -> Array:
        """The rotation vector from what is to the goal."""
        return np.array(turn_between(self.goal, np.ascontiguousarray(self._seen(snapshot).rotation)))

    def jacobian(self, snapshot: Snapshot) -> Array:
        """Of the angular velocity, in the axes of the reference."""
        return self._seen(snapshot).jacobian[3:]

    def bias(self, snapshot: Snapshot) -> Array:
        """Angular acceleration, as seen from the reference, at v̇ = 0."""
        return self._seen(snapshot).bias[3:]

    def _seen(self, snapshot: Snapshot) -> Relative:
        where = self.describe(snapshot.model)
        return seen_from(snapshot, where.frame, np.zeros(3), where.reference)


@inlined
def turning_as_seen(now: Values, frame: int, reference: int) -> tuple[Three, Three]:
    """Angular velocity and J̇v as seen from the reference: Rᵀ (ω − ω₀) and Rᵀ (α − α₀ − ω₀ × ω)."""
    velocity, bias = now.velocity[frame], now.bias[frame]
    w, alpha = (velocity[3], velocity[4], velocity[5]), (bias[3], bias[4], bias[5])
    if reference < 0:
        return w, alpha
    velocity, bias, R = now.velocity[reference], now.bias[reference], now.placement[reference]
    u = cross((velocity[3], velocity[4], velocity[5]), w)
    return (
        turned_back(R, (w[0] - velocity[3], w[1] - velocity[4], w[2] - velocity[5])),
        turned_back(R, (alpha[0] - bias[3] - u[0], alpha[1] - bias[4] - u[1], alpha[2] - bias[5] - u[2])),
    )


@inlined
def fill_orientation_3d(
    fixed: Tree,
    now: Values,
    floating: bool,
    frame: int,
    reference: int,
    goal: Array,
    out: Columns,
    first: int,
    row: int,
) -> int:
    """Three rows; `row` is the first of them in the task, whose gains belong to it."""
    v, a = turning_as_seen(now, frame, reference)
    B = out.B
    if reference < 0:
        e = turn_between(goal, now.placement[frame])
    else:
        relative_rotation(now.placement[frame], now.placement[reference], B)
        e = turn_between(goal, B)
    for k in range(3):
        for j in range(3):
            B[k, j] = 0.0
            B[k, 3 + j] = (1.0 if j == k else 0.0) if reference < 0 else now.placement[reference, j, k]
        at = first + k
        out.error[at], out.velocity[at], out.bias[at], out.source[at] = e[k], v[k], a[k], row + k
    lever = now.lever[frame]
    p = (lever[0], lever[1], lever[2])
    add_point_rows(fixed, now, floating, frame, p, B, 3, out.J, first)
    if reference >= 0:
        for k in range(3):
            for j in range(3):
                B[k, 3 + j] = -B[k, 3 + j]
        add_point_rows(fixed, now, floating, reference, p, B, 3, out.J, first)
    return 3
