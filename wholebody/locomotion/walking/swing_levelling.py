"""LevelSwing: a foot that swings comes down level and where it shall, though the robot tilts as its legs do not know.

The legs put soles where the command says, seen from a pelvis that is turned as commanded. If it is turned otherwise, by
δ = R_measured R_commandedᵀ without its turn about the vertical, all of the robot is turned so about the foot that
bears. A foot in the air is therefore told δᵀ of its pose, about that foot; when it has landed, it is let back slowly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from wholebody.estimation import Balance
from wholebody.locomotion.balance.stabilizers import Command, turned
from wholebody.locomotion.walking.target import Target
from wholebody.model.layout import Array
from wholebody.parameters import Bounds, Unit


@dataclass
class LevelGains:
    """How a foot of a recovery step is levelled.

    rise  how fast it is levelled while it swings
    fall  how fast it is let back when it has landed
    most  by how much at most
    """

    rise: Annotated[float, Unit("1/s"), Bounds(0, 200)] = 20.0
    fall: Annotated[float, Unit("1/s"), Bounds(0, 200)] = 5.0
    most: Annotated[float, Unit("rad"), Bounds(0, 0.5)] = 0.25


class LevelSwing:
    """One for a walker; it changes the soles of a command."""

    def __init__(self, gains: LevelGains | None = None) -> None:
        self.gains = gains or LevelGains()
        self.reset()

    def reset(self) -> None:
        """Both feet are as planned."""
        self._turns = np.zeros((2, 2))  # roll and pitch that each foot is turned back by

    def correct(self, command: Command, target: Target, balance: Balance, period: float) -> None:
        """Turn back the feet in the air, and those that landed not long ago."""
        gains = self.gains
        away = balance.lean - command.rotation[:2, 2]
        size = math.hypot(*away)
        tilt = np.array([-away[1], away[0]]) * min(1.0, gains.most / max(size, 1e-9))
        swings = (target.support == "right", target.support == "left")
        for side, swinging in enumerate(swings):
            rate = gains.rise * (tilt - self._turns[side]) if swinging else -gains.fall * self._turns[side]
            self._turns[side] += period * rate
        left, right = command.soles
        command.soles = (
            turned_back(left, right[:3, 3], self._turns[0]),
            turned_back(right, left[:3, 3], self._turns[1]),
        )


def turned_back(sole: Array, about: Array, roll_and_pitch: Array) -> Array:
    """A pose turned by less than half a turn, backwards, about a point."""
    if float(roll_and_pitch @ roll_and_pitch) < 1e-10:
        return sole
    back = turned(np.array([-roll_and_pitch[0], -roll_and_pitch[1], 0.0]))
    result = sole.copy()
    result[:3, :3] = back @ sole[:3, :3]
    result[:3, 3] = about + back @ (sole[:3, 3] - about)
    return result
