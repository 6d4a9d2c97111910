"""The Householder chain: least squares in strict levels, each in what the levels before it leave.

Unknown is y ∈ Rⁿ. A level asks for aᵢᵀ y = rᵢ with the columns aᵢ of a wide matrix A that has all levels side by side.
Reflections make the columns of a level upper triangular in the rows nobody has used, and are applied to all columns to
the right at once; so each level solves a triangular system in the rows it takes, and the rows below are the next one's.
Of all solutions the shortest is taken: what no level asks for is zero.

A level whose columns depend on each other, or on those above, is solved as its truncated pseudo-inverse: eigenvalues of
ÂᵀÂ (Λ⁻¹ in operational space) up to `least` count as zero, and their directions are left to the levels below.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from wholebody.control.cholesky import solve_by_cholesky
from wholebody.control.reflections import length_of, longest, reflect, square
from wholebody.model.compiled import compiled, inlined
from wholebody.model.layout import Array

BLOCK = 4
"""Columns are padded with zeros to a multiple of this, which a processor takes at once."""

ROUNDED = 1e-6
"""The share of the longest column from which on downwards lengths are measured again rather than reckoned."""

NOTHING = 1e-24
"""The square of the relative length below which a column is rounding."""


class Chain(NamedTuple):
    """The memory of one chain, and how far it has come."""

    A: Array  # n × all columns, and columns of zeros up to a multiple of BLOCK
    wanted: Array  # right-hand side of each column
    size: Array  # square of each column's length before anything is done to it
    left: Array  # what is left of that in the rows that nobody has used
    y: Array  # n
    reflections: Array  # each a row of n: zeros, then a vector v with (1 − β v vᵀ)
    strength: Array  # β of each
    w: Array  # memory: all columns
    R: Array  # memory: n × n
    begun: Array  # memory: where each reflection begins
    lost: Array  # one number: the greatest eigenvalue that the last level truncated, if it is more than rounding


@inlined
def start(chain: Chain) -> None:
    """Measure the columns, and forget what was."""
    A, size = chain.A, chain.size
    n, width = A.shape
    for c in range(width):
        size[c] = 0.0
    for i in range(n):
        for c in range(width):
            size[c] += A[i, c] * A[i, c]
    for i in range(n):
        chain.y[i] = 0.0


@compiled
def solve_level(
    chain: Chain, first: int, count: int, used: int, reflected: int, tolerance: float, least: float = 0.0
) -> tuple[int, int]:
    """Solve one level of `count` columns; how many rows and reflections are used now.

    Eigenvalues are truncated up to a share of the longest column's, or up to `least` if that is more.
    """
    A, wanted, y = chain.A, chain.wanted, chain.y
    chain.lost[0] = 0.0
    n = A.shape[0]
    end = first + count
    if used == n or count == 0:
        return used, reflected
    for i in range(used):
        known = y[i]
        if known != 0.0:
            for c in range(first, end):
                wanted[c] -= A[i, c] * known
    scale = 0.0
    for c in range(first, end):
        scale = max(scale, chain.size[c])
    rank, reflected = _triangularise(chain, first, end, used, reflected, NOTHING * scale)
    if rank == 0:
        return used, reflected
    nothing = tolerance * scale
    least = max(least, nothing)
    if _is_regular(chain, first, rank, used, least):
        if rank == count:
            _substitute(chain, first, rank, used)
        else:
            _least_squares(chain, first, count, rank, used)
        return used + rank, reflected
    used, reflected = _truncate(chain, first, count, rank, used, reflected, least)
    if not chain.lost[0] > nothing:
        chain.lost[0] = 0.0
    return used, reflected


@inlined
def _triangularise(chain: Chain, first: int, end: int, used: int, reflected: int, limit: float) -> tuple[int, int]:
    """Reflect the level's columns into a triangle, the longest first, until the rest is rounding.

    What is left of each column's length is what there was less the entry that each reflection makes; where that is
    hardly more than rounding, all are measured again.
    """
    A, wanted, w, left = chain.A, chain.wanted, chain.w, chain.left
    n = A.shape[0]
    rank, most = 0, 0.0
    while rank < min(end - first, n - used):
        row, column = used + rank, first + rank
        best = longest(left, column, end) if rank > 0 else column
        if not left[best] > ROUNDED * most or rank == 0:
            square(A, left, row, column, end)
            best = longest(left, column, end)
            most = left[best]
        length = length_of(A, row, best)
        if not length > limit:
            break
        if best != column:
            for i in range(used, n):
                A[i, column], A[i, best] = A[i, best], A[i, column]
            wanted[column], wanted[best] = wanted[best], wanted[column]
            left[best] = left[column]
        reflect(A, w, chain.reflections[reflected], row, column, math.sqrt(length))
        for c in range(column + 1, end):
            left[c] -= A[row, c] * A[row, c]
        v = chain.reflections[reflected]
        chain.strength[reflected] = -1.0 / (A[row, column] * v[row])
        chain.begun[reflected] = row
        reflected += 1
        rank += 1
    return rank, reflected


@inlined
def measure_left(chain: Chain, first: int, end: int, used: int) -> None:
    """Measure what is left of columns in the rows that nobody has used."""
    square(chain.A, chain.left, used, first, end)


@inlined
def _is_regular(chain: Chain, first: int, rank: int, used: int, least: float) -> bool:
    """Whether all eigenvalues of Rᵀ R are above a value: surely so if 1 / ‖R⁻¹‖² is."""
    A, T = chain.A, chain.R
    total = 0.0
    for i in range(rank - 1, -1, -1):
        diagonal = 1.0 / A[used + i, first + i]
        for j in range(i + 1, rank):
            T[i, j] = 0.0
        for k in range(i + 1, rank):
            r = A[used + i, first + k] * diagonal
            for j in range(k, rank):
                T[i, j] -= r * T[k, j]
        T[i, i] = diagonal
        for j in range(i, rank):
            total += T[i, j] * T[i, j]
    return total * least < 1.0


@inlined
def _substitute(chain: Chain, first: int, rank: int, used: int) -> None:
    """Rᵀ y = wanted."""
    A, wanted, y = chain.A, chain.wanted, chain.y
    for i in range(rank):
        known = wanted[first + i] / A[used + i, first + i]
        y[used + i] = known
        for c in range(i + 1, rank):
            wanted[first + c] -= A[used + i, first + c] * known


@inlined
def _gram(chain: Chain, first: int, count: int, rank: int, used: int) -> None:
    """G = R Rᵀ, R of the level with all its columns, and y = R wanted."""
    A, G = chain.A, chain.R
    for i in range(rank):
        for j in range(i + 1):
            total = 0.0
            for c in range(first + i, first + count):
                total += A[used + i, c] * A[used + j, c]
            G[i, j] = total
        total = 0.0
        for c in range(first + i, first + count):
            total += A[used + i, c] * chain.wanted[c]
        chain.y[used + i] = total


@inlined
def _least_squares(chain: Chain, first: int, count: int, rank: int, used: int) -> None:
    """More columns than rank: R Rᵀ y = R wanted."""
    _gram(chain, first, count, rank, used)
    solve_by_cholesky(chain.R, chain.y, used, rank)


@compiled
def _truncate(
    chain: Chain, first: int, count: int, rank: int, used: int, reflected: int, least: float
) -> tuple[int, int]:
    """Near a singularity: keep directions with eigenvalues above `least`, and turn the rows so that they come first."""
    _gram(chain, first, count, rank, used)
    values, vectors = np.linalg.eigh(chain.R[:rank, :rank].copy())
    kept = 0
    while kept < rank and values[rank - 1 - kept] > least:
        kept += 1
    if kept < rank:
        chain.lost[0] = max(values[rank - 1 - kept], 0.0)
    y, A = chain.y, chain.A
    n = A.shape[0]
    target = y[used : used + rank].copy()
    for i in range(rank):
        y[used + i] = 0.0
    for k in range(kept):
        axis = vectors[:, rank - 1 - k]
        y[used + k] = 0.0
        for i in range(rank):
            y[used + k] += axis[i] * target[i]
        y[used + k] /= values[rank - 1 - k]
    # Reflections that turn the kept axes into the first rows, one after the other; each axis may lose its sign.
    for k in range(kept):
        axis = vectors[:, rank - 1 - k].copy()
        for m in range(k):
            v = chain.reflections[reflected - k + m]
            along = 0.0
            for i in range(rank):
                along += v[used + i] * axis[i]
            for i in range(rank):
                axis[i] -= chain.strength[reflected - k + m] * along * v[used + i]
        v = chain.reflections[reflected]
        for i in range(n):
            v[i] = 0.0
        onto = -1.0 if axis[k] > 0.0 else 1.0
        for i in range(k, rank):
            v[used + i] = axis[i]
        v[used + k] -= onto
        beta = -1.0 / (onto * v[used + k])
        chain.strength[reflected], chain.begun[reflected] = beta, used + k
        y[used + k] *= onto
        _mirror_columns(chain, first + count, used + k, used + rank, v, beta)
        reflected += 1
    return used + kept, reflected


@compiled
def _mirror_columns(chain: Chain, first: int, top: int, bottom: int, v: Array, beta: float) -> None:
    A, w = chain.A, chain.w
    width = A.shape[1]
    for c in range(first, width):
        w[c] = 0.0
    for i in range(top, bottom):
        for c in range(first, width):
            w[c] += v[i] * A[i, c]
    for i in range(top, bottom):
        for c in range(first, width):
            A[i, c] -= beta * v[i] * w[c]


@compiled
def unreflect(chain: Chain, reflected: int) -> None:
    """From the rows of the chain back to the unknown itself: y ← Q y."""
    y = chain.y
    n = len(y)
    for index in range(reflected - 1, -1, -1):
        v, row = chain.reflections[index], int(chain.begun[index])
        along = 0.0
        for i in range(row, n):
            along += v[i] * y[i]
        along *= chain.strength[index]
        if along != 0.0:
            for i in range(row, n):
                y[i] -= along * v[i]
