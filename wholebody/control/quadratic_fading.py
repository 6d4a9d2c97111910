"""The way from one law to another inside the controller with inequalities: what is asked changes little by little.

At a switch, every row that counts from now on asks for b and would get r + b by the last motion v̇ₒ, the last efforts τₒ
and the last forces λₒ. r is frozen; from then on the row is asked for b + α r, α from 1 to 0:

    tasks, constraints      J v̇ = ẍ* − J̇ v + α r        forces    F λ = b + α r
    the rest of u           u = α uₒ                      the rest of λ    τ = α τₒ

A constraint that was switched off still bears α times what it bore: h − α Jcᵀ λₒ takes the place of h. So the last
command solves the new problem at α = 1, whatever changed. As long as no limit is reached, the solution is linear in all
these numbers: it is τ + α (τₒ − τ), Eq. 9 of the paper. Where limits are reached, they hold on the whole way, which no
mixture of commands does.
"""

from __future__ import annotations

from typing import NamedTuple

from wholebody.control import memory as rows_memory
from wholebody.control.quadratic_chain import Chain, rotate
from wholebody.control.table import Sizes, task_line
from wholebody.model.compiled import compiled
from wholebody.model.cut import cut
from wholebody.model.layout import Array, Integers


class Fading(NamedTuple):
    """The memory of a way; all zeros when none is gone."""

    share: Array  # α
    fresh: Array  # 1 until the differences r are known
    acceleration: Array  # nv: v̇ₒ
    u: Array  # nv: uₒ
    borne: Array  # nv: Jcᵀ λₒ of constraints that are off now
    effort: Array  # of each joint with a motor: τₒ
    force: Array  # λₒ of the constraints that are on now
    new: Array  # of each constraint, 1 if it was off before
    of_held: Array  # r of each row of constraints
    of_pressed: Array  # r of each row on forces
    of_tasks: Array  # r of each row of tasks on motion, where its error is shown
    rest: Array  # nv: α uₒ, in rotated coordinates
    loose: Array  # α λₒ, in rotated coordinates


def fading_size(n: int, sizes: Sizes) -> int:
    """How many numbers a way takes."""
    return 2 + 4 * n + sizes.driven + 3 * sizes.held + sizes.constraints + sizes.pressed + sizes.shown


def carve_fading(n: int, sizes: Sizes, numbers: Array, at: int) -> Fading:
    """Carve the memory of a way."""
    effort = at + 2 + 4 * n
    force = effort + sizes.driven
    new = force + 3 * sizes.held
    pressed = new + sizes.constraints
    return Fading(
        share=cut(numbers, at, (1,)),
        fresh=cut(numbers, at + 1, (1,)),
        acceleration=cut(numbers, at + 2, (n,)),
        u=cut(numbers, at + 2 + n, (n,)),
        borne=cut(numbers, at + 2 + 2 * n, (n,)),
        rest=cut(numbers, at + 2 + 3 * n, (n,)),
        effort=cut(numbers, effort, (sizes.driven,)),
        force=cut(numbers, force, (sizes.held,)),
        of_held=cut(numbers, force + sizes.held, (sizes.held,)),
        loose=cut(numbers, force + 2 * sizes.held, (sizes.held,)),
        new=cut(numbers, new, (sizes.constraints,)),
        of_pressed=cut(numbers, pressed, (sizes.pressed,)),
        of_tasks=cut(numbers, pressed + sizes.pressed, (sizes.shown,)),
    )


fading_of = compiled(carve_fading)


@compiled
def fade_constraints(fading: Fading, memory: rows_memory.Memory, chain: Chain, held: int) -> None:
    """Let constraints that are new hold little by little; and know uₒ."""
    n = len(memory.h)
    u = fading.u
    if fading.fresh[0] > 0.0:
        for k in range(n):
            u[k] = memory.h[k]
            for i in range(k + 1):
                u[k] += memory.L[k, i] * fading.acceleration[i]
        for c in range(held):
            fading.of_held[c] = -chain.target[c]
            for i in range(n):
                fading.of_held[c] += chain.A[i, c] * u[i]
    for c in range(held):
        chain.target[c] += fading.share[0] * fading.of_held[c]


@compiled
def fade_tasks(
    fading: Fading, table: Integers, tasks: int, memory: rows_memory.Memory, chain: Chain, width: int, used: int
) -> None:
    """Let tasks ask for what they get, and little by little for what they want; `used` reflections are done."""
    x = fading.rest
    for i in range(len(x)):
        x[i] = fading.u[i]
    rotate(chain, used, x)
    end = width
    for index in range(tasks - 1, -1, -1):
        first, shown = memory.first_of_task[index], task_line(table, index).shown
        if first < 0:
            continue
        for c in range(first, end):
            row = shown + (memory.source[c] if memory.source[c] >= 0 else c - first)
            if fading.fresh[0] > 0.0:
                fading.of_tasks[row] = -chain.target[c]
                for i in range(len(x)):
                    fading.of_tasks[row] += chain.A[i, c] * x[i]
            chain.target[c] += fading.share[0] * fading.of_tasks[row]
        end = first


@compiled
def fade_pressed(fading: Fading, chain: Chain, first: int, count: int) -> None:
    """The same of the tasks on forces."""
    for c in range(count):
        if fading.fresh[0] > 0.0:
            fading.of_pressed[c] = -chain.target[first + c]
            for k in range(len(fading.force)):
                fading.of_pressed[c] += chain.A[k, first + c] * fading.force[k]
        chain.target[first + c] += fading.share[0] * fading.of_pressed[c]


@compiled
def fade_rest(fading: Fading, motion: Chain, rotated: int, force: Chain, turned: int, held: int) -> None:
    """Where no row says anything, stay with what was; from here on the differences are known."""
    for i in range(len(fading.rest)):
        fading.rest[i] = fading.share[0] * fading.u[i]
    rotate(motion, rotated, fading.rest)
    for c in range(held):
        fading.loose[c] = fading.share[0] * fading.force[c]
    rotate(force, turned, cut(fading.loose, 0, (held,)))
    fading.fresh[0] = 0.0
