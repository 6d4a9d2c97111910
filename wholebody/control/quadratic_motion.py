"""The kernels that go from what levels lose to motion and forces, and to the value of every limit."""

from __future__ import annotations

import math

from wholebody.control.quadratic_chain import solve_level, unrotate
from wholebody.control.quadratic_levels import NOT_FINITE, WELL
from wholebody.control.quadratic_memory import (
    HELD,
    LEVEL,
    LEVELS,
    LOOSE,
    MOTION,
    PAIRS,
    PRESSED,
    PUSHED,
    REST,
    ROTATED,
    TURNED,
    All,
)
from wholebody.model.compiled import compiled
from wholebody.model.cut import cut


@compiled
def complete(a: All) -> int:
    """Solve all levels, each with its loss; then evaluate all limits."""
    work = a.work
    moved = False
    for index in range(work.state[LEVELS]):
        i = LEVEL * index
        kind, first, count = work.levels[i], work.levels[i + 1], work.levels[i + 2]
        at, rank = work.levels[i + 3], work.levels[i + 4]
        loss = cut(work.losses, work.levels[i + 5], (rank,))
        if kind not in (MOTION, REST) and not moved:
            _move(a)
            moved = True
        chain = a.force if moved else a.motion
        if kind in (REST, LOOSE):
            kept = a.fading.rest if kind == REST else a.fading.loose
            for k in range(rank):
                chain.y[at + k] = kept[at + k] + loss[k]
        else:
            solve_level(chain, first, count, at, rank, loss)
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
        k = chain.origin[c] - passive - pressed
        chain.target[c] = f[a.driven[k]] - a.fading.kept[k]


@compiled
def _evaluate(a: All) -> int:
    """All rows of limits, after `move`; NOT_FINITE if one is no number."""
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
