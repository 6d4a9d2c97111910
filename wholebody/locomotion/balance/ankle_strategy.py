"""AnkleBalance: an inverted pendulum on a spring, balanced by the ankles from the IMU alone (Hubo-Ach, App. H).

m L² θ̈ + C θ̇ + (K − m g L) θ = K u: the ankle is told to turn by

    u = (K_p + K_d d/dt) (θ* − θ),

where θ* is the tilt that the joints alone would give, zero here, and θ the one that the IMU measures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from wholebody.estimation import Balance
from wholebody.locomotion.balance.stabilizers import Command, as_planned, turned
from wholebody.locomotion.walking.pendulum import GRAVITY
from wholebody.locomotion.walking.target import Target
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.parameters import Bounds, Unit


@dataclass
class AnkleGains:
    """How strongly the ankles turn.

    proportional  K_p, of the tilt
    derivative    K_d, of how fast it tilts
    farthest      how far an ankle may turn
    """

    proportional: Annotated[float, Unit("1"), Bounds(0, 5)] = 0.3
    derivative: Annotated[float, Unit("s"), Bounds(0, 1)] = 0.05
    farthest: Annotated[float, Unit("rad"), Bounds(0, 0.5)] = 0.15


class AnkleBalance:
    """Both soles are turned against the tilt, which is the same as turning the ankles."""

    feels_ground = False
    believes = None

    def __init__(self, model: Model, gains: AnkleGains | None = None) -> None:
        self.model, self.gains = model, gains or AnkleGains()

    def reset(self) -> None:
        """There is nothing to forget."""

    def correct(self, target: Target, balance: Balance, period: float) -> Command:
        """What was planned, with the ankles turned."""
        command, gains = as_planned(target), self.gains
        (ahead, aside), (roll, pitch, _) = balance.lean, balance.turning
        tilt, turning = np.array([-aside, ahead, 0.0]), np.array([roll, pitch, 0.0])  # rotation vectors
        wanted = gains.proportional * tilt + gains.derivative * turning
        turn = turned(np.clip(wanted, -gains.farthest, gains.farthest))
        command.soles = (_turned_about_itself(command.soles[0], turn), _turned_about_itself(command.soles[1], turn))
        return command


def _turned_about_itself(sole: Array, turn: Array) -> Array:
    result = sole.copy()
    result[:3, :3] = turn @ sole[:3, :3]
    return result


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
