"""The kernels of the controller with inequalities: levels, what they leave free, and every limit as a row.

As in `kernels`, u = L⁻ᵀ (M v̇ + h) is the whitened effort, M = Lᵀ L; with it goes λ, the forces of the constraints. In
rotated coordinates, those of u and then those of λ, every level decides a block of its own:

    constraints, what nothing pushes     decided once and for all
    tasks on motion, level by level      Xᵀ u = ẍ* − J̇ v + Xᵀ L⁻ᵀ h
    the rest of u                        u = 0
    what joints without a motor need     S̄ Jcᵀ λ = S̄ Lᵀ u: follows from u
    tasks on forces, level by level      F λ = target
    the rest of λ                        τ = S (Lᵀ u − Jcᵀ λ) as small as possible

A limit is a row on all of these; its gradient in the rotated coordinates is computed only when the row is needed.
"""

from __future__ import annotations

import math

from wholebody.control.memory import carve
from wholebody.control.quadratic_chain import gram, solve_level, unrotate
from wholebody.control.quadratic_levels import NOT_FINITE, NOT_POSITIVE, WELL, factor_levels
from wholebody.control.quadratic_memory import (
    FIRST,
    FORCE,
    HELD,
    LEVEL,
    LEVELS,
    MOTION,
    PAIRS,
    PERIOD,
    PRESSED,
    PUSHED,
    REST,
    ROTATED,
    ROWS,
    TURNED,
    WIDTH,
    All,
    open_all,
)
from wholebody.control.quadratic_rows import fill_contact_rows, fill_gradient, fill_limits
from wholebody.model.compiled import compiled
from wholebody.model.cut import cut
from wholebody.model.layout import Array, Integers, values

__all__ = [
    "NOT_FINITE",
    "NOT_POSITIVE",
    "WELL",
    "begin",
    "complete_from",
    "evaluate_again",
    "finish",
    "list_violated",
    "residuals",
    "take_step",
    "write_program",
]


@compiled
def begin(
    integers: Integers,
    numbers: Array,
    storage: Array,
    table: Integers,
    own: Array,
    settings: Array,
    weights: Array,
    contacts: Integers,
    bearing: Array,
    beyond: Integers,
    work_numbers: Array,
    counts: Integers,
    output: Array,
) -> int:
    """Factor all levels, write down all limits, and solve without them."""
    now, a = values(integers, storage), open_all(integers, table, beyond, work_numbers, counts)
    verdict = factor_levels(integers, numbers, now, table, own, settings, weights, a, work_numbers, output)
    if verdict != WELL:
        return verdict
    fill_contact_rows(now, a, table, contacts, bearing)
    fill_limits(now, a, settings, bearing, contacts)
    return _complete(a, 0)


@compiled
def _complete(a: All, level: int) -> int:
    """Solve all levels from one on as if there were no limits, with those above as they are; then evaluate all rows."""
    work = a.work
    moved = False
    for index in range(level, work.state[LEVELS]):
        i = LEVEL * index
        kind, first, count = work.levels[i], work.levels[i + 1], work.levels[i + 2]
        at, rank = work.levels[i + 3], work.levels[i + 4]
        if kind == MOTION:
            solve_level(a.motion, first, count, at, rank)
        elif kind == REST:
            for k in range(at, at + rank):
                a.motion.y[k] = 0.0
        else:
            if not moved:
                _move(a)
                moved = True
            solve_level(a.force, first, count, at, rank)
    if not moved:
        _move(a)
    for c in range(work.state[TURNED], work.state[HELD]):
        a.force.y[c] = 0.0
    return _evaluate(a)


@compiled
def _move(a: All) -> None:
    """From rotated coordinates of u to f = Lᵀ u, and to that part of λ which follows from it."""
    u, f, L, n = a.work.spare, a.work.f, a.memory.L, a.n
    for i in range(n):
        u[i] = a.motion.y[i]
        f[i] = 0.0
    unrotate(a.motion, a.work.state[ROTATED], cut(u, 0, (n,)))
    for k in range(n):
        for i in range(k + 1):
            f[i] += L[k, i] * u[k]
    chain, pushed = a.force, a.work.state[PUSHED]
    passive, pressed = a.sizes.passive, a.work.state[PRESSED]
    for c in range(pushed):
        total = f[a.passive[chain.origin[c]]]
        for i in range(c):
            total -= chain.A[i, c] * chain.y[i]
        chain.y[c] = total / chain.A[c, c]
    for c in range(passive + pressed, passive + pressed + a.sizes.driven):
        chain.target[c] = f[a.driven[chain.origin[c] - passive - pressed]]


