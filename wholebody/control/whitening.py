"""The kernels of whitening: M = Lᵀ L, and columns and efforts seen through it."""

from __future__ import annotations

import math

from wholebody.model.compiled import compiled
from wholebody.model.layout import Array


@compiled
def factor(M: Array, L: Array) -> bool:
    """M = Lᵀ L, from the last joint inwards, which leaves the zeros between branches; False if M is not positive."""
    n = len(M)
    for i in range(n):
        for j in range(i + 1):
            L[i, j] = M[i, j]
    for k in range(n - 1, -1, -1):
        if not L[k, k] > 0.0:
            return False
        diagonal = math.sqrt(L[k, k])
        L[k, k] = diagonal
        inverse = 1.0 / diagonal
        for i in range(k):
            L[k, i] *= inverse
        for i in range(k):
            entry = L[k, i]
            if entry != 0.0:
                for j in range(i + 1):
                    L[i, j] -= entry * L[k, j]
    return True


@compiled
def whiten(L: Array, A: Array, h: Array) -> None:
    """A ← L⁻ᵀ A, h ← L⁻ᵀ h."""
    n, width = A.shape
    for k in range(n - 1, -1, -1):
        inverse = 1.0 / L[k, k]
        h[k] *= inverse
        for c in range(width):
            A[k, c] *= inverse
        for i in range(k):
            entry = L[k, i]
            if entry != 0.0:
                h[i] -= entry * h[k]
                for c in range(width):
                    A[i, c] -= entry * A[k, c]
