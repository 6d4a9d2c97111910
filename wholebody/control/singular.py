"""The kernels of singular levels: where truncation would be a step, the mean of all truncations, which is none.

A direction of a level whose eigenvalue λ of Λ⁻¹ is small needs efforts in proportion to 1 / √λ. Truncation up to some
`least` leaves such a direction to the levels below; but as λ passes `least`, the command jumps. So the command is the
mean of truncated ones, the share s of all `least` there are between nothing and what is regular:

    u = ∫₀¹ u(θ) ds(θ),    u(θ) truncated up to θ · tolerance · mobility,    s(θ) = θ² (3 − 2 θ)

In θ, u is constant but for steps where a λ is, so that one more chain is solved for each direction that is singular,
and none if no one is. Each u(θ) keeps the order of the levels, hence their mean does: what is regular at a level is
never disturbed. And a direction is taken in the share s(λ / least), with an effort bounded by √(1 / least).

What λ is compared with, is the mobility of its level. Rows of one task and one unit are measured together, by the
longest of them in what constraints and motors leave: the hand's in its best direction, say. A joint is measured by
itself. Of all of a level, the least mobile counts. What constraints hold altogether does not count.
"""

from __future__ import annotations

import math

from wholebody.control.chain import Chain, solve_level, unreflect
from wholebody.control.memory import Memory, Saved
from wholebody.control.table import Sizes, task_line
from wholebody.model.compiled import compiled, inlined
from wholebody.model.layout import Integers
from wholebody.tasks import kinds

TASK_TOLERANCE = {"shared": 1e-3, "truncated": 1e-6}
"""Unless told: how small Λ⁻¹ may be in a direction and still be regular."""

TURNING = 3
"""Rows of a task from here on are of another unit: they turn, those before them move."""

NEGLIGIBLE = 1e-8
"""θ from which on a step is too small to matter: s(θ) / √θ is 3e-12."""

HAIR = 1e-9
"""By so much of itself θ is below the λ that is just kept."""


@compiled
def solve_truncated(sizes: Sizes, memory: Memory, chain: Chain, used: int, reflected: int, tolerance: float) -> None:
    """Solve the levels of tasks, each truncated up to a share of its longest column."""
    for level in range(sizes.levels):
        first = memory.first_of_level[level]
        count = memory.first_of_level[level + 1] - first
        used, reflected = solve_level(chain, first, count, used, reflected, tolerance)
    unreflect(chain, reflected)


@compiled
def solve_shared(
    table: Integers,
    sizes: Sizes,
    memory: Memory,
    chain: Chain,
    saved: Saved,
    used: int,
    reflected: int,
    tolerance: float,
    nothing: float,
) -> None:
    """Solve the levels of tasks, with singular directions shared between the levels."""
    first = memory.first_of_level[0]
    _save(chain, saved, first)
    theta = 1.0
    lost = _solve_at(theta, table, sizes, memory, chain, used, reflected, tolerance, nothing)
    if lost < NEGLIGIBLE:
        return
    mean, y = saved.mean, chain.y
    n = len(y)
    for i in range(n):
        mean[i] = 0.0
    most = 2 * chain.A.shape[1]
    for turn in range(most):
        if turn == most - 1:
            lost = 0.0
        weight = share_of(theta) - share_of(lost)
        for i in range(n):
            mean[i] += weight * y[i]
        if lost == 0.0:
            break
        theta = lost
        _restore(chain, saved, first)
        lost = _solve_at(theta * (1.0 - HAIR), table, sizes, memory, chain, used, reflected, tolerance, nothing)
        if lost < NEGLIGIBLE:
            lost = 0.0
    for i in range(n):
        y[i] = mean[i]


@inlined
def share_of(theta: float) -> float:
    """s = θ² (3 − 2 θ)."""
    return theta * theta * (3.0 - 2.0 * theta)


@inlined
def _solve_at(
    theta: float,
    table: Integers,
    sizes: Sizes,
    memory: Memory,
    chain: Chain,
    used: int,
    reflected: int,
    tolerance: float,
    nothing: float,
) -> float:
    """Solve all levels truncated at θ; the greatest λ of those truncated, in the unit of θ."""
    lost = 0.0
    for level in range(sizes.levels):
        first = memory.first_of_level[level]
        count = memory.first_of_level[level + 1] - first
        least = tolerance * mobility(table, sizes, memory, chain, level, nothing)
        used, reflected = solve_level(chain, first, count, used, reflected, nothing, theta * least)
        if least > 0.0:
            lost = max(lost, chain.lost[0] / least)
    unreflect(chain, reflected)
    return min(lost, theta)


@inlined
def mobility(table: Integers, sizes: Sizes, memory: Memory, chain: Chain, level: int, held: float) -> float:
    """The smallest mobility of a level's tasks; what is left of a row counts if it is more than a share of the row."""
    size, left = chain.size, chain.left
    smallest = math.inf
    end = memory.first_of_level[level + 1]
    for index in range(sizes.tasks - 1, -1, -1):
        line = task_line(table, index)
        first = memory.first_of_task[index]
        if line.level != level or first < 0:
            continue
        alone = line.kind == kinds.JOINT_POSITION or line.kind == kinds.JOINT_LIMITS
        moving, turning = 0.0, 0.0
        for c in range(first, end):
            if not left[c] > held * size[c]:
                continue
            if alone:
                smallest = min(smallest, left[c])
            elif line.kind != kinds.CUSTOM and memory.source[c] >= TURNING:
                turning = max(turning, left[c])
            else:
                moving = max(moving, left[c])
        smallest = min(smallest, moving if moving > 0.0 else math.inf, turning if turning > 0.0 else math.inf)
        end = first
    return smallest if smallest < math.inf else 0.0


@inlined
def _save(chain: Chain, saved: Saved, first: int) -> None:
    for i in range(len(chain.y)):
        saved.y[i] = chain.y[i]
        for c in range(saved.A.shape[1]):
            saved.A[i, c] = chain.A[i, first + c]
    for c in range(saved.A.shape[1]):
        saved.wanted[c] = chain.wanted[first + c]


@inlined
def _restore(chain: Chain, saved: Saved, first: int) -> None:
    for i in range(len(chain.y)):
        chain.y[i] = saved.y[i]
        for c in range(saved.A.shape[1]):
            chain.A[i, first + c] = saved.A[i, c]
    for c in range(saved.A.shape[1]):
        chain.wanted[first + c] = saved.wanted[c]