@compiled
def _evaluate(a: All) -> int:
    """All rows of limits, after `_move`; NOT_FINITE if one is no number."""
    work, n, L, memory = a.work, a.n, a.memory.L, a.memory
    held = work.state[HELD]
    u, value, joints = work.spare, work.value, a.joints
    acceleration = memory.efforts
    for k in range(n):
        total = u[k] - memory.h[k]
        for i in range(k):
            total -= L[k, i] * acceleration[i]
        acceleration[k] = total / L[k, k]
    force = work.zeta
    for c in range(held):
        force[c] = a.force.y[c]
    unrotate(a.force, min(work.state[TURNED], held), cut(force, 0, (held,)))
    base = n - joints
    for i in range(joints):
        value[i] = acceleration[base + i] / work.scale[i]
    row = joints
    for k in range(len(a.driven)):
        j = a.driven[k]
        total = work.f[j]
        for c in range(held):
            total -= work.K[j, c] * force[c]
        value[row] = total / work.scale[row]
        row += 1
    for r in range(work.contact.shape[0]):
        total = 0.0
        for c in range(held):
            total += work.contact[r, c] * force[c]
        value[row] = total / work.scale[row]
        row += 1
    for r in range(work.state[PAIRS]):
        total = 0.0
        for i in range(n):
            total += work.pairs[r, i] * acceleration[i]
        value[row] = total / work.scale[row]
        row += 1
    total = 0.0
    for r in range(row):
        total += value[r]
    return WELL if math.isfinite(total) else NOT_FINITE


@compiled
def list_violated(
    integers: Integers,
    table: Integers,
    beyond: Integers,
    numbers: Array,
    counts: Integers,
    listed: int,
    margin: float,
) -> tuple[int, int]:
    """Add to the list the rows that are violated; how many are, and how many are listed now."""
    a = open_all(integers, table, beyond, numbers, counts)
    work, violated = a.work, 0
    for row in range(work.state[ROWS]):
        low, high = _narrowed(work.lower[row], work.upper[row], margin)
        if work.value[row] < low or work.value[row] > high:
            violated += 1
            if work.listed[row] == 0:
                work.listed[row] = 1
                work.kept[listed] = row
                listed += 1
    return violated, listed


@compiled
def _narrowed(low: float, high: float, margin: float) -> tuple[float, float]:
    """Bounds with a margin, as far as there is room."""
    inner = min(margin, 0.25 * (high - low))
    return low + inner, high - inner


@compiled
def write_program(
    integers: Integers,
    table: Integers,
    beyond: Integers,
    numbers: Array,
    counts: Integers,
    level: int,
    listed: int,
    margin: float,
    regularisation: float,
    H: Array,
    G: Array,
    low: Array,
    high: Array,
    fresh: bool,
) -> None:
    """The program of one level, in steps d from here: min ‖Rᵀ d‖² with lower ≤ value + g·d ≤ upper.

    In e = Cᵀ d with C Cᵀ = R Rᵀ that is min ‖e‖², in units of the level's tasks; the coordinates of the levels below
    have next to no weight. H is flat, n × n; G flat, by columns of the program's matrix, listed × n.
    """
    a = open_all(integers, table, beyond, numbers, counts)
    work = a.work
    start, size = _span(a, level)
    if fresh:
        for i in range(a.n):
            work.base[i] = a.motion.y[i]
        for c in range(work.state[HELD] - work.state[PUSHED]):
            work.base[a.n + c] = a.force.y[work.state[PUSHED] + c]
        for row in range(work.state[ROWS]):
            work.begun[row] = work.value[row]
        _factor_block(a, level)
        for i in range(size * size):
            H[i] = 0.0
        rank = work.levels[LEVEL * level + 4]
        for r in range(size):
            H[r * size + r] = 1.0 if r < rank else regularisation
    C, rank = _block(a, level)
    for k in range(listed):
        row = work.kept[k]
        if work.known[row] == 0:
            fill_gradient(a, row)
        for i in range(size):
            entry = work.gradients[row, start + i]
            if i < rank:
                for j in range(i):
                    entry -= C[i, j] * G[j * listed + k]
                entry /= C[i, i]
            G[i * listed + k] = entry
        low[k], high[k] = _narrowed(work.lower[row], work.upper[row], margin)
        low[k] -= work.begun[row]
        high[k] -= work.begun[row]


@compiled
def _block(a: All, level: int) -> tuple[Array, int]:
    """C of a level, and its rank."""
    i = LEVEL * level
    return (a.force.G if a.work.levels[i] == FORCE else a.motion.G), a.work.levels[i + 4]


@compiled
def _factor_block(a: All, level: int) -> None:
    """C Cᵀ = R Rᵀ of a level; 1 for what no task asks about."""
    i = LEVEL * level
    C, rank = _block(a, level)
    if a.work.levels[i] == REST:
        for r in range(rank):
            for c in range(r):
                C[r, c] = 0.0
            C[r, r] = 1.0
        return
    chain = a.force if a.work.levels[i] == FORCE else a.motion
    gram(chain, a.work.levels[i + 1], a.work.levels[i + 2], a.work.levels[i + 3], rank)
    for r in range(rank):
        for c in range(r + 1):
            total = C[r, c]
            for k in range(c):
                total -= C[r, k] * C[c, k]
            C[r, c] = math.sqrt(total) if r == c else total / C[c, c]


