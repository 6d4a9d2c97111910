"""Cartesian position: a point of the robot, in the world or as seen from any other frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from wholebody.model.compiled import inlined
from wholebody.model.layout import Array, Tree, Values
from wholebody.model.model import Model
from wholebody.model.point_kernels import Three, add_point_rows, cross, point_motion, turned, turned_back
from wholebody.model.snapshot import Snapshot
from wholebody.parameters import Unit
from wholebody.tasks import kinds
from wholebody.tasks.kinds import ERROR_LIMIT_OF_FRAMES, Columns, Description
from wholebody.tasks.relative import Relative, seen_from
from wholebody.tasks.task import LIMIT_BOUNDS, Task
from wholebody.tasks.vectors import Vector3


@dataclass(eq=False, repr=False)
class CartesianPositionTask(Task):
    """Bring a point to a place: e = x* − x, where x is the point as seen from the reference frame.

        CartesianPositionTask("right_hand", "right_palm", (0.4, -0.2, 1.0))
        CartesianPositionTask("to_chest", "left_palm", (0.3, 0.2, 0.1), reference="torso")

    frame         the link, surface or sensor that carries the point
    goal          where to, in the reference frame
    point         where the point is in its frame: the origin, unless told
    reference     the frame in which goal and error are measured: the world, unless told
    axes          which axes of the reference count, such as "xy" or "z"
    """

    frame: str
    goal: Annotated[Vector3, Unit("m")]
    point: Annotated[Vector3, Unit("m")] = 0.0
    reference: str | None = None
    axes: str = "xyz"
    error_limit: Annotated[float, Unit("m"), LIMIT_BOUNDS] = field(default=ERROR_LIMIT_OF_FRAMES, kw_only=True)
    row_count = 3

    def prepare(self) -> None:
        """Check the axes."""
        self.axes_of(self.axes)

    def describe(self, model: Model) -> Description:
        """The frames."""
        reference = -1 if self.reference is None else model.frame(self.reference)
        return Description(kinds.POSITION, model.frame(self.frame), reference, kinds.axes_mask(self.axes))

    def selected(self, snapshot: Snapshot) -> Any:
        """The axes that count."""
        return kinds.axes_index(self.axes)

    def error(self, snapshot: Snapshot) -> Array:
        """x* − x."""
        error: Array = (self.goal - self._seen(snapshot).position)[self.selected(snapshot)]
        return error

    def jacobian(self, snapshot: Snapshot) -> Array:
        """Of the point, less that of the reference frame's own point there."""
        jacobian: Array = self._seen(snapshot).jacobian[:3][self.selected(snapshot)]
        return jacobian

    def bias(self, snapshot: Snapshot) -> Array:
        """Acceleration of the point, as seen from the reference, at v̇ = 0."""
        bias: Array = self._seen(snapshot).bias[:3][self.selected(snapshot)]
        return bias

    def _seen(self, snapshot: Snapshot) -> Relative:
        where = self.describe(snapshot.model)
        return seen_from(snapshot, where.frame, np.asarray(self.point), where.reference)


@inlined
def position_as_seen(now: Values, frame: int, point: Array, reference: int) -> tuple[Three, Three, Three, Three]:
    """Where a point of a frame is (from O, in world axes), then position, velocity and J̇v as seen from the reference.

    ẍ = Rᵀ (a − a₀ − α × r − 2 ω × ṙ + ω × (ω × r)), r from the reference's origin to the point.
    """
    d = turned(now.placement[frame], (point[0], point[1], point[2]))
    lever, position = now.lever[frame], now.position[frame]
    v, a = point_motion(now, frame, d)
    p = (lever[0] + d[0], lever[1] + d[1], lever[2] + d[2])
    if reference < 0:
        return p, (position[0] + d[0], position[1] + d[1], position[2] + d[2]), v, a
    other, R = now.lever[reference], now.placement[reference]
    velocity, bias = now.velocity[reference], now.bias[reference]
    w = (velocity[3], velocity[4], velocity[5])
    r = (p[0] - other[0], p[1] - other[1], p[2] - other[2])
    s = (v[0] - velocity[0], v[1] - velocity[1], v[2] - velocity[2])
    wr, ws, ar = cross(w, r), cross(w, s), cross((bias[3], bias[4], bias[5]), r)
    wwr = cross(w, wr)
    seen = (
        a[0] - bias[0] - ar[0] - 2 * ws[0] + wwr[0],
        a[1] - bias[1] - ar[1] - 2 * ws[1] + wwr[1],
        a[2] - bias[2] - ar[2] - 2 * ws[2] + wwr[2],
    )
    moving = (s[0] - wr[0], s[1] - wr[1], s[2] - wr[2])
    return p, turned_back(R, r), turned_back(R, moving), turned_back(R, seen)


@inlined
def fill_position(
    fixed: Tree,
    now: Values,
    floating: bool,
    frame: int,
    reference: int,
    mask: int,
    goal: Array,
    point: Array,
    out: Columns,
    first: int,
) -> int:
    """A row for each axis that counts."""
    p, x, v, a = position_as_seen(now, frame, point, reference)
    B = out.B
    count = 0
    for k in range(3):
        if mask & (1 << k):
            for j in range(3):
                B[count, j] = (1.0 if j == k else 0.0) if reference < 0 else now.placement[reference, j, k]
                B[count, 3 + j] = 0.0
            at = first + count
            out.error[at], out.velocity[at], out.bias[at], out.source[at] = goal[k] - x[k], v[k], a[k], k
            count += 1
    add_point_rows(fixed, now, floating, frame, p, B, count, out.J, first)
    if reference >= 0:
        for i in range(count):
            for j in range(3):
                B[i, j] = -B[i, j]
        add_point_rows(fixed, now, floating, reference, p, B, count, out.J, first)
    return count
