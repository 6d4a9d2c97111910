"""Contacts that do not slip: flat (a sole), along a line (an edge), at a point (a fingertip)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from wholebody.constraints import constraint as kinds
from wholebody.constraints.constraint import Constraint, ConstraintColumns, ConstraintDescription
from wholebody.errors import BadConstraint
from wholebody.model.compiled import inlined
from wholebody.model.layout import Array, Tree, Values
from wholebody.model.model import Model
from wholebody.model.point_kernels import add_point_rows, point_motion, turned
from wholebody.model.snapshot import Snapshot
from wholebody.parameters import Size, Unit

Vector3 = Annotated[Any, Size(3)]
"""Given as whatever people type; kept as an array."""


@dataclass(eq=False, repr=False)
class FlatContact(Constraint):
    """A surface that lies flat on something: its frame neither moves nor turns.

    λ is the wrench of the world on the robot at the frame's origin: force, then torque, in world.
    """

    frame: str
    row_count = 6

    def describe(self, model: Model) -> ConstraintDescription:
        """The frame."""
        return ConstraintDescription(kinds.FLAT, model.frame(self.frame))

    def jacobian(self, snapshot: Snapshot) -> Array:
        """Of the frame."""
        return snapshot.jacobian(snapshot.model.frame(self.frame))

    def bias(self, snapshot: Snapshot) -> Array:
        """Of the frame."""
        return snapshot.bias(snapshot.model.frame(self.frame))


@dataclass(eq=False, repr=False)
class PointContact(Constraint):
    """A point that stays where it is; its frame may turn about it. λ is the force of the world on the robot.

    point  where it is in its frame
    """

    frame: str
    point: Annotated[Vector3, Unit("m")] = 0.0
    row_count = 3

    def describe(self, model: Model) -> ConstraintDescription:
        """The frame."""
        return ConstraintDescription(kinds.POINT, model.frame(self.frame))

    def jacobian(self, snapshot: Snapshot) -> Array:
        """Of the point."""
        return _carried(snapshot, self.frame, self.point)[0]

    def bias(self, snapshot: Snapshot) -> Array:
        """Of the point."""
        return _carried(snapshot, self.frame, self.point)[1]


@dataclass(eq=False, repr=False)
class LineContact(Constraint):
    """An edge that lies on something: a point of it stays where it is, and the frame turns about the edge alone.

    λ is the force at the point, in world, then the torques about two axes of the body across the edge.

    axis   the direction of the edge in the frame
    point  a point of it in the frame
    """

    frame: str
    axis: Annotated[Vector3, Unit("1")] = (0.0, 1.0, 0.0)
    point: Annotated[Vector3, Unit("m")] = 0.0
    row_count = 5

    def prepare(self) -> None:
        """Bring the axis to unit length."""
        self.axis = checked_direction(self.name, "the axis", self.axis)

    def describe(self, model: Model) -> ConstraintDescription:
        """The frame."""
        return ConstraintDescription(kinds.LINE, model.frame(self.frame))

    def jacobian(self, snapshot: Snapshot) -> Array:
        """Of the point, and of the angular velocity across the edge."""
        frame = snapshot.model.frame(self.frame)
        turning = self._across(snapshot) @ snapshot.jacobian(frame)[3:]
        return np.vstack([_carried(snapshot, self.frame, self.point)[0], turning])

    def bias(self, snapshot: Snapshot) -> Array:
        """Axes fixed in the body: d/dt (aᵀ Rᵀ ω) = aᵀ Rᵀ α."""
        frame = snapshot.model.frame(self.frame)
        turning = self._across(snapshot) @ snapshot.bias(frame)[3:]
        return np.concatenate([_carried(snapshot, self.frame, self.point)[1], turning])

    def _across(self, snapshot: Snapshot) -> Array:
        x, y, z = self.axis
        across: Array = np.array(across_axis(x, y, z)) @ snapshot.rotation(snapshot.model.frame(self.frame)).T
        return across


def checked_direction(name: str, what: str, given: Array) -> Array:
    """A direction of unit length."""
    values = np.array(given, dtype=np.float64)
    if values.shape != (3,) or not np.isfinite(values).all() or np.linalg.norm(values) < 1e-6:
        raise BadConstraint(f"constraint '{name}': {what} must be three numbers that are not all zero, not {given!r}")
    return values / np.linalg.norm(values)


def _carried(snapshot: Snapshot, name: str, point: Array) -> tuple[Array, Array]:
    """Jacobian and J̇ v of a point of a frame."""
    frame = snapshot.model.frame(name)
    d = snapshot.rotation(frame) @ point
    J, a, w = snapshot.jacobian(frame), snapshot.bias(frame), snapshot.velocity(frame)[3:]
    return J[:3] + np.cross(J[3:].T, d).T, a[:3] + np.cross(a[3:], d) + np.cross(w, np.cross(w, d))


@inlined
def across_axis(x: float, y: float, z: float) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Two unit directions across a unit axis."""
    if abs(x) < 0.6:
        ax, ay, az = 0.0, z, -y
    else:
        ax, ay, az = -z, 0.0, x
    length = np.sqrt(ax * ax + ay * ay + az * az)
    ax, ay, az = ax / length, ay / length, az / length
    return (ax, ay, az), (y * az - z * ay, z * ax - x * az, x * ay - y * ax)


@inlined
def fill_contact(
    fixed: Tree, now: Values, floating: bool, kind: int, frame: int, numbers: Array, out: ConstraintColumns, first: int
) -> int:
    """Three rows of a point, and those of the angular velocity that is held: all, two across an axis, or none."""
    at, lever, bias, B = now.placement[frame], now.lever[frame], now.bias[frame], out.B
    d = (0.0, 0.0, 0.0)
    if kind == kinds.POINT:
        d = turned(at, (numbers[1], numbers[2], numbers[3]))
    elif kind == kinds.LINE:
        d = turned(at, (numbers[4], numbers[5], numbers[6]))
    _, a = point_motion(now, frame, d)
    B[:] = 0.0
    for k in range(3):
        B[k, k] = 1.0
        out.bias[first + k] = a[k]
    count = 3
    if kind == kinds.FLAT:
        for k in range(3):
            B[3 + k, 3 + k] = 1.0
            out.bias[first + 3 + k] = bias[3 + k]
        count = 6
    elif kind == kinds.LINE:
        one, two = across_axis(numbers[1], numbers[2], numbers[3])
        for k in range(2):
            x, y, z = turned(at, one if k == 0 else two)
            B[3 + k, 3], B[3 + k, 4], B[3 + k, 5] = x, y, z
            out.bias[first + 3 + k] = x * bias[3] + y * bias[4] + z * bias[5]
        count = 5
    add_point_rows(
        fixed, now, floating, frame, (lever[0] + d[0], lever[1] + d[1], lever[2] + d[2]), B, count, out.J, first
    )
    return count
