"""Descent: the least losses by quadratic programs, level by level, where the active limits could not be told at once.

Without losses, every level has what it wants. Some level is the first to lose something. Which one that is, is tried
out from the last level up: a level's program asks for its least loss with the levels above as they are. If it has no
solution, the level above it loses too. Then come the programs of the levels below, one by one.

A program has only those limits that seem to matter; if its solution violates others, they are added and it is solved
again. What is found is good to about 1e-7; the limits that it has reached are a guess for the next cycle.
"""

from __future__ import annotations

import numpy as np

from wholebody.control import quadratic_kernels as kernels
from wholebody.control.quadratic_least import block_of
from wholebody.control.quadratic_memory import ACTIVE, LAST, LISTED, ROWS, STRICTLY, Active, Memory
from wholebody.control.quadratic_program import Programs
from wholebody.model.layout import Array

MARGIN = 1e-6
"""How far inside its limits the program of the uppermost level stays; those below have ever more room."""

REACHED = 1e-5
ACCURACY = 1e-9
ROUNDS = 20


class Descent:
    """The programs of one problem, in the memory of its kernels."""

    def __init__(self, memory: Memory, active: Active) -> None:
        self.memory, self.active = memory, active
        self.programs = Programs(ACCURACY)

    def settled(self, verdict: int) -> bool:
        """Whether a cycle can go on: it went well, or the programs do what was not settled, limits kept or not."""
        if verdict == kernels.UNSETTLED and not self.run():
            self.relax()
        return verdict in (kernels.WELL, kernels.UNSETTLED)

    def run(self) -> bool:
        """Keep all limits; False if that cannot be."""
        losses, levels = self.active.losses, int(self.active.state[STRICTLY])
        self.active.state[ACTIVE] = 0
        losses[:] = 0.0
        kernels.evaluate(*self.memory)
        level = levels - 1
        while not self._solve(level):
            losses[self._first(level) :] = 0.0
            level -= 1
            if level < 0:
                return False
        while level < levels - 1:
            level += 1
            found = losses.copy()
            losses[self._first(level) :] = 0.0
            if kernels.evaluate(*self.memory) and not self._solve(
                level
            ):  # by rounding: what was found keeps all limits
                losses[:] = found
                kernels.evaluate(*self.memory)
        self._guess()
        return True

    def relax(self) -> None:
        """Go where the limits are exceeded least, by the sum of squares."""
        active, first, last = self.active, self._first(0), int(self.active.state[LAST])
        active.losses[:] = 0.0
        kernels.evaluate(*self.memory)
        before = 0
        while active.state[LISTED] > before:
            before = int(active.state[LISTED])
            G, low, high = self._rows(first, 0.0)
            weights = np.concatenate([np.full(last - first, 1e-8), np.ones(before)])
            found = self.programs.solve(weights, np.hstack([G, -np.eye(before)]), low, high)
            if found is None:
                break
            active.losses[first:last] = found[: last - first]
            kernels.evaluate(*self.memory)

    # --- inside ------------------------------------------------------------------------------------

    def _first(self, level: int) -> int:
        return int(block_of(self.active, level)[0])

    def _solve(self, level: int) -> bool:
        """The program of one level, with more limits until no other is violated."""
        active, first, last = self.active, self._first(level), int(self.active.state[LAST])
        rank, levels = int(block_of(active, level)[1]), int(active.state[STRICTLY])
        if first == last:
            return False
        weights = np.zeros(last - first)
        weights[:rank] = active.measure[first : first + rank] ** -2.0
        margin = MARGIN * (1.0 - level / levels)
        for _ in range(ROUNDS):
            found = self.programs.solve_scaled(weights, *self._rows(first, margin))
            if found is None:
                return False
            active.losses[first:last] = found
            before = active.state[LISTED]
            if not kernels.evaluate(*self.memory):
                return True
            if active.state[LISTED] == before:
                return bool(self._excess() < margin)
        return False

    def _rows(self, first: int, margin: float) -> tuple[Array, Array, Array]:
        """Gradients and bounds of the limits that are listed, on the losses from one on, a margin inside."""
        active = self.active
        rows = active.listed[: active.state[LISTED]]
        begun = active.begun[rows] + active.gradients[rows, :first] @ active.losses[:first]
        lower, upper = active.lower[rows], active.upper[rows]
        inner = np.minimum(margin, 0.25 * (upper - lower))
        return active.gradients[rows, first : active.state[LAST]], lower + inner - begun, upper - inner - begun

    def _excess(self) -> float:
        active = self.active
        value, lower, upper = (each[: active.state[ROWS]] for each in (active.value, active.lower, active.upper))
        return float(np.maximum(lower - value, value - upper).max())

    def _guess(self) -> None:
        """Let the limits that are reached be active when the next cycle begins."""
        active = self.active
        rows = active.listed[: active.state[LISTED]]
        value, lower, upper = active.value[rows], active.lower[rows], active.upper[rows]
        near = rows[(value < lower + REACHED) | (value > upper - REACHED)][: len(active.row)]
        active.row[: len(near)] = near
        active.side[: len(near)] = np.where(active.value[near] < active.lower[near] + REACHED, 1, -1)
        active.state[ACTIVE] = len(near)
