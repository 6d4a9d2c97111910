"""The kernels of the controller with inequalities: levels, what they leave free, and every limit as a row.

As in `kernels`, u = L⁻ᵀ (M v̇ + h) is the whitened effort, M = Lᵀ L; with it goes λ, the forces of the constraints. In
rotated coordinates, those of u and then those of λ, every level decides a block of its own:

    constraints, what nothing pushes     decided once and for all
    tasks on motion, level by level      Xᵀ u = ẍ* − J̇ v + Xᵀ L⁻ᵀ h
    the rest of u                        u = 0
    what joints without a motor need     S̄ Jcᵀ λ = S̄ Lᵀ u: follows from u
    tasks on forces, level by level      F λ = target
    the rest of λ                        τ = S (Lᵀ u − Jcᵀ λ) as small as possible

A limit is a row on all of these; its gradient is computed only when the row is needed.
"""

from __future__ import annotations

import math

from wholebody.control.memory import carve
from wholebody.control.quadratic_active import UNSETTLED, learn_listed, list_violated, settle
from wholebody.control.quadratic_levels import NOT_FINITE, NOT_POSITIVE, WELL, factor_levels
from wholebody.control.quadratic_memory import FIRST, HELD, PERIOD, ROWS, WIDTH, All, open_all
from wholebody.control.quadratic_mixing import ask_for_mixture
from wholebody.control.quadratic_motion import complete
from wholebody.control.quadratic_rows import fill_contact_rows, fill_limits
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array, Integers, Values, values

__all__ = ["NOT_FINITE", "NOT_POSITIVE", "UNSETTLED", "WELL", "evaluate", "mix", "solve", "write"]


@compiled
def solve(
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
    """Factor all levels, write down all limits, and find the least losses that keep them."""
    now, a = values(integers, storage), open_all(integers, table, beyond, work_numbers, counts)
    verdict = factor_levels(integers, numbers, now, table, own, settings, weights, a, work_numbers, output)
    if verdict != WELL:
        return verdict
    fill_contact_rows(now, a, table, contacts, bearing)
    fill_limits(now, a, settings, bearing, contacts)
    verdict = complete(a)
    return settle(a) if verdict == WELL else verdict


@compiled
def mix(integers: Integers, table: Integers, beyond: Integers, numbers: Array, counts: Integers) -> int:
    """On the way from one law to another: solve all levels once more, asked for what was and what the law gives."""
    a = open_all(integers, table, beyond, numbers, counts)
    ask_for_mixture(a)
    verdict = complete(a)
    return settle(a) if verdict == WELL else verdict


@compiled
def evaluate(integers: Integers, table: Integers, beyond: Integers, numbers: Array, counts: Integers) -> bool:
    """Go where the losses say; list the limits that are violated there, with their gradients, and say if any are."""
    a = open_all(integers, table, beyond, numbers, counts)
    complete(a)
    violated = list_violated(a.active)
    learn_listed(a)
    return violated


@compiled
def write(
    integers: Integers,
    table: Integers,
    beyond: Integers,
    numbers: Array,
    counts: Integers,
    storage: Array,
    settings: Array,
    weights: Array,
    output: Array,
    report: Array,
) -> None:
    """Write the command; to the report go how far each limit is, and what each task did not get."""
    a = open_all(integers, table, beyond, numbers, counts)
    _write_command(values(integers, storage), a, settings[PERIOD], output)
    _write_report(a, weights, report)


@compiled
def _write_command(now: Values, a: All, period: float, output: Array) -> None:
    """Efforts, and the positions and velocities that they lead to."""
    work, memory, joints = a.work, a.memory, a.joints
    out = carve(joints, a.n, a.sizes.held, a.sizes.shown, output)
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


@compiled
def _write_report(a: All, weights: Array, report: Array) -> None:
    """How far each limit is from its bounds, negative beyond them; then the residual of each task."""
    work = a.work
    rows = len(work.value)
    for row in range(rows):
        report[row] = math.inf
    for row in range(work.state[ROWS]):
        report[row] = min(work.value[row] - work.lower[row], work.upper[row] - work.value[row])
    residual = report[rows:]
    _residuals(a, residual)
    for index in range(a.sizes.tasks):
        residual[index] /= math.sqrt(weights[index])


@compiled
def _residuals(a: All, residual: Array) -> None:
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
