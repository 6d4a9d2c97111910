"""SoleYield: feet that bear on an edge are turned until they lie on the ground, whatever it is like there.

A foot that is to be pressed at a point p* of its sole, and is pressed at p, lies otherwise than it was thought to. So
it is turned about p, towards p*: the point where its upright axis points, x and y in world, moves with

    u = r + k e,  ṙ = h e,  e = (p* − p) F / Mg beyond a difference that walking makes anyway,

as on a damper; the longer turning does not help, the faster, because a foot on an edge turns freely until it lies down.
Where p has come to p*, or passed it, r is forgotten.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from wholebody.estimation import Balance
from wholebody.locomotion.balance.ground_tilt import turned_about_itself
from wholebody.locomotion.balance.stabilizers import Command
from wholebody.locomotion.footing import half_length
from wholebody.locomotion.pendulum import GRAVITY
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.parameters import Bounds, Unit

MOSTLY = 0.6
"""Share of the weight that a foot is to bear: feet that share it may press against each other, and show nothing."""
LEAST = 1e-6
"""rad: a foot that is turned by less is level."""


@dataclass
class YieldGains:
    """How feet yield; lengths are in half lengths of a sole.

    turn     k: how fast a foot is turned that is pressed elsewhere than it shall be
    hurry    h: how quickly it gains speed
    usual    how far off pressure is anyway
    loaded   a foot that bears less of the weight shows nothing
    forget   how fast a foot that stands is turned back
    level    how fast a foot in the air is
    fastest  how fast a foot is turned at most
    most     how far a foot is turned at most
    """

    turn: Annotated[float, Unit("rad/s"), Bounds(0, 10)] = 0.22
    hurry: Annotated[float, Unit("rad/s²"), Bounds(0, 200)] = 27.5
    usual: Annotated[float, Unit("1"), Bounds(0, 2)] = 0.27
    loaded: Annotated[float, Unit("1"), Bounds(0, 1)] = 0.1
    forget: Annotated[float, Unit("1/s"), Bounds(0, 50)] = 0.5
    level: Annotated[float, Unit("1/s"), Bounds(0, 50)] = 10.0
    fastest: Annotated[float, Unit("rad/s"), Bounds(0, 10)] = 1.0
    most: Annotated[float, Unit("rad"), Bounds(0, 0.5)] = 0.2


class SoleYield:
    """One for a walker; it changes the soles of a command. `rises` is by how much each sole rose as it was turned."""

    def __init__(self, model: Model, gains: YieldGains | None = None) -> None:
        self.gains = gains or YieldGains()
        self._weight, self._half = model.total_mass * GRAVITY, half_length(model)
        self.reset()

    def reset(self) -> None:
        """Both feet are level."""
        self.leans, self.rises = np.zeros((2, 2)), np.zeros(2)
        self._rates, self._numbers = np.zeros((2, 2)), np.zeros(8)

    def correct(self, command: Command, balance: Balance, period: float) -> None:
        """Turn the feet that bear."""
        (left, right), gains, half = command.soles, self.gains, self._half
        self._numbers[:] = (
            *(gains.turn / half, gains.hurry / half, gains.usual * half, gains.loaded * self._weight),
            *(gains.forget, gains.level, gains.fastest, gains.most),
        )
        turned = turn_feet(
            left,
            right,
            command.zmp,
            command.left_share,
            balance.wrench_in_sole,
            balance.cop_in_sole,
            self._weight,
            period,
            self._numbers,
            self.leans,
            self._rates,
            self.rises,
        )
        if turned > LEAST:
            command.soles = (turned_about_itself(left, self.leans[0]), turned_about_itself(right, self.leans[1]))


@compiled
def turn_feet(
    left: Array, right: Array, zmp: Array, share: float, wrench: Array, cop: Array,
    weight: float, period: float, numbers: Array, leans: Array, rates: Array, rises: Array,
) -> float:  # fmt: skip
    """Turn leans (left and right: x and y) by what is measured; each foot shall be pressed as far from its middle.

    `numbers` are those of YieldGains in m, N, 1/s and rad. Returns how far the foot is turned that is turned further.
    """
    turn, hurry, usual, loaded, forget, level, fastest, most = numbers
    off_x = zmp[0] - share * left[0, 3] - (1.0 - share) * right[0, 3]
    off_y = zmp[1] - share * left[1, 3] - (1.0 - share) * right[1, 3]
    for side in range(2):
        sole, lean, rate, force = left if side == 0 else right, leans[side], rates[side], wrench[side, 2]
        before_x, before_y, pressed_x, pressed_y = lean[0], lean[1], 0.0, 0.0
        if (share if side == 0 else 1.0 - share) > MOSTLY and force > loaded:
            pressed_x = sole[0, 0] * cop[side, 0] + sole[0, 1] * cop[side, 1]
            pressed_y = sole[1, 0] * cop[side, 0] + sole[1, 1] * cop[side, 1]
            wrong_x, wrong_y = off_x - pressed_x, off_y - pressed_y
            counts = max(0.0, 1.0 - usual / max(math.hypot(wrong_x, wrong_y), 1e-9)) * min(1.0, force / weight)
            by_x = _hurried(rate, 0, counts * wrong_x, hurry * period, fastest) + turn * counts * wrong_x
            by_y = _hurried(rate, 1, counts * wrong_y, hurry * period, fastest) + turn * counts * wrong_y
            lean[0] += period * (by_x - forget * lean[0])
            lean[1] += period * (by_y - forget * lean[1])
        else:
            rate[:] = 0.0
            lean *= 1.0 - min(1.0, period * level)
        lean *= min(1.0, most / max(math.hypot(lean[0], lean[1]), 1e-9))
        rises[side] = (lean[0] - before_x) * pressed_x + (lean[1] - before_y) * pressed_y
    return max(math.hypot(leans[0, 0], leans[0, 1]), math.hypot(leans[1, 0], leans[1, 1]))


@compiled
def _hurried(rate: Array, axis: int, wrong: float, gain: float, fastest: float) -> float:
    """The rate about an axis, gained as long as the error has its sign."""
    held = rate[axis] if rate[axis] * wrong > 0.0 else 0.0
    rate[axis] = min(max(held + gain * wrong, -fastest), fastest)
    faster: float = rate[axis]
    return faster
