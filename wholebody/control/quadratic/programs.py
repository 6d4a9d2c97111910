"""Quadratic programs with a diagonal weight, min ½ dᵀ W d with low ≤ G d ≤ high, by piqp."""

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
