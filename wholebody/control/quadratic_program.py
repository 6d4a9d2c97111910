"""Quadratic programs of one level, min ½ dᵀ H d with low ≤ G d ≤ high, by piqp, in memory that is used again."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import piqp  # type: ignore[import-untyped]

from wholebody.model.layout import Array

FAR = 1e6
"""Bounds so much further away than the worst violation are none."""


NEARLY = 1e-7
"""Residuals that will do where rounding keeps a solver from better ones."""

HOLDS = (1e-10, 1e-8)
"""Weights of coordinates that have none, tried where a program does not converge without."""


class Programs:
    """Solvers for programs of up to some size; each size that occurs keeps its solver.

    A program that has no solution shows by not converging: with one, some ten iterations do.
    """

    KEPT = 64  # solvers
    ITERATIONS = 30

    def __init__(self, variables: int, rows: int, accuracy: float, gap: float) -> None:
        self.H, self.G = np.zeros(variables * variables), np.zeros(variables * rows)
        self.low, self.high = np.zeros(rows), np.zeros(rows)
        self.zero = np.zeros(variables)
        self.accuracy, self.gap = accuracy, gap
        self.solved = 0  # how many programs so far
        self.undecided = False  # whether the last one kept its bounds, but did not converge
        self._solvers: OrderedDict[tuple[int, int], piqp.DenseSolver] = OrderedDict()

    def solve(self, variables: int, rows: int) -> Array | None:
        """The solution of the program that stands in the memory; None if there is none.

        Twice the bounds have twice the solution: so it is solved for a violation of 1 at d = 0, whatever it is.
        """
        low, high = self.low[:rows], self.high[:rows]
        violation = max(float(low.max()), -float(high.min()))
        if violation <= 0.0:
            return np.zeros(variables)
        low /= violation
        high /= violation
        low[low < -FAR] = -np.inf
        high[high > FAR] = np.inf
        H = self.H[: variables * variables].reshape(variables, variables)
        G = self.G[: variables * rows].reshape(variables, rows).T
        found = self.solve_given(H, self.zero[:variables], G, low, high)
        for hold in HOLDS:  # held a little, coordinates without a weight of their own cannot drift off
            weight = H.ravel()[:: variables + 1]
            if found is None and self.undecided and weight.min() < hold:
                weight[weight < hold] = hold
                found = self.solve_given(H, self.zero[:variables], G, low, high)
        return None if found is None else found * violation

    def solve_given(self, H: Array, c: Array, G: Array, low: Array, high: Array) -> Array | None:
        """The solution of a program of its own."""
        self.solved += 1
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
        return np.asarray(solver.result.x)

    def _new(self) -> piqp.DenseSolver:
        solver = piqp.DenseSolver()
        settings = solver.settings
        settings.verbose = False
        settings.compute_timings = False
        settings.max_iter = self.ITERATIONS
        settings.eps_abs, settings.eps_rel = self.accuracy, self.accuracy
        settings.check_duality_gap = True
        settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = self.gap
        return solver
