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
damping. The strain of a task is ‖p‖ / (kp · error_limit): its error, as a share of the limit.
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
def bound_springs(memory: Memory, chain: Chain, first: int, end: int, used: int) -> None:
    """Take from what the rows of a level want what would need more force than their springs may have."""
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
            _bound(memory, chain, begun, after, used, hardest / memory.mobile[begun])
        begun = after


@inlined
def level_strain(memory: Memory, first: int, end: int) -> float:
    """The greatest strain of the rows of a level that are measured together, at most 1."""
    greatest = 0.0
    begun = first
    while begun < end:
        square, hardest = 0.0, 0.0
        after = begun
        while after < end and memory.block[after] == memory.block[begun]:
            square += memory.spring[after] * memory.spring[after]
            hardest = max(hardest, memory.pull[after])
            after += 1
        if hardest > 0.0:
            greatest = max(greatest, math.sqrt(square) / hardest)
        begun = after
    return min(greatest, 1.0)


@compiled
def _bound(memory: Memory, chain: Chain, first: int, end: int, used: int, strongest: float) -> None:
    """wanted ← wanted − μ (G + μ)⁻¹ a, if μ must be above zero."""
    count = end - first
    trace = _mobility_matrix(chain, first, count, used)
    if not trace > 0.0:
        return
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
        return
    _force(chain, memory.asked, first, count, mu)
    for c in range(first, end):
        chain.wanted[c] -= mu * chain.w[c]


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
