"""Closed loops: two links that a pin or a weld holds together, beside the tree of joints that the model is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wholebody.constraints.constraint import Constraint
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.robots.robot import Vector


@dataclass(eq=False, repr=False)
class ClosedLoop(Constraint):
    """Two points of two frames stay together: v₁ − v₂ = 0 in the world's axes; of a weld also ω₁ − ω₂ = 0.

        ClosedLoop("rod", "shin", "rod", (0, 0, -0.4), (0, 0, -0.2))

    λ is the force, and of a weld the torque, at the joint that closes the loop. `ClosedLoop.of(model)` takes all loops
    of the robot.
    """

    one: str
    other: str
    point_in_one: Vector = (0.0, 0.0, 0.0)
    point_in_other: Vector = (0.0, 0.0, 0.0)
    welded: bool = False

    @classmethod
    def of(cls, model: Model) -> list[ClosedLoop]:
        """One for each loop of the robot."""
        loops = model.robot.loops
        return [cls(each.name, each.one, each.other, each.one_at.xyz, each.other_at.xyz, each.welded) for each in loops]

    def count_rows(self) -> int:
        """Three of a pin, six of a weld."""
        return 6 if self.welded else 3

    def jacobian(self, snapshot: Snapshot) -> Array:
        """J of the one point less J of the other."""
        one, other = (self._jacobian_at(snapshot, *end) for end in self._ends)
        return (one - other)[: self.count_rows()]

    def bias(self, snapshot: Snapshot) -> Array:
        """J̇ v of the one point less that of the other."""
        one, other = (self._bias_at(snapshot, *end) for end in self._ends)
        return (one - other)[: self.count_rows()]

    def gap(self, snapshot: Snapshot) -> Array:
        """From the other point to the one, m in world: zero while the loop is closed."""
        one, other = (snapshot.position(frame) + r for frame, r in (self._arm(snapshot, *end) for end in self._ends))
        return np.asarray(one - other)

    @property
    def _ends(self) -> tuple[tuple[str, Vector], tuple[str, Vector]]:
        return (self.one, self.point_in_one), (self.other, self.point_in_other)

    def _arm(self, snapshot: Snapshot, name: str, point: Vector) -> tuple[int, Array]:
        """The frame, and the point as seen from its origin in the world's axes."""
        frame = snapshot.model.frame(name)
        return frame, snapshot.rotation(frame) @ np.array(point)

    def _jacobian_at(self, snapshot: Snapshot, name: str, point: Vector) -> Array:
        """J of the point: J_v − r × J_ω, and J_ω."""
        frame, r = self._arm(snapshot, name, point)
        J = snapshot.jacobian(frame)
        return np.vstack([J[:3] - np.cross(r, J[3:], axisb=0).T, J[3:]])

    def _bias_at(self, snapshot: Snapshot, name: str, point: Vector) -> Array:
        """J̇ v of the point: a + α × r + ω × (ω × r), and α."""
        frame, r = self._arm(snapshot, name, point)
        a, w = snapshot.bias(frame), snapshot.velocity(frame)[3:]
        return np.concatenate([a[:3] + np.cross(a[3:], r) + np.cross(w, np.cross(w, r)), a[3:]])
