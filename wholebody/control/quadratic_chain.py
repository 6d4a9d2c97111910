"""A chain of levels that keeps its factors, so that a level can be solved again when values above it have changed.

Unknown is x ∈ Rⁿ, and a level asks for aᵢᵀ x = rᵢ with its columns aᵢ of A. Householder reflections turn x into
coordinates y = Qᵀ x in which each level decides a block of its own: the levels above it have the numbers before, and
whatever they do, the numbers after are free for the levels below. So with inequalities only y changes, never Q.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from wholebody.model.compiled import compiled
from wholebody.model.cut import cut
from wholebody.model.layout import Array, Integers

NOTHING = 1e-24
"""The square of the relative length below which a column is rounding."""


class Chain(NamedTuple):
    """The memory of one chain; reflection i begins at row i."""

    A: Array  # n × columns
    target: Array  # right-hand side of each column
    y: Array  # n
    reflections: Array  # n × n
    strength: Array  # n: β of each reflection 1 − β v vᵀ
    w: Array  # memory: columns
    z: Array  # memory: n
    G: Array  # n × n: C of each level, with C Cᵀ = R Rᵀ
    origin: Integers  # which column this was, before columns changed places


@compiled
def chain_size(n: int, columns: int) -> int:
    """How many numbers a chain takes."""
    return n * columns + 2 * columns + 3 * n + 2 * n * n


@compiled
def chain_at(numbers: Array, at: int, origin: Integers, origin_at: int, n: int, columns: int) -> Chain:
    """Carve a chain."""
    b = at + n * columns
    c = b + 2 * columns + 3 * n
    return Chain(
        A=cut(numbers, at, (n, columns)),
        target=cut(numbers, b, (columns,)),
        y=cut(numbers, b + 2 * columns, (n,)),
        reflections=cut(numbers, c, (n, n)),
        strength=cut(numbers, b + 2 * columns + n, (n,)),
        w=cut(numbers, b + columns, (columns,)),
        z=cut(numbers, b + 2 * columns + 2 * n, (n,)),
        G=cut(numbers, c + n * n, (n, n)),
        origin=cut(origin, origin_at, (columns,)),
    )


@compiled
def factor_level(chain: Chain, first: int, end: int, width: int, used: int, tolerance: float) -> int:
    """Reflect columns first … end into a triangle from row `used` on, the longest first; how many rows that takes.

    Columns whose rest is below a share of the longest one are as good as dependent: what they ask for is left to the
    levels below.
    """
    A, w = chain.A, chain.w
    n = len(chain.y)
    scale = 0.0
    for c in range(first, end):
        w[c] = 0.0
    for i in range(n):
        for c in range(first, end):
            w[c] += A[i, c] * A[i, c]
    for c in range(first, end):
        scale = max(scale, w[c])
    limit = max(tolerance, NOTHING) * scale
    rank = 0
    while rank < min(end - first, n - used):
        row, column = used + rank, first + rank
        for c in range(column, end):
            w[c] = 0.0
        for i in range(row, n):
            for c in range(column, end):
                w[c] += A[i, c] * A[i, c]
        best = column
        for c in range(column + 1, end):
            if w[c] > w[best]:
                best = c
        if not w[best] > limit:
            break
        if best != column:
            _swap(chain, column, best)
        _reflect(chain, row, column, width, math.sqrt(w[column] if best == column else w[best]))
        rank += 1
    return rank


@compiled
def _swap(chain: Chain, a: int, b: int) -> None:
    """Let two columns change places."""
    A, target, origin = chain.A, chain.target, chain.origin
    for i in range(len(chain.y)):
        A[i, a], A[i, b] = A[i, b], A[i, a]
    target[a], target[b] = target[b], target[a]
    origin[a], origin[b] = origin[b], origin[a]


@compiled
def _reflect(chain: Chain, row: int, column: int, width: int, length: float) -> None:
    """Reflect a column of that length, from `row` down, onto one entry, and all columns to its right alike.

    Rows in which the column has nothing stay as they are: those of joints that do not move what it speaks of.
    """
    A, w, v = chain.A, chain.w, chain.reflections[row]
    n = len(chain.y)
    head = A[row, column]
    onto = -length if head > 0.0 else length
    for i in range(row):
        v[i] = 0.0
    v[row] = head - onto
    for i in range(row + 1, n):
        v[i] = A[i, column]
        A[i, column] = 0.0
    beta = -1.0 / (onto * v[row])
    chain.strength[row] = beta
    A[row, column] = onto
    for c in range(column + 1, width):
        w[c] = 0.0
    for i in range(row, n):
        vi = v[i]
        if vi != 0.0:
            for c in range(column + 1, width):
                w[c] += vi * A[i, c]
    for i in range(row, n):
        vi = beta * v[i]
        if vi != 0.0:
            for c in range(column + 1, width):
                A[i, c] -= vi * w[c]


@compiled
def solve_level(chain: Chain, first: int, count: int, used: int, rank: int, loss: Array) -> None:
    """The numbers of y that a level decides, by least squares, with those above as they are, and a loss e to bear.

    R Rᵀ y = R (r − what is above) + C e with C Cᵀ = R Rᵀ: the least squares of its rows grow by ‖e‖². C stands in G
    where R stands in A; of a level without dependent columns, C = R.
    """
    A, y, w, C = chain.A, chain.y, chain.w, chain.G
    for c in range(first, first + count):
        w[c] = chain.target[c]
    for i in range(used):
        known = y[i]
        if known != 0.0:
            for c in range(first, first + count):
                w[c] -= A[i, c] * known
    if rank == count:
        for i in range(rank):
            known = (w[first + i] + loss[i]) / A[used + i, first + i]
            y[used + i] = known
            for c in range(i + 1, rank):
                w[first + c] -= A[used + i, first + c] * known
        return
    for i in range(rank):
        total = 0.0
        for c in range(first + i, first + count):
            total += A[used + i, c] * w[c]
        y[used + i] = total
    for i in range(used, used + rank):
        for k in range(used, i):
            y[i] -= C[i, k] * y[k]
        y[i] /= C[i, i]
    for i in range(used + rank - 1, used - 1, -1):
        y[i] += loss[i - used]
        for k in range(i + 1, used + rank):
            y[i] -= C[k, i] * y[k]
        y[i] /= C[i, i]


@compiled
def factor_gram(chain: Chain, first: int, count: int, used: int, rank: int) -> None:
    """C Cᵀ = R Rᵀ of a level: how much its numbers weigh in its rows. Nothing to do where R is square."""
    A, C = chain.A, chain.G
    if rank == count:
        return
    for i in range(rank):
        for j in range(i + 1):
            total = 0.0
            for c in range(first + i, first + count):
                total += A[used + i, c] * A[used + j, c]
            for k in range(used, used + j):
                total -= C[used + i, k] * C[used + j, k]
            C[used + i, used + j] = math.sqrt(total) if i == j else total / C[used + j, used + j]


@compiled
def turn_to_losses(chain: Chain, first: int, count: int, used: int, rank: int, g: Array) -> None:
    """Of a gradient g in the numbers of y: make it one in the losses of a level, and in the numbers above it.

    With y = C⁻ᵀ e − (R Rᵀ)⁻¹ R Aᵀ y_above, it has C⁻¹ g on e, and −A w on what is above, w = Rᵀ (R Rᵀ)⁻¹ g, which stays
    in the memory of the chain.
    """
    A, w = chain.A, chain.w
    if rank == count:
        for i in range(rank - 1, -1, -1):
            total = g[used + i]
            for c in range(i + 1, rank):
                total -= A[used + i, first + c] * w[first + c]
            g[used + i] = w[first + i] = total / A[used + i, first + i]
    else:
        _weights_of_columns(chain, first, count, used, rank, g)
    for i in range(used):
        total = 0.0
        for c in range(first, first + count):
            total += A[i, c] * w[c]
        g[i] -= total


@compiled
def _weights_of_columns(chain: Chain, first: int, count: int, used: int, rank: int, g: Array) -> None:
    """g ← C⁻¹ g of a level, and w = Rᵀ C⁻ᵀ g."""
    A, w, z, C = chain.A, chain.w, chain.z, chain.G
    for i in range(used, used + rank):
        for k in range(used, i):
            g[i] -= C[i, k] * g[k]
        g[i] /= C[i, i]
    for c in range(first, first + count):
        w[c] = 0.0
    for i in range(rank - 1, -1, -1):
        total = g[used + i]
        for k in range(i + 1, rank):
            total -= C[used + k, used + i] * z[k]
        z[i] = total / C[used + i, used + i]
        for c in range(first + i, first + count):
            w[c] += A[used + i, c] * z[i]


@compiled
def rotate(chain: Chain, reflected: int, x: Array) -> None:
    """x ← Qᵀ x."""
    n = len(x)
    for k in range(reflected):
        v = chain.reflections[k]
        along = 0.0
        for i in range(k, n):
            along += v[i] * x[i]
        along *= chain.strength[k]
        for i in range(k, n):
            x[i] -= along * v[i]


@compiled
def unrotate(chain: Chain, reflected: int, x: Array) -> None:
    """x ← Q x."""
    n = len(x)
    for k in range(reflected - 1, -1, -1):
        v = chain.reflections[k]
        along = 0.0
        for i in range(k, n):
            along += v[i] * x[i]
        along *= chain.strength[k]
        for i in range(k, n):
            x[i] -= along * v[i]
