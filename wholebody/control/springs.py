"""The kernels of bounded springs: no error asks for more than the hardest pull of its task.

A task pulls at its error with the acceleration p = kp e + ki ∫e dt, which takes the force f = Λ p. Where a direction is
singular, Λ grows without bound, and a goal out of reach asks for it for ever: a stretched limb is drawn to its
singularity ever faster, is thrown beyond it, and back. So the force is bounded:

    ‖f‖ ≤ F = kp · error_limit / mobility

what an error of `error_limit` takes in the direction in which the task is most mobile. Of all accelerations that such a
force can give, the nearest in kinetic energy to the one asked for is taken, of all that the goal asks for alike
(a = p + kd ẋ* + ẍff):

    a ← G (G + μ)⁻¹ a,    G = Λ⁻¹,    μ ≥ 0 the least with ‖(G + μ)⁻¹ p‖ ≤ F

It is continuous, and changes nothing for errors up to error_limit · λ / mobility in a direction with eigenvalue λ of G.
A limb of length l that is almost stretched has about (l / 2) λ / mobility of its reach left: a goal beyond draws it to
its end as a spring of stiffness kp · error_limit / l on its joints, however far the goal is, with all of the task's
damping. Of a direction, the share λ / (λ + μ) of its spring is left.
"""

from __future__ import annotations

import math

from wholebody.control.chain import Chain
from wholebody.control.cholesky import solve_by_cholesky
from wholebody.control.memory import Memory
from wholebody.model.compiled import compiled, inlined
from wholebody.model.layout import Array
from wholebody.tasks.kinds import UNLIMITED

ROUNDING = 1e-13
"""The share of G's trace that is added to it at least, so that it can be factored."""

CONVERGED = 1e-13
"""How near the force must be to its bound."""

MOST_STEPS = 50


@inlined
def bound_springs(memory: Memory, chain: Chain, first: int, end: int, used: int) -> float:
    """Take from what the rows of a level want what would need more force than their springs may have.

    The greatest μ / mobility, at most 1: a direction with λ / mobility far below that has hardly any force left.
    """
    given_up = 0.0
    begun = first
    while begun < end:
        after = begun + 1
        hardest = memory.pull[begun]
        strained = memory.spring[begun] != 0.0
        while after < end and memory.block[after] == memory.block[begun]:
            hardest = max(hardest, memory.pull[after])
            strained = strained or memory.spring[after] != 0.0
            after += 1
        room = 2 * (after - begun) < len(chain.R)
        if strained and room and 0.0 < hardest < UNLIMITED and memory.mobile[begun] > 0.0:
            mu = _bound(memory, chain, begun, after, used, hardest / memory.mobile[begun])
            given_up = max(given_up, mu / memory.mobile[begun])
        begun = after
    return min(given_up, 1.0)


@compiled
def _bound(memory: Memory, chain: Chain, first: int, end: int, used: int, strongest: float) -> float:
    """wanted ← wanted − μ (G + μ)⁻¹ a, if μ must be above zero; and μ."""
    count = end - first
    trace = _mobility_matrix(chain, first, count, used)
    if not trace > 0.0:
        return 0.0
    asked = 0.0
    for c in range(first, end):
        asked += memory.spring[c] * memory.spring[c]
    mu = max(ROUNDING * trace, math.sqrt(asked) / strongest - trace)
    slack = mu == ROUNDING * trace
    for _ in range(MOST_STEPS):
        length = _force(chain, memory.spring, first, count, mu)
        if not length > strongest * (1.0 + CONVERGED):
            break
        slack = False
        steepness = _halved(chain, first, count)
        mu += length * length / steepness * (length / strongest - 1.0)
    if slack:
        return 0.0
    _force(chain, memory.asked, first, count, mu)
    for c in range(first, end):
        chain.wanted[c] -= mu * chain.w[c]
    return mu


@inlined
def _mobility_matrix(chain: Chain, first: int, count: int, used: int) -> float:
    """G of some rows in what nobody has used, to the right of where it will be factored; its trace."""
    A, R = chain.A, chain.R
    trace = 0.0
    for a in range(count):
        for b in range(a + 1):
            total = 0.0
            for i in range(used, len(A)):
                total += A[i, first + a] * A[i, first + b]
            R[a, count + b] = total
        trace += R[a, count + a]
    return trace


@inlined
def _force(chain: Chain, asked: Array, first: int, count: int, mu: float) -> float:
    """f = (G + μ)⁻¹ asked into chain.w, and its length; the factor stays in chain.R."""
    R, f = chain.R, chain.w
    for a in range(count):
        for b in range(a + 1):
            R[a, b] = R[a, count + b]
        R[a, a] += mu
        f[first + a] = asked[first + a]
    solve_by_cholesky(R, f, first, count)
    square = 0.0
    for c in range(first, first + count):
        square += f[c] * f[c]
    return math.sqrt(square)


@inlined
def _halved(chain: Chain, first: int, count: int) -> float:
    """‖L⁻¹ f‖², with G + μ = L Lᵀ: half of how fast ‖f‖² falls with μ."""
    R, f = chain.R, chain.w
    half = R[count]
    square = 0.0
    for a in range(count):
        total = f[first + a]
        for b in range(a):
            total -= R[a, b] * half[b]
        half[a] = total / R[a, a]
        square += half[a] * half[a]
    return square
