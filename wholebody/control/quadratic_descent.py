"""Descent: from the solution without limits to the one that keeps them, level by level, in as few programs as will do.

What every level would get without limits is known. If that keeps all limits, it is the answer. If not, some level is
the first to lose something; all above it have what they want. Which one that is, is tried out: a level's program asks
for its best with the levels above as they are. If the program has no solution, the level above it loses too.

A program has only those rows of the limits that seem to matter; if its solution violates others, these are added and it
is solved again. Where to begin, and with which rows, is known from the cycle before: that is the warm start.
"""

from __future__ import annotations

import numpy as np

from wholebody.control import quadratic_kernels as kernels
from wholebody.control.quadratic_memory import FORCE, HELD, LEVEL, LEVELS, PUSHED, ROWS, Work
from wholebody.control.quadratic_program import Programs
from wholebody.model.layout import Array, Integers

MARGIN = 1e-6
"""How far inside its limits the program of the uppermost level stays, as a share; those below have ever more room."""

REGULARISATION = 0.0
ACCURACY, GAP = 1e-9, 1e-9
LOST = 1e-6
ROUNDS = 20
MOST_KEPT = 24

Memory = tuple[Integers, Integers, Integers, Array, Integers]


class Descent:
    """What is remembered from one cycle to the next: rows that matter, and the first level that lost something."""

    def __init__(self, memory: Memory, work: Work, y: tuple[Array, Array]) -> None:
        self.memory = memory
        self.programs = Programs(len(work.base), len(work.value), ACCURACY, GAP)
        self.listed = 0
        self._work, self._y = work, y
        self._saved = tuple(each.copy() for each in y)
        self._first: int | None = None
        self._used = False  # whether the last cycle needed programs

    def run(self) -> bool:
        """Keep all limits, beginning from the solution without them; False if that cannot be."""
        violated, self.listed = kernels.list_violated(*self.memory, self.listed, 0.0)
        self._used = violated > 0
        if not violated:
            return True
        levels = int(self._work.state[LEVELS])
        level = levels - 1 if self._first is None else min(self._first, levels - 1)
        found = self._solve(level, levels)
        while not found:
            above = self._above(level)
            if above is None:
                return False
            level = above
            kernels.complete_from(*self.memory, level)
            found = self._solve(level, levels)
        self._first = level
        while found and level < levels - 1:
            if self._work.loss[level] < LOST and self._first == level:
                self._first = level + 1
            self._save()
            kernels.complete_from(*self.memory, level + 1)
            violated, self.listed = kernels.list_violated(*self.memory, self.listed, 0.0)
            if not violated:
                return True
            level = self._below(level, levels)
            found = self._solve(level, levels)
        if not found:  # by rounding: what the level above found keeps all limits
            self._restore()
        return True

    def relax(self) -> Array:
        """Go where the limits are exceeded least, by the sum of squares; by how much each row is, as a share."""
        kernels.complete_from(*self.memory, 0)
        _, self.listed = kernels.list_violated(*self.memory, self.listed, 0.0)
        programs, variables, before = self.programs, self._span(0), 0
        while self.listed > before:
            self._write(0, 0.0, before == 0)
            before = self.listed
            G = np.hstack([programs.G[: variables * before].reshape(variables, before).T, -np.eye(before)])
            H = np.diag(np.concatenate([np.full(variables, 1e-8), np.ones(before)]))
            zero = np.zeros(variables + before)
            found = programs.solve_given(H, zero, np.asfortranarray(G), programs.low[:before], programs.high[:before])
            if found is None:
                break
            kernels.take_step(*self.memory, 0, found[:variables].copy())
            _, self.listed = kernels.list_violated(*self.memory, before, 0.0)
        work, rows = self._work, int(self._work.state[ROWS])
        value = work.value[:rows]
        return np.maximum(np.maximum(work.lower[:rows] - value, value - work.upper[:rows]), 0.0)

    def rows_of_programs(self, lasting: int) -> Integers:
        """The rows that this cycle's programs had; those of pairs, from `lasting` on, are others in the next."""
        rows = self._work.kept[: self.listed]
        return rows[rows < lasting]  # a copy

    def keep(self, rows: Integers) -> None:
        """Have these rows in the next cycle's first program too, if they are not too many."""
        work = self._work
        if self._used and len(rows) <= MOST_KEPT:
            fresh = rows[work.listed[rows] == 0]
            work.kept[self.listed : self.listed + len(fresh)] = fresh
            work.listed[fresh] = 1
            self.listed += len(fresh)

    def rehearse(self) -> None:
        """Run every kernel once, with the limits of contacts or joints that there are."""
        self.listed = 0
        kernels.list_violated(*self.memory, 0, 0.0)
        self._write(0, MARGIN, True)
        kernels.take_step(*self.memory, 0, np.zeros(self._span(0)))
        kernels.complete_from(*self.memory, 0)
        kernels.evaluate_again(*self.memory)
        kernels.residuals(*self.memory, np.zeros(len(self._work.value)))

    def forget(self) -> None:
        """Begin the next cycle with nothing."""
        self._work.listed[:] = 0
        self.listed, self._first = 0, None

    # --- inside ------------------------------------------------------------------------------------

    def _solve(self, level: int, levels: int) -> bool:
        """The program of one level, with more rows until no other is violated."""
        variables = self._span(level)
        if variables == 0:
            return False
        step = MARGIN / (levels + 1)
        margin = MARGIN - level * step
        for attempt in range(ROUNDS):
            self._write(level, margin, attempt == 0)
            found = self.programs.solve(variables, self.listed)
            if found is None or kernels.take_step(*self.memory, level, found) != kernels.WELL:
                return False
            before = self.listed
            violated, self.listed = kernels.list_violated(*self.memory, before, margin - 0.5 * step)
            if not violated:
                return True
            if self.listed == before:
                return False
        return False

    def _write(self, level: int, margin: float, fresh: bool) -> None:
        p = self.programs
        kernels.write_program(*self.memory, level, self.listed, margin, REGULARISATION, p.H, p.G, p.low, p.high, fresh)

    def _span(self, level: int) -> int:
        """How many coordinates there are from a level on."""
        state, (kind, _, _, at, _) = self._work.state, self._work.levels[LEVEL * level : LEVEL * (level + 1)]
        left = int(state[HELD] - at)
        return left if kind == FORCE else left - int(state[PUSHED]) + len(self._y[0])

    def _save(self) -> None:
        for kept, each in zip(self._saved, self._y, strict=True):
            kept[:] = each

    def _restore(self) -> None:
        for kept, each in zip(self._saved, self._y, strict=True):
            each[:] = kept
        kernels.evaluate_again(*self.memory)

    def _below(self, level: int, levels: int) -> int:
        """The next level below that decides anything."""
        level += 1
        while level < levels - 1 and self._span(level) == self._span(level + 1):
            level += 1
        return level

    def _above(self, level: int) -> int | None:
        """The next level above that has more to decide."""
        now = self._span(level)
        while level > 0:
            level -= 1
            if self._span(level) > now:
                return level
        return None
