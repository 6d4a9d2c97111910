"""SoleYield: feet are turned until they lie on the ground, whatever it is like there, and the robot is upright above.

A foot that lies flat shows how the ground is turned, by the attitude of the body and its joints, and is told so, or the
legs would turn all of the robot with it. While one foot rocks, both are turned as the other shows. A foot that swings
comes down as both have found the ground so far: what one alone has found may be an edge.

On ground that is not level, a foot that is to be pressed at a point p* of its sole, and is pressed at p, lies otherwise
than it was thought to. So it is turned about p, towards p*: the point where its upright axis points, x and y in world,
moves with

    u = r + k e,  ṙ = h e,  e = (p* − p) F / Mg beyond a difference that walking makes anyway,

as on a damper; the longer turning does not help, the faster, because a foot on an edge turns freely until it lies down.
Where p has come to p*, or passed it, r is forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from wholebody import _kernels
from wholebody.estimation import Balance
from wholebody.locomotion.balance.stabilizers import Command
from wholebody.locomotion.footing import half_length
from wholebody.locomotion.gait import SOLES
from wholebody.locomotion.pendulum import GRAVITY
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.parameters import Bounds, Unit

_SHAPES = (("leans", (2, 2)), ("rates", (2, 2)), ("rises", 2), ("ground", 2))

NOTICED = 0.012
"""rad: ground that is turned by more is not level."""
LEAST = 1e-6
"""rad: a foot that is turned by less is level."""
COMPLIANCE = np.dtype([(name, np.float64, shape) for name, shape in _SHAPES])
"""FootCompliance of locomotion.h."""


@dataclass
class YieldGains:
    """How feet yield; lengths are in half lengths of a sole.

    turn     k: how fast a foot is turned that is pressed elsewhere than it shall be
    hurry    h: how quickly it gains speed
    usual    how far off pressure is anyway
    loaded   a foot that bears less of the weight shows nothing
    follow   how fast a foot that lies flat is turned as the ground is
    flat     a foot lies flat if its weight is within this share of the sole
    level    how fast a foot in the air is turned as both feet have found the ground
    fastest  how fast a foot is turned at most
    most     how far a foot is turned at most
    """

    turn: Annotated[float, Unit("rad/s"), Bounds(0, 10)] = 0.22
    hurry: Annotated[float, Unit("rad/s²"), Bounds(0, 200)] = 27.5
    usual: Annotated[float, Unit("1"), Bounds(0, 2)] = 0.27
    loaded: Annotated[float, Unit("1"), Bounds(0, 1)] = 0.1
    follow: Annotated[float, Unit("1/s"), Bounds(0, 50)] = 15.0
    flat: Annotated[float, Unit("1"), Bounds(0, 1)] = 0.9
    level: Annotated[float, Unit("1/s"), Bounds(0, 50)] = 15.0
    fastest: Annotated[float, Unit("rad/s"), Bounds(0, 10)] = 1.0
    most: Annotated[float, Unit("rad"), Bounds(0, 0.5)] = 0.2


class SoleYield:
    """One for a walker; it changes the soles of a command.

    `leans` say where the upright axis of each sole points, x and y in world, and `ground` what both have in common;
    `rises` is by how much each sole rose as it was turned.
    """

    def __init__(self, model: Model, gains: YieldGains | None = None) -> None:
        self.gains = gains or YieldGains()
        self._weight, self._half = model.total_mass * GRAVITY, half_length(model)
        outlines = [np.array(model.robot.surface(sole).outline) for sole in SOLES]
        middles, halves = [each.mean(axis=0) for each in outlines], [np.ptp(each, axis=0) / 2 for each in outlines]
        self._gains = np.concatenate([np.zeros(9), [self._weight], *middles, *halves])
        self.reset()

    def reset(self) -> None:
        """Both feet are level, until they are seen to stand otherwise."""
        self._begins = True
        feet = np.zeros(1, COMPLIANCE)
        self.leans, self.ground, self.rises = feet["leans"][0], feet["ground"][0], feet["rises"][0]
        self._feet = feet.view(np.float64)

    def correct(self, command: Command, balance: Balance, period: float, uneven: bool = True) -> None:
        """Turn the feet; `uneven` says whether ground was found where level ground would not be."""
        (left, right), gains, half = command.soles, self.gains, self._half
        if self._begins:  # as it stands, so that nothing leaps
            self.leans[:], self._begins = balance.sole_to_world[:, :2, 2], False
        uneven = uneven or float(np.abs(self.leans).max()) > NOTICED
        self._gains[:9] = (
            *(gains.turn / half, gains.hurry / half, gains.usual * half, gains.loaded * self._weight),
            *(gains.follow, gains.level, gains.fastest, gains.most),
            gains.flat,
        )
        _kernels.locomotion_turn_feet(
            *(self._feet, self._gains, left, right, command.zmp),
            *(balance.wrench_in_sole, balance.cop_in_sole, balance.sole_to_world),
            *(command.left_share, period, uneven),
        )
        self.hold(command)

    def hold(self, command: Command) -> None:
        """Leave the feet turned as they are."""
        if np.abs(self.leans).max() > LEAST:
            left, right = command.soles
            command.soles = (turned_about_itself(left, self.leans[0]), turned_about_itself(right, self.leans[1]))


def turned_about_itself(sole: Array, lean: Array) -> Array:
    """A level sole whose upright axis points x, y aside."""
    result = np.empty((4, 4))
    _kernels.locomotion_turn_sole(sole, lean, result)
    return result
