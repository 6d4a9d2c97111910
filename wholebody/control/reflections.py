"""The kernels of columns: how long they are, which is the longest, and the reflection of one onto a single entry."""

from __future__ import annotations

from wholebody.model.compiled import compiled, inlined
from wholebody.model.layout import Array


@inlined
def longest(left: Array, first: int, end: int) -> int:
    """The column of which most is left."""
    best = first
    for c in range(first + 1, end):
        if left[c] > left[best]:
            best = c
    return best


@inlined
def length_of(A: Array, row: int, column: int) -> float:
    """The square of a column's length, from `row` down."""
    total = 0.0
    for i in range(row, len(A)):
        total += A[i, column] * A[i, column]
    return total


@inlined
def square(A: Array, w: Array, row: int, first: int, end: int) -> None:
    """The squares of the columns' lengths, from `row` down."""
    for c in range(first, end):
        w[c] = 0.0
    for i in range(row, len(A)):
        a = A[i]
        for c in range(first, end):
            w[c] += a[c] * a[c]


@compiled
def reflect(A: Array, w: Array, v: Array, row: int, column: int, length: float) -> None:
    """Reflect a column of that length, from `row` down, onto one entry, and all columns to its right alike.

    Columns are taken from a multiple of four on, four rows at once, which is what a processor does best; of those to
    the left, only what lies below their triangle changes, which nobody reads. Rows in which the column has nothing stay
    as they are: those of joints that do not move what it speaks of.
    """
    n, width = A.shape
    head = A[row, column]
    onto = -length if head > 0.0 else length
    v[row] = head - onto
    for i in range(row + 1, n):
        v[i] = A[i, column]
    beta = -1.0 / (onto * v[row])
    start = (column + 1) // 4 * 4
    for c in range(start, width):
        w[c] = 0.0
    i = row
    while i + 3 < n:
        a0, a1, a2, a3, v0, v1, v2, v3 = A[i], A[i + 1], A[i + 2], A[i + 3], v[i], v[i + 1], v[i + 2], v[i + 3]
        if v0 != 0.0 or v1 != 0.0 or v2 != 0.0 or v3 != 0.0:
            for c in range(start, width):
                w[c] += v0 * a0[c] + v1 * a1[c] + v2 * a2[c] + v3 * a3[c]
        i += 4
    while i < n:
        a0, v0 = A[i], v[i]
        for c in range(start, width):
            w[c] += v0 * a0[c]
        i += 1
    for i in range(row, n):
        a0, v0 = A[i], beta * v[i]
        if v0 != 0.0:
            for c in range(start, width):
                a0[c] -= v0 * w[c]
    A[row, column] = onto
