"""The kernels of singular levels: where truncation would be a step, the mean of all truncations, which is none.

A direction of a level whose eigenvalue λ of Λ⁻¹ is small needs efforts in proportion to 1 / √λ. Truncation up to some
`least` leaves such a direction to the levels below; but as λ passes `least`, the command jumps. So the command is the
mean of truncated ones, the share s of all `least` there are between nothing and what is regular:

    u = ∫₀¹ u(θ) ds(θ),    u(θ) truncated up to θ · tolerance · mobility,    s(θ) = θ² (3 − 2 θ)

In θ, u is constant but for steps where a λ is, so that one more chain is solved for each direction that is singular,
and none if no one is. Each u(θ) keeps the order of the levels, hence their mean does: what is regular at a level is
never disturbed. And a direction is taken in the share s(λ / least), with an effort bounded by √(1 / least).

What λ is compared with is the mobility of its level (`mobility.py`). Goals out of reach draw a level to where it is
singular, and the further the harder. So the springs of tasks are bounded, in each truncation, by what the levels above
leave there (`springs.py`); and a direction that has less than a fifth of its spring left, λ below a quarter of μ, is
shared too: the tolerance of a level is that, if it is more.

A row with an activation below 1, on its way in or out, is a step in θ likewise: it is there at all θ below its
activation, and so the command has no step where it comes or goes.
"""

from __future__ import annotations

from wholebody.control.chain import Chain, solve_level, unreflect
from wholebody.control.memory import Memory, Saved
from wholebody.control.mobility import level_mobility, measure_mobility
from wholebody.control.springs import bound_springs
from wholebody.control.table import Sizes
from wholebody.model.compiled import compiled, inlined
from wholebody.model.layout import Integers

TASK_TOLERANCE = {"shared": 1e-3, "truncated": 1e-6}
"""Unless told: how small Λ⁻¹ may be in a direction and still be regular."""

NEGLIGIBLE = 1e-8
"""θ from which on a step is too small to matter: s(θ) / √θ is 3e-12."""

GIVEN_UP = 0.25
"""λ as a share of μ, which bounds a spring, from which on downwards a direction is shared."""

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
    measure_mobility(table, sizes, memory, chain, nothing)
    _save(chain, saved, first)
    theta = 1.0
    lost = _solve_at(theta, sizes, memory, chain, used, reflected, tolerance, nothing)
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
        lost = _solve_at(theta * (1.0 - HAIR), sizes, memory, chain, used, reflected, tolerance, nothing)
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
    sizes: Sizes,
    memory: Memory,
    chain: Chain,
    used: int,
    reflected: int,
    tolerance: float,
    nothing: float,
) -> float:
    """Solve all levels truncated at θ; the greatest λ of those truncated, in the unit of θ, or activation of a row."""
    lost = _leave_out(theta, memory, chain, sizes)
    for level in range(sizes.levels):
        first = memory.first_of_level[level]
        count = memory.first_of_level[level + 1] - first
        given_up = bound_springs(memory, chain, first, first + count, used)
        least = max(tolerance, GIVEN_UP * given_up) * level_mobility(memory, first, first + count)
        used, reflected = solve_level(chain, first, count, used, reflected, nothing, theta * least)
        if least > 0.0:
            lost = max(lost, chain.lost[0] / least)
    unreflect(chain, reflected)
    return min(lost, theta)


@inlined
def _leave_out(theta: float, memory: Memory, chain: Chain, sizes: Sizes) -> float:
    """Take out the rows whose activation is not above θ; the greatest of these activations."""
    greatest = 0.0
    for c in range(memory.first_of_level[0], memory.first_of_level[sizes.levels]):
        activation = memory.activation[c]
        if activation < 1.0 and activation <= theta:
            greatest = max(greatest, activation)
            chain.wanted[c] = 0.0
            for i in range(len(chain.A)):
                chain.A[i, c] = 0.0
    return greatest


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
