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

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from wholebody.estimation import Balance
from wholebody.locomotion.balance.stabilizers import Command, turned
from wholebody.locomotion.footing import half_length
from wholebody.locomotion.gait import SOLES
from wholebody.locomotion.pendulum import GRAVITY
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.parameters import Bounds, Unit

MOSTLY = 0.6
"""Share of the weight that a foot is to bear: feet that share it may press against each other, and show nothing."""
NOTICED = 0.012
"""rad: ground that is turned by more is not level."""
LEAST = 1e-6
"""rad: a foot that is turned by less is level."""


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
        self._middles = np.array([outline.mean(axis=0) for outline in outlines])
        self._halves = np.array([np.ptp(outline, axis=0) / 2 for outline in outlines])
        self.reset()

    def reset(self) -> None:
        """Both feet are level, until they are seen to stand otherwise."""
        self._begins = True
        self.leans, self.ground, self.rises = np.zeros((2, 2)), np.zeros(2), np.zeros(2)
        self._rates, self._numbers = np.zeros((2, 2)), np.zeros(9)

    def correct(self, command: Command, balance: Balance, period: float, uneven: bool = True) -> None:
        """Turn the feet; `uneven` says whether ground was found where level ground would not be."""
        (left, right), gains, half = command.soles, self.gains, self._half
        if self._begins:  # as it stands, so that nothing leaps
            self.leans[:], self._begins = balance.sole_to_world[:, :2, 2], False
        uneven = uneven or float(np.abs(self.leans).max()) > NOTICED
        self._numbers[:] = (
            *(gains.turn / half, gains.hurry / half, gains.usual * half, gains.loaded * self._weight),
            *(gains.follow, gains.level, gains.fastest, gains.most),
            gains.flat,
        )
        turn_feet(
            left,
            right,
            command.zmp,
            command.left_share,
            balance.wrench_in_sole,
            balance.cop_in_sole,
            balance.sole_to_world,
            self._middles,
            self._halves,
            uneven,
            self._weight,
            period,
            self._numbers,
            self.leans,
            self._rates,
            self.rises,
            self.ground,
        )
        self.hold(command)

    def hold(self, command: Command) -> None:
        """Leave the feet turned as they are."""
        if np.abs(self.leans).max() > LEAST:
            left, right = command.soles
            command.soles = (turned_about_itself(left, self.leans[0]), turned_about_itself(right, self.leans[1]))


@compiled
def turn_feet(
    left: Array, right: Array, zmp: Array, share: float, wrench: Array, cop: Array,
    seen: Array, middles: Array, halves: Array, uneven: bool, weight: float, period: float, numbers: Array,
    leans: Array, rates: Array, rises: Array, ground: Array,
) -> None:  # fmt: skip
    """Turn leans (left and right: x and y) by what is measured; each foot shall be pressed as far from its middle.

    `numbers` are those of YieldGains in m, N, 1/s and rad.
    """
    turn, hurry, usual, loaded, follow, level, fastest, most, flat = numbers
    off_x = zmp[0] - share * left[0, 3] - (1.0 - share) * right[0, 3]
    off_y = zmp[1] - share * left[1, 3] - (1.0 - share) * right[1, 3]
    lies = np.zeros(2, np.bool_)
    for side in range(2):
        away = max(
            abs(cop[side, 0] - middles[side, 0]) / halves[side, 0],
            abs(cop[side, 1] - middles[side, 1]) / halves[side, 1],
        )
        lies[side] = wrench[side, 2] > loaded and away < flat
    for side in range(2):
        sole, lean, rate, force = left if side == 0 else right, leans[side], rates[side], wrench[side, 2]
        shows = side if lies[side] else 1 - side
        if force <= loaded:
            lean += min(1.0, period * level) * (ground - lean)
        elif lies[shows]:
            lean += min(1.0, period * follow) * (seen[shows, :2, 2] - lean)
        before_x, before_y, pressed_x, pressed_y = lean[0], lean[1], 0.0, 0.0
        if uneven and force > loaded and (share if side == 0 else 1.0 - share) > MOSTLY:
            pressed_x = sole[0, 0] * cop[side, 0] + sole[0, 1] * cop[side, 1]
            pressed_y = sole[1, 0] * cop[side, 0] + sole[1, 1] * cop[side, 1]
            wrong_x, wrong_y = off_x - pressed_x, off_y - pressed_y
            counts = max(0.0, 1.0 - usual / max(math.hypot(wrong_x, wrong_y), 1e-9)) * min(1.0, force / weight)
            lean[0] += period * (_hurried(rate, 0, counts * wrong_x, hurry * period, fastest) + turn * counts * wrong_x)
            lean[1] += period * (_hurried(rate, 1, counts * wrong_y, hurry * period, fastest) + turn * counts * wrong_y)
        else:
            rate[:] = 0.0
        lean *= min(1.0, most / max(math.hypot(lean[0], lean[1]), 1e-9))
        rises[side] = (lean[0] - before_x) * pressed_x + (lean[1] - before_y) * pressed_y
    for axis in range(2):
        ground[axis] = _common(leans[0, axis], leans[1, axis])


@compiled
def _common(one: float, other: float) -> float:
    """What two numbers have in common: the one nearer to nothing, or nothing if their signs differ."""
    if one * other <= 0.0:
        return 0.0
    return one if abs(one) < abs(other) else other


@compiled
def _hurried(rate: Array, axis: int, wrong: float, gain: float, fastest: float) -> float:
    """The rate about an axis, gained as long as the error has its sign."""
    held = rate[axis] if rate[axis] * wrong > 0.0 else 0.0
    rate[axis] = min(max(held + gain * wrong, -fastest), fastest)
    faster: float = rate[axis]
    return faster


@compiled
def turned_about_itself(sole: Array, lean: Array) -> Array:
    """A level sole whose upright axis points x, y aside."""
    result = sole.copy()
    turn = turned(np.array([-lean[1], lean[0], 0.0]))
    for i in range(3):
        for k in range(3):
            result[i, k] = turn[i, 0] * sole[0, k] + turn[i, 1] * sole[1, k] + turn[i, 2] * sole[2, k]
    return result
