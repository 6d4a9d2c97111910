"""GroundTilt: feet that stand are told to be turned as the ground is, so that the robot is upright above it.

Legs that think the ground level turn all of the robot with it. A foot that lies flat shows how the ground is turned, by
the attitude of the body and its joints; one that rocks on an edge, or swings, shows nothing. While one foot rocks, both
are turned as the other shows: held as it was while that one goes along, it would twist the legs against each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from wholebody.estimation import Balance
from wholebody.locomotion.balance.stabilizers import Command, turned
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array
from wholebody.parameters import Bounds, Unit


@dataclass
class GroundGains:
    """How the ground is followed.

    follow  how fast a foot that lies flat is turned as the ground is
    forget  how fast a foot in the air is turned level
    most    how far a foot is turned at most
    flat    a foot lies flat if its weight is within this share of the sole
    """

    follow: Annotated[float, Unit("1/s"), Bounds(0, 200)] = 15.0
    forget: Annotated[float, Unit("1/s"), Bounds(0, 200)] = 2.0
    most: Annotated[float, Unit("rad"), Bounds(0, 0.5)] = 0.25
    flat: Annotated[float, Unit("1"), Bounds(0, 1)] = 0.9


class GroundTilt:
    """One for a walker; it changes the soles of a command."""

    def __init__(self, outlines: tuple[Array, ...], gains: GroundGains | None = None) -> None:
        """`outlines` of the left and the right sole."""
        self.gains = gains or GroundGains()
        self._middles = np.array([outline.mean(axis=0) for outline in outlines])
        self._halves = np.array([np.ptp(outline, axis=0) / 2 for outline in outlines])
        self.reset()

    def reset(self) -> None:
        """The ground is level."""
        self.tilts = np.zeros((2, 2))  # of each foot: where its upright axis points, x and y in world

    def correct(self, command: Command, balance: Balance, period: float) -> None:
        """Turn the feet that stand about themselves."""
        gains = self.gains
        flat = [self._lies_flat(balance, side) for side in range(2)]
        for side in range(2):
            shows = side if flat[side] else 1 - side
            if balance.contact[side] and flat[shows]:
                seen = balance.sole_to_world[shows, :2, 2]
                self.tilts[side] += min(1.0, period * gains.follow) * (seen - self.tilts[side])
            elif not balance.contact[side]:
                self.tilts[side] -= period * gains.forget * self.tilts[side]
            size = math.hypot(*self.tilts[side])
            self.tilts[side] *= min(1.0, gains.most / max(size, 1e-9))
        left, right = command.soles
        command.soles = (turned_about_itself(left, self.tilts[0]), turned_about_itself(right, self.tilts[1]))

    def _lies_flat(self, balance: Balance, side: int) -> bool:
        if not balance.contact[side]:
            return False
        away = np.abs(balance.cop_in_sole[side] - self._middles[side]) / self._halves[side]
        return bool((away < self.gains.flat).all())


@compiled
def turned_about_itself(sole: Array, lean: Array) -> Array:
    """A level sole whose upright axis points x, y aside."""
    result = sole.copy()
    turn = turned(np.array([-lean[1], lean[0], 0.0]))
    for i in range(3):
        for k in range(3):
            result[i, k] = turn[i, 0] * sole[0, k] + turn[i, 1] * sole[1, k] + turn[i, 2] * sole[2, k]
    return result
