"""The kernels of gradients: how each limit depends on what the levels lose.

A limit is a row on v̇, on τ or on λ. First it becomes one on u and on the rotated λ; then, from the last level up, what
a level decides is written as its loss e and what those above decide. So the gradient says by how much a limit gives way
if a level loses e and all levels below make the best of it.
"""

from __future__ import annotations

from wholebody.control.quadratic_chain import rotate, turn_to_losses
from wholebody.control.quadratic_forces import push
from wholebody.control.quadratic_memory import FORCE, HELD, LEVEL, LEVELS, MOTION, PRESSED, PUSHED, ROTATED, TURNED, All
from wholebody.model.compiled import compiled
from wholebody.model.cut import cut
from wholebody.model.layout import Array


@compiled
def fill_gradient(a: All, row: int) -> None:
    """Note the gradient of a limit, on the losses of motion, then on those of forces."""
    work, n = a.work, a.n
    held, pushed = work.state[HELD], work.state[PUSHED]
    gradient = work.gradient
    on_force = cut(work.spare, 0, (held,))
    if _rows_on_motion_and_force(a, row, gradient, on_force):
        rotate(a.force, min(work.state[TURNED], held), on_force)
        _lose_forces(a, on_force, gradient)
        push(a, on_force, gradient)
    for i in range(held - pushed):
        gradient[n + i] = on_force[pushed + i]
    on_motion = cut(gradient, 0, (n,))
    rotate(a.motion, work.state[ROTATED], on_motion)
    for index in range(work.state[LEVELS] - 1, -1, -1):
        i = LEVEL * index
        if work.levels[i] == MOTION:
            turn_to_losses(
                a.motion, work.levels[i + 1], work.levels[i + 2], work.levels[i + 3], work.levels[i + 4], on_motion
            )
    inverse = 1.0 / work.scale[row]
    for i in range(n + held - pushed):
        work.gradients[row, i] = gradient[i] * inverse
    work.known[row] = 1


@compiled
def _rows_on_motion_and_force(a: All, row: int, gradient: Array, on_force: Array) -> bool:
    """A limit as a row on u and on λ; whether there is anything on λ."""
    work, n, L = a.work, a.n, a.memory.L
    held = len(on_force)
    for i in range(n):
        gradient[i] = 0.0
    for c in range(held):
        on_force[c] = 0.0
    base = n - a.joints
    efforts, contact = a.joints, a.joints + len(a.driven)
    pair = contact + work.contact.shape[0]
    if row < efforts:
        gradient[base + row] = 1.0
        _unwhiten(L, gradient, base + row)
        return False
    if row < contact:
        j = a.driven[row - efforts]
        for i in range(j, n):
            gradient[i] = L[i, j]
        for c in range(held):
            on_force[c] = -work.K[j, c]
    elif row < pair:
        for c in range(held):
            on_force[c] = work.contact[row - contact, c]
    else:
        for i in range(n):
            gradient[i] = work.pairs[row - pair, i]
        _unwhiten(L, gradient, n - 1)
        return False
    return held > 0


@compiled
def _lose_forces(a: All, on_force: Array, gradient: Array) -> None:
    """From rotated λ to the losses of the levels of forces; the least efforts follow those that the motion needs."""
    work, chain = a.work, a.force
    motors = a.sizes.passive + work.state[PRESSED]
    for index in range(work.state[LEVELS] - 1, -1, -1):
        i = LEVEL * index
        if work.levels[i] != FORCE:
            continue
        first, count = work.levels[i + 1], work.levels[i + 2]
        turn_to_losses(chain, first, count, work.levels[i + 3], work.levels[i + 4], on_force)
        for c in range(max(first, motors), first + count):
            j, w = a.driven[chain.origin[c] - motors], chain.w[c]
            for k in range(j, a.n):
                gradient[k] += w * a.memory.L[k, j]


@compiled
def _unwhiten(L: Array, g: Array, last: int) -> None:
    """g ← L⁻ᵀ g, with nothing after `last` in it."""
    for k in range(last, -1, -1):
        g[k] /= L[k, k]
        entry = g[k]
        if entry != 0.0:
            for i in range(k):
                g[i] -= L[k, i] * entry
