"""The way from one law to another inside the controller with inequalities.

At a switch the last motion, efforts and forces, xₒ = (v̇ₒ, τₒ, λₒ), differ from what the new law gives by Δ = xₒ − x.
Δ is frozen. From then on, in every cycle, the new law is solved, with all its limits; then every level is asked for
what it would get by x + α Δ, α from 1 to 0, and the levels are solved once more, with all limits:

    tasks, constraints    J v̇ = J (v̇_new + α Δv̇)             tasks on forces    F λ = F (λ_new + α Δλ)
    what is left of u     as by v̇_new + α Δv̇                   what is left of λ    τ = τ_new + α Δτ

Factors stay as they are, so that the second solution costs a fraction of the first. A constraint that was switched off
still bears α times what it bore: h − α Jcᵀ λₒ takes the place of h. Where x + α Δ keeps the limits it is the command,
Eq. 9 of the paper; limits are convex, so it does as long as the robot has hardly moved since the switch. Else each
level gets as much of it as the limits permit, which no mixture of commands does.
"""

from __future__ import annotations

from typing import NamedTuple

from wholebody.control.table import Sizes
from wholebody.model.compiled import compiled
from wholebody.model.cut import cut
from wholebody.model.layout import Array


class Fading(NamedTuple):
    """The memory of a way; all zeros when none is gone."""

    share: Array  # α
    fresh: Array  # 1 until the differences Δ are known: until then they are what was
    acceleration: Array  # nv: Δv̇
    borne: Array  # nv: Jcᵀ λₒ of constraints that are off now
    effort: Array  # of each joint with a motor: Δτ
    force: Array  # Δλ of the constraints that are on now
    new: Array  # of each constraint, 1 if it was off before
    rest: Array  # nv: what is left of u, in rotated coordinates
    loose: Array  # what is left of λ, in rotated coordinates
    kept: Array  # of each joint with a motor: the effort that is asked for where λ is free


def fading_size(n: int, sizes: Sizes) -> int:
    """How many numbers a way takes."""
    return 2 + 3 * n + 2 * sizes.driven + 2 * sizes.held + sizes.constraints


def carve_fading(n: int, sizes: Sizes, numbers: Array, at: int) -> Fading:
    """Carve the memory of a way."""
    effort = at + 2 + 3 * n
    force = effort + 2 * sizes.driven
    return Fading(
        share=cut(numbers, at, (1,)),
        fresh=cut(numbers, at + 1, (1,)),
        acceleration=cut(numbers, at + 2, (n,)),
        borne=cut(numbers, at + 2 + n, (n,)),
        rest=cut(numbers, at + 2 + 2 * n, (n,)),
        effort=cut(numbers, effort, (sizes.driven,)),
        kept=cut(numbers, effort + sizes.driven, (sizes.driven,)),
        force=cut(numbers, force, (sizes.held,)),
        loose=cut(numbers, force + sizes.held, (sizes.held,)),
        new=cut(numbers, force + 2 * sizes.held, (sizes.constraints,)),
    )


fading_of = compiled(carve_fading)


@compiled
def begin_with_the_law(fading: Fading) -> None:
    """Keep nothing of what was while the new law is solved."""
    for i in range(len(fading.rest)):
        fading.rest[i] = 0.0
    for c in range(len(fading.loose)):
        fading.loose[c] = 0.0
    for k in range(len(fading.kept)):
        fading.kept[k] = 0.0