@compiled
def _span(a: All, level: int) -> tuple[int, int]:
    """Where in the rotated coordinates a level begins, and how many there are from there on."""
    work = a.work
    at = work.levels[LEVEL * level + 3]
    if work.levels[LEVEL * level] == FORCE:
        at += a.n - work.state[PUSHED]
    return at, a.n + work.state[HELD] - work.state[PUSHED] - at


@compiled
def take_step(
    integers: Integers, table: Integers, beyond: Integers, numbers: Array, counts: Integers, level: int, d: Array
) -> int:
    """Go where a program says, and evaluate all rows there; e becomes d."""
    a = open_all(integers, table, beyond, numbers, counts)
    work = a.work
    start, size = _span(a, level)
    C, rank = _block(a, level)
    total = 0.0
    for i in range(rank - 1, -1, -1):
        total += d[i] * d[i]
        for k in range(i + 1, rank):
            d[i] -= C[k, i] * d[k]
        d[i] /= C[i, i]
    work.loss[level] = math.sqrt(total)
    for i in range(start, start + size):
        to = work.base[i] + d[i - start]
        if i < a.n:
            a.motion.y[i] = to
        else:
            a.force.y[work.state[PUSHED] + i - a.n] = to
    _move(a)
    return _evaluate(a)


@compiled
def complete_from(
    integers: Integers, table: Integers, beyond: Integers, numbers: Array, counts: Integers, level: int
) -> int:
    """Solve a level and all below it without limits."""
    return _complete(open_all(integers, table, beyond, numbers, counts), level)


@compiled
def evaluate_again(integers: Integers, table: Integers, beyond: Integers, numbers: Array, counts: Integers) -> int:
    """Evaluate all rows where the coordinates are now."""
    a = open_all(integers, table, beyond, numbers, counts)
    _move(a)
    return _evaluate(a)


@compiled
def finish(
    integers: Integers,
    table: Integers,
    beyond: Integers,
    numbers: Array,
    counts: Integers,
    storage: Array,
    settings: Array,
    near: float,
    output: Array,
    residual: Array,
    slack: Array,
) -> int:
    """Write the command; keep the rows that are near their bounds for the next cycle; what each task did not get."""
    now, a = values(integers, storage), open_all(integers, table, beyond, numbers, counts)
    work, memory, joints = a.work, a.memory, a.joints
    out = carve(joints, a.n, a.sizes.held, a.sizes.shown, output)
    period = settings[PERIOD]
    base, shift = a.n - joints, len(now.q) - a.n
    for i in range(a.n):
        out.acceleration[i] = memory.efforts[i]
    for i in range(joints):
        velocity = now.v[base + i] + period * out.acceleration[base + i]
        out.velocity[i] = out.unlimited_velocity[i] = velocity
        out.position[i] = out.unlimited_position[i] = now.q[base + shift + i] + period * velocity
        out.effort[i] = out.unlimited_effort[i] = 0.0
    for k in range(len(a.driven)):
        effort = work.value[joints + k] * work.scale[joints + k]
        out.effort[a.driven[k] - base] = out.unlimited_effort[a.driven[k] - base] = effort
    for c in range(work.state[HELD]):
        out.contact[c] = work.zeta[c]
    listed = 0
    for row in range(work.state[ROWS], len(slack)):
        slack[row] = math.inf
    for row in range(work.state[ROWS]):
        close = work.value[row] < work.lower[row] + near or work.value[row] > work.upper[row] - near
        slack[row] = min(work.value[row] - work.lower[row], work.upper[row] - work.value[row])
        if row >= joints + len(a.driven) + work.contact.shape[0]:
            close = False  # pairs are others in the next cycle
        work.listed[row] = 1 if close else 0
        if close:
            work.kept[listed] = row
            listed += 1
    _residuals(table, a, residual)
    return listed


@compiled
def _residuals(table: Integers, a: All, residual: Array) -> None:
    """What each task asked for and did not get, as a length over its rows."""
    chain, memory = a.motion, a.memory
    for index in range(a.sizes.tasks):
        residual[index] = 0.0
    for c in range(a.work.state[FIRST], a.work.state[WIDTH]):
        total = -chain.target[c]
        for i in range(a.n):
            total += chain.A[i, c] * chain.y[i]
        source, best = chain.origin[c], -1
        for index in range(a.sizes.tasks):
            first = memory.first_of_task[index]
            if 0 <= first <= source and (best < 0 or first > memory.first_of_task[best]):
                best = index
        if best >= 0:
            residual[best] += total * total
    for index in range(a.sizes.tasks):
        residual[index] = math.sqrt(residual[index])


@compiled
def residuals(
    integers: Integers, table: Integers, beyond: Integers, numbers: Array, counts: Integers, residual: Array
) -> None:
    """What each task did not get."""
    _residuals(table, open_all(integers, table, beyond, numbers, counts), residual)
