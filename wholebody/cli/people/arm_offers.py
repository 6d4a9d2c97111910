"""What people are told before they choose an arm: how far the robot steps for it, and how well it reaches then."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from wholebody.behaviors.arms import Arm, Reach
from wholebody.robots.robot import Array

WITHIN = (0.02, 0.03)
"""m, forward and aside, by which a robot may stand otherwise than it wants to before it uses a hand."""
ALIKE = 0.02
"""m by which two ways differ that count as equally far."""


@dataclass(frozen=True)
class ArmOffer:
    """An arm, and the step for it, m forward and to the left; none if it does it from where the robot stands."""

    reach: Reach
    forward: float = 0.0
    leftward: float = 0.0

    @property
    def side(self) -> str:
        """Of the arm."""
        return self.reach.side

    @property
    def possible(self) -> bool:
        """Whether the hand gets there."""
        return self.reach.possible

    def __str__(self) -> str:
        """In words."""
        if not self.possible:
            return str(self.reach)
        steps = [
            f"{abs(far):.2f} m {ahead if far > 0 else back}"
            for far, ahead, back in (
                (self.forward, "forward", "back"),
                (self.leftward, "to the left", "to the right"),
            )
            if round(abs(far), 2)
        ]
        where = f"after {' and '.join(steps)}" if steps else "from where it stands"
        return f"{self.side}_arm {where}, {self.reach.quality}"


def offers(
    arms: Iterable[Arm], posture: Array, thing_in_base: Array, spot: Callable[[Arm], Array], standoff: float
) -> list[ArmOffer]:
    """What each arm can do with a thing: the possible before the others, then the nearer, then the nimbler.

    spot  where an arm wants the thing, x and y in the base
    """
    found = [_offer(arm, posture, thing_in_base, spot(arm), standoff) for arm in arms]
    return sorted(
        found,
        key=lambda each: (
            not each.possible,
            round(math.hypot(each.forward, each.leftward) / ALIKE),
            -each.reach.manipulability,
        ),
    )


def none_can(what: str, found: list[ArmOffer]) -> str:
    """A complaint, if no arm can do something."""
    able = any(each.possible for each in found)
    return "" if able else f"no arm can {what}: {'; '.join(str(each) for each in found)}"


def stands_well(off: Array) -> bool:
    """Whether a thing is near enough to where an arm wants it, m."""
    return bool((np.abs(off) < WITHIN).all())


def _offer(arm: Arm, posture: Array, thing_in_base: Array, spot: Array, standoff: float) -> ArmOffer:
    off = thing_in_base[:2] - spot
    if stands_well(off):
        return ArmOffer(arm.reach(posture, thing_in_base, standoff))
    return ArmOffer(arm.reach(posture, (*spot, thing_in_base[2]), standoff), float(off[0]), float(off[1]))
