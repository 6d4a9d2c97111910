"""The kernels that ask all levels for a mixture of what was and what the new law gives; see `quadratic_fading`."""

from __future__ import annotations

from wholebody.control.quadratic_chain import Chain, rotate
from wholebody.control.quadratic_memory import FORCE, HELD, LEVEL, LEVELS, MOTION, PRESSED, ROTATED, TURNED, All
from wholebody.model.compiled import compiled
from wholebody.model.cut import cut
from wholebody.model.layout import Array


@compiled
def ask_for_mixture(a: All) -> None:
    """Let every level ask for what it gets by x + α Δ, x the solution that was found; Δ becomes known, if it is not."""
    fading, work = a.fading, a.work
    if fading.fresh[0] > 0.0:
        _know_differences(a)
    for i in range(len(work.losses)):
        work.losses[i] = 0.0
    _mix_motion(a)
    _mix_forces(a)
    decided = work.levels[3]
    for i in range(decided):
        a.motion.y[i] = fading.rest[i]
    motors = a.sizes.passive + work.state[PRESSED]
    for index in range(work.state[LEVELS]):
        i = LEVEL * index
        kind, first, count = work.levels[i], work.levels[i + 1], work.levels[i + 2]
        end = work.levels[i + 3] + work.levels[i + 4]
        if kind == MOTION:
            _ask(a.motion, first, count, end, fading.rest)
        elif kind == FORCE and first < motors:
            _ask(a.force, first, count, end, fading.loose)


@compiled
def _know_differences(a: All) -> None:
    """Δ = what was − what the new law gives."""
    fading, work = a.fading, a.work
    for i in range(a.n):
        fading.acceleration[i] -= a.memory.efforts[i]
    for k in range(len(a.driven)):
        fading.effort[k] -= work.value[a.joints + k] * work.scale[a.joints + k]
    for c in range(work.state[HELD]):
        fading.force[c] -= work.zeta[c]
    fading.fresh[0] = 0.0


@compiled
def _mix_motion(a: All) -> None:
    """y + α Qᵀ L Δv̇."""
    x, share, L = a.fading.rest, a.fading.share[0], a.memory.L
    for k in range(a.n):
        x[k] = 0.0
        for i in range(k + 1):
            x[k] += share * L[k, i] * a.fading.acceleration[i]
    rotate(a.motion, a.work.state[ROTATED], x)
    for k in range(a.n):
        x[k] += a.motion.y[k]


@compiled
def _mix_forces(a: All) -> None:
    """The same of λ, in its rotated coordinates, and of τ."""
    fading, held = a.fading, a.work.state[HELD]
    for c in range(held):
        fading.loose[c] = fading.share[0] * fading.force[c]
    rotate(a.force, min(a.work.state[TURNED], held), cut(fading.loose, 0, (held,)))
    for c in range(held):
        fading.loose[c] += a.force.y[c]
    for k in range(len(a.driven)):
        row = a.joints + k
        fading.kept[k] = a.work.value[row] * a.work.scale[row] + fading.share[0] * fading.effort[k]


@compiled
def _ask(chain: Chain, first: int, count: int, end: int, x: Array) -> None:
    """Let the columns of a level ask for what x gives them, in the coordinates of the level and those above."""
    for c in range(first, first + count):
        total = 0.0
        for i in range(end):
            total += chain.A[i, c] * x[i]
        chain.target[c] = total
