"""One step of the iteration: damped least squares in the variables, within a box."""

from __future__ import annotations

import math

from wholebody.model.compiled import compiled
from wholebody.model.layout import Array, Integers

ROUNDS, TRIES = 40, 3
"""How often a step is solved anew because joints ran into their limits, or want to leave them; all of them change
sides at once, until that has not made them fewer so many times: then one by one, which always ends."""

AT_LOWER, AT_UPPER, MISPLACED = 1, 2, 4


@compiled
def boxed_step(
    J: Array,
    error: Array,
    mobility: Array,
    wish: Array,
    damping: float,
    lower: Array,
    upper: Array,
    stopped: Integers,
    A: Array,
    y: Array,
    step: Array,
) -> None:
    """The regularised, weighted pseudo-inverse of Eq. 4.10, with a wish in the null space, within lower and upper.

    δ = d + W⁻¹ Jᵀ (J W⁻¹ Jᵀ + λ 1)⁻¹ (e − J d), where d is the wish: of all steps that bring the goals nearer, the one
    nearest to it. A joint that would leave its limits stops there, and the others make up for it; if then it would
    rather turn back, it is let go: the best step within the box, by block principal pivoting. J is J̃, transposed.
    """
    stopped[:] = 0
    n, m = J.shape
    fewest, patience = n + 1, TRIES
    for _ in range(ROUNDS):
        for i in range(m):
            y[i] = error[i]
            for j in range(i + 1):
                A[i, j] = 0.0
            A[i, i] = damping
        for z in range(n):
            done = step[z] if stopped[z] else wish[z]
            if done != 0.0:
                for i in range(m):
                    y[i] -= J[z, i] * done
            if stopped[z]:
                continue
            for i in range(m):
                scaled = mobility[z] * J[z, i]
                if scaled != 0.0:
                    for j in range(i + 1):
                        A[i, j] += scaled * J[z, j]
        cholesky_solve(A, y)
        wrong = 0
        for z in range(n):
            total = wish[z]
            for i in range(m):
                total += mobility[z] * J[z, i] * y[i]
            if stopped[z] == AT_LOWER:
                misplaced = total > step[z] + 1e-12
            elif stopped[z] == AT_UPPER:
                misplaced = total < step[z] - 1e-12
            else:
                step[z] = total
                misplaced = total < lower[z] or total > upper[z]
            if misplaced:
                wrong += 1
                stopped[z] += MISPLACED
        if wrong == 0:
            return
        patience = TRIES if wrong < fewest else patience - 1
        fewest = min(fewest, wrong)
        _exchange(stopped, step, lower, upper, patience < 0)
    for z in range(n):
        step[z] = min(max(step[z], lower[z]), upper[z])


@compiled
def _exchange(stopped: Integers, step: Array, lower: Array, upper: Array, only_last: bool) -> None:
    """Stop what is misplaced among the free at its limit, and free what is misplaced at a limit: all, or the last."""
    for z in range(len(step) - 1, -1, -1):
        if stopped[z] < MISPLACED:
            continue
        stopped[z] -= MISPLACED
        if only_last:
            for k in range(z):
                stopped[k] %= MISPLACED
        if stopped[z]:
            stopped[z] = 0
        elif step[z] < lower[z]:
            step[z], stopped[z] = lower[z], AT_LOWER
        else:
            step[z], stopped[z] = upper[z], AT_UPPER


@compiled
def cholesky_solve(A: Array, y: Array) -> None:
    """y ← A⁻¹ y for a symmetric positive definite A, of which the lower half is given and overwritten."""
    m = len(y)
    for j in range(m):
        for k in range(j):
            A[j, j] -= A[j, k] * A[j, k]
        A[j, j] = math.sqrt(max(A[j, j], 1e-300))
        for i in range(j + 1, m):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[j, k]
            A[i, j] = total / A[j, j]
    for i in range(m):
        for k in range(i):
            y[i] -= A[i, k] * y[k]
        y[i] /= A[i, i]
    for i in range(m - 1, -1, -1):
        for k in range(i + 1, m):
            y[i] -= A[k, i] * y[k]
        y[i] /= A[i, i]


@compiled
def transposed_step(
    J: Array, error: Array, mobility: Array, damping: float, lower: Array, upper: Array, y: Array, step: Array
) -> None:
    """The Jacobian transpose: δ = α W⁻¹ Jᵀ e with α = e·f / (f·f + λ), f = J W⁻¹ Jᵀ e; joints stop at their limits."""
    n, m = J.shape
    y[:] = 0.0
    for z in range(n):
        total = 0.0
        for i in range(m):
            total += J[z, i] * error[i]
        step[z] = mobility[z] * total
        if (step[z] < 0.0 and lower[z] >= 0.0) or (step[z] > 0.0 and upper[z] <= 0.0):
            step[z] = 0.0
        for i in range(m):
            y[i] += J[z, i] * step[z]
    along, square = 0.0, damping
    for i in range(m):
        along += y[i] * error[i]
        square += y[i] * y[i]
    alpha = along / max(square, 1e-300)
    for z in range(n):
        step[z] = min(max(alpha * step[z], lower[z]), upper[z])


@compiled
def keep_local(step: Array, locality: float) -> float:
    """Scale a step so that nothing moves further than the locality threshold; the largest move."""
    largest = 0.0
    for value in step:
        largest = max(largest, abs(value))
    if largest > locality:
        for z in range(len(step)):
            step[z] *= locality / largest
    return min(largest, locality)


@compiled
def foretold(J: Array, error: Array, step: Array, y: Array) -> float:
    """|e − J δ|²: what the error would be after a step, were the robot linear."""
    n, m = J.shape
    for i in range(m):
        y[i] = error[i]
    for z in range(n):
        if step[z] != 0.0:
            for i in range(m):
                y[i] -= J[z, i] * step[z]
    total = 0.0
    for i in range(m):
        total += y[i] * y[i]
    return total
