"""LegDamping: legs that give way when pushed down, as an over-damped spring would (Hubo-Ach, 5.3).

d = (d (L − 1) + k_z f) / L with f = (f_left + f_right) / 2 / 200 N, at 20 Hz; knees bend by 2 d, hips and ankles by d.
Here f counts from half the weight on, so that standing is no push; the same filter runs at any rate; and the bend is
a lower centre of mass, so that it works on all legs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from wholebody.estimation import Balance
from wholebody.locomotion.balance.stabilizers import Command, as_planned
from wholebody.locomotion.pendulum import GRAVITY
from wholebody.locomotion.target import Target
from wholebody.model.model import Model
from wholebody.parameters import Bounds, Unit

RATE = 20.0  # Hz, of the filter as it was published


@dataclass
class DampingGains:
    """The published numbers; a unit of force is half the robot's weight (Hubo's is about the published 200 N).

    stiffness  k_z: how far legs bend under a unit of force
    length     L: of the filter, in periods of 1/20 s
    most       how far they bend at most
    """

    stiffness: Annotated[float, Unit("rad"), Bounds(0, 2)] = 0.28
    length: Annotated[float, Unit("1"), Bounds(1, 400)] = 5.0
    most: Annotated[float, Unit("rad"), Bounds(0, 1)] = 0.4


class LegDamping:
    """The centre of mass goes down by what legs bent by d lose in height."""

    feels_ground = False
    believes = None

    def __init__(self, model: Model, gains: DampingGains | None = None) -> None:
        self.gains = gains or DampingGains()
        self._weight = model.total_mass * GRAVITY
        self.reset()

    def reset(self) -> None:
        """Stand tall."""
        self.bend = 0.0

    def correct(self, target: Target, balance: Balance, period: float) -> Command:
        """What was planned, lower."""
        gains, command = self.gains, as_planned(target)
        push = (float(balance.wrench_in_sole[:, 2].sum()) - self._weight) / self._weight
        aim = min(max(gains.stiffness * push, -gains.most), gains.most)
        self.bend += RATE * period / gains.length * (aim - self.bend)
        command.com[2] -= max(0.0, self.bend) * 0.5 * target.height
        return command
