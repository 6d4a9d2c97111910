"""Omni wheel: a wheel whose rim is made of rollers: it drives one way and slides freely along its axle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from wholebody.constraints import constraint as kinds
from wholebody.constraints.constraint import Constraint, ConstraintColumns, ConstraintDescription
from wholebody.constraints.contacts import Vector3, checked_direction
from wholebody.errors import BadConstraint
from wholebody.model.compiled import inlined
from wholebody.model.layout import Array, Tree, Values
from wholebody.model.model import Model
from wholebody.model.point_kernels import Three, add_point_rows, cross, turned
from wholebody.model.snapshot import Snapshot
from wholebody.parameters import Bounds, Unit


@dataclass(eq=False, repr=False)
class OmniWheelContact(Constraint):
    """A wheel that neither leaves the ground nor slips where it rolls: n · v = 0 and t · (v + ω × r) = 0.

    v is the velocity of the hub, n up from the ground, r = −radius · n to where it touches, and t = axle × n the way it
    rolls. Along the axle the rollers let it slide. λ is the force along n, and along t.

    frame   the link that is the wheel, its origin in the hub
    radius  of the wheel
    axle    the direction of the axle in the frame
    normal  up from the ground, in world
    """

    frame: str
    radius: Annotated[float, Unit("m"), Bounds(0, 10)]
    axle: Annotated[Vector3, Unit("1")] = (1.0, 0.0, 0.0)
    normal: Annotated[Vector3, Unit("1")] = (0.0, 0.0, 1.0)
    row_count = 2

    def prepare(self) -> None:
        """Bring both directions to unit length."""
        self.axle = checked_direction(self.name, "the axle", self.axle)
        self.normal = checked_direction(self.name, "the normal", self.normal)
        if not self.radius > 0:
            raise BadConstraint(f"constraint '{self.name}': a wheel has a radius above 0 m, not {self.radius!r}")

    def describe(self, model: Model) -> ConstraintDescription:
        """The frame."""
        return ConstraintDescription(kinds.OMNI_WHEEL, model.frame(self.frame))

    def jacobian(self, snapshot: Snapshot) -> Array:
        """The two velocities that vanish."""
        J = snapshot.jacobian(snapshot.model.frame(self.frame))
        rolling, _ = self._rolling(snapshot)
        at_rim = J[:3] + np.cross(J[3:].T, -self.radius * self.normal).T
        return np.array([self.normal @ J[:3], rolling @ at_rim])

    def bias(self, snapshot: Snapshot) -> Array:
        """n · a, and t · (a + α × r) + ṫ · (v + ω × r)."""
        frame = snapshot.model.frame(self.frame)
        v, a, r = snapshot.velocity(frame), snapshot.bias(frame), -self.radius * self.normal
        rolling, rate = self._rolling(snapshot)
        rim = rolling @ (a[:3] + np.cross(a[3:], r)) + rate @ (v[:3] + np.cross(v[3:], r))
        return np.array([self.normal @ a[:3], rim])

    def _rolling(self, snapshot: Snapshot) -> tuple[Array, Array]:
        """T = axle × n of unit length, and its rate."""
        frame = snapshot.model.frame(self.frame)
        axle = snapshot.rotation(frame) @ self.axle
        t = np.cross(axle, self.normal)
        rate = np.cross(np.cross(snapshot.velocity(frame)[3:], axle), self.normal)
        length = np.linalg.norm(t)
        t = t / length
        return t, (rate - t * (t @ rate)) / length


@inlined
def rolling_direction(axle: Three, n: Three, w: Three) -> tuple[Three, Three]:
    """T = axle × n of unit length, and its rate."""
    t, rate = cross(axle, n), cross(cross(w, axle), n)
    length = np.sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2])
    t = (t[0] / length, t[1] / length, t[2] / length)
    along = t[0] * rate[0] + t[1] * rate[1] + t[2] * rate[2]
    return t, (
        (rate[0] - t[0] * along) / length,
        (rate[1] - t[1] * along) / length,
        (rate[2] - t[2] * along) / length,
    )


@inlined
def fill_omni_wheel(
    fixed: Tree, now: Values, floating: bool, frame: int, numbers: Array, out: ConstraintColumns, first: int
) -> int:
    """The row along the normal, then the row of rolling: t · (v + ω × r) = t · v + (r × t) · ω."""
    B, lever, velocity, bias = out.B, now.lever[frame], now.velocity[frame], now.bias[frame]
    radius, n = numbers[1], (numbers[5], numbers[6], numbers[7])
    axle = turned(now.placement[frame], (numbers[2], numbers[3], numbers[4]))
    v, w = (velocity[0], velocity[1], velocity[2]), (velocity[3], velocity[4], velocity[5])
    t, rate = rolling_direction(axle, n, w)
    r = (-radius * n[0], -radius * n[1], -radius * n[2])
    m, u, spin = cross(r, t), cross(w, r), cross((bias[3], bias[4], bias[5]), r)
    normal, rim = 0.0, 0.0
    for k in range(3):
        B[0, k], B[0, 3 + k] = n[k], 0.0
        B[1, k], B[1, 3 + k] = t[k], m[k]
        normal += n[k] * bias[k]
        rim += t[k] * (bias[k] + spin[k]) + rate[k] * (v[k] + u[k])
    out.bias[first], out.bias[first + 1] = normal, rim
    add_point_rows(fixed, now, floating, frame, (lever[0], lever[1], lever[2]), B, 2, out.J, first)
    return 2
