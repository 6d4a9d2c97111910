"""The memory of one problem that Python and the kernels both see: limits, losses, active limits, and a blend."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wholebody.control.problem_layout import ProblemLayout
from wholebody.messages import Record
from wholebody.model.layout import Array, Integers
from wholebody.model.model import Model


class Counts(Record):
    """How many of what; see COUNTS."""

    rows: int
    listed: int
    active: int
    solved: int
    relaxing: int
    strict: int
    last: int


COUNTS = Counts.of(
    np.dtype([(name, np.int64) for name in ("rows", "listed", "active", "solved", "relaxing", "strict", "last")])
)
"""Rows of limits; limits whose gradients are known; limits that hold as equations; how often the least losses were
sought; whether bounds on accelerations may be exceeded; levels that lose strictly one after the other; the end of all
losses. `Counts` of quadratic.h."""


class Shared(NamedTuple):
    """Arrays in the order in which kernels take them; unknowns are joints, nv and rows of constraints."""

    limits: Array  # 5 × rows: value, value without losses, lower, upper, scale
    gradients: Array  # rows × unknowns, on the losses
    losses: Array  # unknowns: what each level loses by the limits, in coordinates of its own
    measure: Array  # unknowns: how great a loss counts as one, where levels lose together
    blend: Array
    pairs: Array  # of pairs of links: rows on v̇, pairs × nv; then how fast distances change; then J̇ v
    counts: Integers
    first_loss: Integers  # of each strict level, then the end of all
    listed: Integers  # the rows that are known
    active: Integers  # the rows that hold as equations
    sides: Integers  # 1 at a lower bound, −1 at an upper one


class Blend(NamedTuple):
    """The way from one law to another; all zeros when there is none. `Blend` of quadratic.h."""

    share: Array  # 1: how much of the difference is kept
    fresh: Array  # 1: 1 until the differences are known: until then they are what was
    acceleration: Array  # nv
    borne: Array  # nv: Jcᵀ λ of constraints that are off now
    effort: Array  # of each joint with a motor
    force: Array  # of the constraints that are on now
    added: Array  # of each constraint: 1 if it was off before


class Memory:
    """The shared arrays of one problem, with names for their parts."""

    def __init__(self, model: Model, layout: ProblemLayout, rows: int, pairs: int) -> None:
        nv, held, levels = model.nv, layout.constraint_rows, len(layout.problem.levels)
        unknowns = len(model.joint_names) + nv + held
        sizes = [1, 1, nv, nv, len(model.actuated_joints), held, len(layout.problem.constraints)]
        integers = (len(COUNTS.names or ()), 2 * levels + 5, rows, unknowns + 1, unknowns + 1)
        self.shared = Shared(
            np.zeros((5, rows)),
            np.zeros((rows, unknowns)),
            np.zeros(unknowns),
            np.zeros(unknowns),
            np.zeros(sum(sizes)),
            np.zeros(pairs * (nv + 2)),
            *(np.zeros(count, np.int64) for count in integers),
        )
        self.value, self.begun, self.lower, self.upper, self.scale = self.shared.limits
        self._counts: Counts = self.shared.counts.view(COUNTS)[0]
        self.pair_rows = self.shared.pairs[: pairs * nv].reshape(pairs, nv)
        self.pair_rates = self.shared.pairs[pairs * nv :][:pairs]
        self.blend = Blend(*np.split(self.shared.blend, np.cumsum(sizes)[:-1]))

    def count(self, name: str) -> int:
        """One of the counts, by its name in COUNTS."""
        return int(getattr(self._counts, name))

    def keep_active(self, count: int) -> None:
        """Begin the next cycle with the first `count` of the listed active limits."""
        self._counts.active = count

    def forget_active(self) -> None:
        """Begin the next cycle without a guess of which limits are active."""
        self.keep_active(0)
