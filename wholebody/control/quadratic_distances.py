"""Distances between links as rows of limits: how fast those that are near may come nearer."""

from __future__ import annotations

from wholebody.control import quadratic_rows as kernels
from wholebody.control.quadratic_memory import PAIRS, Memory, Work
from wholebody.control.quadratic_result import Limit
from wholebody.kinematics.collision import Collisions
from wholebody.model.snapshot import Snapshot


class Distances:
    """The pairs of links that are near each other in this cycle: d̈ = n · (p̈_other − p̈_one), n from one to the other.

    Pairs nearer than the clearance in the robot's own postures, such as fingers, are left out, and so are pairs further
    apart than `within`. The turning of n itself is not counted: between points, it only ever makes the distance grow.
    """

    def __init__(self, collisions: Collisions, clearance: float, most: int = 32) -> None:
        self.most = most
        self.clearance = clearance
        self.within = clearance + 0.08  # m: what braking takes from 1.2 m/s
        self.limits: tuple[Limit, ...] = ()
        self._collisions = collisions
        model = collisions.model
        postures = [model.neutral(), *(model.posture(each) for each in model.robot.postures)]
        self._tight = {(gap.one, gap.other) for q in postures for gap in collisions.near(q, clearance)}

    def fill(self, snapshot: Snapshot, memory: Memory, work: Work) -> None:
        """Write the rows of the nearest pairs."""
        gaps = self._collisions.near(snapshot, self.within)
        near = [each for each in gaps if (each.one, each.other) not in self._tight][: self.most]
        model = snapshot.model
        for row, each in enumerate(near):
            kernels.fill_pair(
                *memory,
                model.numbers,
                snapshot.storage,
                row,
                model.frame(each.one),
                model.frame(each.other),
                each.point_on_one,
                each.point_on_other,
                each.normal,
                max(each.distance, self.clearance),  # what is nearer already need not come apart
            )
        work.state[PAIRS] = len(near)
        self.limits = tuple(Limit("distance", f"'{each.one}' and '{each.other}'", "m/s²") for each in near)
