"""The kernel of normal equations: a small positive system, solved in place."""

from __future__ import annotations

import math

from wholebody.model.compiled import inlined
from wholebody.model.layout import Array


@inlined
def solve_by_cholesky(G: Array, y: Array, first: int, rank: int) -> None:
    """G x = y of `rank` numbers from `first` on, x in place of y; of G the lower triangle is read, and overwritten."""
    for i in range(rank):
        for j in range(i + 1):
            total = G[i, j]
            for k in range(j):
                total -= G[i, k] * G[j, k]
            G[i, j] = math.sqrt(total) if i == j else total / G[j, j]
    for i in range(rank):
        for k in range(i):
            y[first + i] -= G[i, k] * y[first + k]
        y[first + i] /= G[i, i]
    for i in range(rank - 1, -1, -1):
        for k in range(i + 1, rank):
            y[first + i] -= G[k, i] * y[first + k]
        y[first + i] /= G[i, i]
