"""Fallback: the least losses by quadratic programs, level by level, where the active limits could not be told at once.

Without losses, every level has what it wants. Some level is the first to lose something. Which one that is, is tried
out from the last level up: a level's program asks for its least loss with the levels above as they are. If it has no
solution, the level above it loses too. Then come the programs of the levels below, one by one.

A program has only those limits that seem to matter; if its solution violates others, they are added and it is solved
again. What is found is good to about 1e-7; the limits that it has reached are a guess for the next cycle.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import piqp  # type: ignore[import-untyped]

from wholebody import _kernels
from wholebody.control.quadratic.memory import Memory
from wholebody.model.layout import Array, Integers

MARGIN = 1e-6
"""How far inside its limits the program of the uppermost level stays; those below have ever more room."""

REACHED = 1e-5
ACCURACY = 1e-9
ROUNDS = 20


class Fallback:
    """The programs of one problem, in the memory of its kernels."""

    def __init__(self, handle: _kernels.Quadratic, memory: Memory) -> None:
        self._handle, self._memory, self._shared = handle, memory, memory.shared
        self._programs = Programs(ACCURACY)

    def settle(self) -> None:
        """Keep all limits; where that cannot be, go where they are exceeded least."""
        if not self.run():
            self.relax()

    def run(self) -> bool:
        """Keep all limits; False if that cannot be."""
        losses, levels = self._shared.losses, self._memory.count("strict")
        self._memory.forget_active()
        losses[:] = 0.0
        self._evaluate()
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
            if self._evaluate() and not self._solve(level):  # by rounding: what was found keeps all limits
                losses[:] = found
                self._evaluate()
        self._guess()
        return True

    def relax(self) -> None:
        """Go where the limits are exceeded least, by the sum of squares."""
        losses, first, last = self._shared.losses, self._first(0), self._memory.count("last")
        losses[:] = 0.0
        self._evaluate()
        before = 0
        while self._memory.count("listed") > before:
            before = self._memory.count("listed")
            G, low, high = self._rows(first, 0.0)
            weights = np.concatenate([np.full(last - first, 1e-8), np.ones(before)])
            found = self._programs.solve(weights, np.hstack([G, -np.eye(before)]), low, high)
            if found is None:
                break
            losses[first:last] = found[: last - first]
            self._evaluate()

    # --- inside ------------------------------------------------------------------------------------

    def _evaluate(self) -> bool:
        """Go where the losses say; whether limits are violated there. Those are listed, with their gradients."""
        return _kernels.quadratic_evaluate(self._handle)

    def _first(self, level: int) -> int:
        return int(self._shared.first_loss[level])

    def _solve(self, level: int) -> bool:
        """The program of one level, with more limits until no other is violated."""
        losses, first, last = self._shared.losses, self._first(level), self._memory.count("last")
        end, levels = self._first(level + 1), self._memory.count("strict")
        if first == last:
            return False
        weights = np.zeros(last - first)
        weights[: end - first] = self._shared.measure[first:end] ** -2.0
        margin = MARGIN * (1.0 - level / levels)
        for _ in range(ROUNDS):
            found = self._programs.solve_scaled(weights, *self._rows(first, margin))
            if found is None:
                return False
            losses[first:last] = found
            before = self._memory.count("listed")
            if not self._evaluate():
                return True
            if self._memory.count("listed") == before:
                return self._excess() < margin
        return False

    def _listed(self) -> Integers:
        return self._shared.listed[: self._memory.count("listed")]

    def _rows(self, first: int, margin: float) -> tuple[Array, Array, Array]:
        """Gradients and bounds of the limits that are listed, on the losses from one on, a margin inside."""
        rows, memory = self._listed(), self._memory
        gradients = self._shared.gradients[rows]
        begun = memory.begun[rows] + gradients[:, :first] @ self._shared.losses[:first]
        lower, upper = memory.lower[rows], memory.upper[rows]
        inner = np.minimum(margin, 0.25 * (upper - lower))
        return gradients[:, first : memory.count("last")], lower + inner - begun, upper - inner - begun

    def _excess(self) -> float:
        value, _, lower, upper, _ = self._shared.limits[:, : self._memory.count("rows")]
        return float(np.maximum(lower - value, value - upper).max())

    def _guess(self) -> None:
        """Let the limits that are reached be active when the next cycle begins."""
        rows, memory, shared = self._listed(), self._memory, self._shared
        value, lower, upper = memory.value[rows], memory.lower[rows], memory.upper[rows]
        near = rows[(value < lower + REACHED) | (value > upper - REACHED)][: len(shared.active)]
        shared.active[: len(near)] = near
        shared.sides[: len(near)] = np.where(memory.value[near] < memory.lower[near] + REACHED, 1, -1)
        memory.keep_active(len(near))


FAR = 1e6
"""Bounds so much further away than the worst violation are none."""

NEARLY = 1e-7
"""Residuals that will do where rounding keeps a solver from better ones."""

HOLDS = (1e-10, 1e-8)
"""Weights of coordinates that have none, tried where a program does not converge without."""


class Programs:
    """Solvers for programs; each size that occurs keeps its solver.

    A program that has no solution shows by not converging: with one, some ten iterations do.
    """

    KEPT = 64  # solvers
    ITERATIONS = 30

    def __init__(self, accuracy: float) -> None:
        self.accuracy = accuracy
        self.undecided = False  # whether the last one kept its bounds, but did not converge
        self._solvers: OrderedDict[tuple[int, int], piqp.DenseSolver] = OrderedDict()

    def solve_scaled(self, weights: Array, G: Array, low: Array, high: Array) -> Array | None:
        """The solution for a violation of 1 at d = 0, made as great as it is; None if there is none.

        Twice the bounds have twice the solution.
        """
        violation = max(float(low.max()), -float(high.min()))
        if violation <= 0.0:
            return np.zeros(len(weights))
        low, high = low / violation, high / violation
        low[low < -FAR] = -np.inf
        high[high > FAR] = np.inf
        found = self.solve(weights, G, low, high)
        for hold in HOLDS:  # held a little, coordinates without a weight of their own cannot drift off
            if found is None and self.undecided and weights.min() < hold:
                found = self.solve(np.maximum(weights, hold), G, low, high)
        return None if found is None else found * violation

    def solve(self, weights: Array, G: Array, low: Array, high: Array) -> Array | None:
        """The solution of a program."""
        H, c, G = np.diag(weights), np.zeros(len(weights)), np.asfortranarray(G)
        solver = self._solvers.get(G.shape)
        if solver is None:
            solver = self._new()
            solver.setup(H, c, None, None, G, low, high)
            self._solvers[G.shape] = solver
            if len(self._solvers) > self.KEPT:
                self._solvers.popitem(last=False)
        else:
            solver.update(H, c, None, None, G, low, high)
        status, info = solver.solve(), solver.result.info
        self.undecided = info.primal_res < NEARLY
        nearly = info.primal_res < NEARLY and info.dual_res < NEARLY and info.duality_gap < 100 * NEARLY
        if status != piqp.PIQP_SOLVED and not nearly:
            return None
        return np.array(solver.result.x)

    def _new(self) -> piqp.DenseSolver:
        solver = piqp.DenseSolver()
        settings = solver.settings
        settings.verbose = False
        settings.compute_timings = False
        settings.max_iter = self.ITERATIONS
        settings.eps_abs, settings.eps_rel = self.accuracy, self.accuracy
        settings.check_duality_gap = True
        settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = self.accuracy
        return solver
