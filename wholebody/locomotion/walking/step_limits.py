"""Stride: the longest steps that a robot's joints are fast enough for; legs that stretch out would need any speed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from wholebody.locomotion.balance.stabilizers import as_planned
from wholebody.locomotion.walking.footsteps import Feet, Place, to_place
from wholebody.locomotion.walking.gait import Gait
from wholebody.locomotion.walking.legs import Legs
from wholebody.locomotion.walking.pattern import Pattern
from wholebody.locomotion.walking.walker import Walker
from wholebody.model.layout import Array
from wholebody.model.support import convex_hull

STEPS = 3
INTERVAL = 0.01
"""s from one look at the joints to the next."""
SHARE = 0.85
"""Of the velocity that joints can have; the rest is for balance."""
SHORTEST = 0.2
"""Of the length that was asked for: a robot that cannot do that much walks so, and its joints lag."""
ROUNDS = 5
"""Of halving the interval in which the longest step is."""


def fit(walker: Walker) -> None:
    """Shorten the steps of a robot's gait, at leisure and in need, to what its joints can follow."""
    gait, legs = walker.gait, Legs(walker.model)
    if needed_speed(legs, gait, walker.pattern.feet, gait.limits.length) <= SHARE:
        return
    share, too_much = SHORTEST, 1.0
    for _ in range(ROUNDS):
        half = (share + too_much) / 2
        fits = needed_speed(legs, gait, walker.pattern.feet, gait.limits.length * half) <= SHARE
        share, too_much = (half, too_much) if fits else (share, half)
    limits = replace(gait.limits, length=gait.limits.length * share, in_need=gait.limits.in_need * share)
    walker.gait = replace(gait, limits=limits)
    walker.pattern = Pattern(walker.gait, walker.pattern.feet)


def needed_speed(legs: Legs, gait: Gait, feet: Feet, length: float) -> float:
    """The greatest share of its velocity limit that a joint of the legs needs in some steps of a length, as planned."""
    pattern = Pattern(gait, feet)
    pattern.follow(to_place(feet, Place(STEPS * length, 0.0, 0.0), replace(gait.limits, length=length)), 0.0)
    columns = np.concatenate(legs.columns)
    limits = np.array([legs.model.robot.moving[column].velocity for column in columns])
    most, before = 0.0, None
    for time in np.arange(0.0, gait.begin + (STEPS + 1) * gait.step_time, INTERVAL):
        command = as_planned(pattern.at(float(time)))
        legs.balance(command.com, command.rotation, command.soles)
        joints = legs.joints[columns]
        if before is not None and time > 0.1:
            most = max(most, float(np.max(np.abs(joints - before) / limits)) / INTERVAL)
        before = joints
    return most


Outline = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class SoleRoom:
    """The corners of both soles in their frames, of any shape, and how far they stay from each other sideways, m."""

    left: Outline
    right: Outline
    gap: float = 0.0
    _outward: tuple[Array, Array] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Keep both soles convex, with y pointing away from the other foot."""
        object.__setattr__(self, "_outward", (_mirrored(self.left, 1.0), _mirrored(self.right, -1.0)))

    def aside(self, left_steps: bool, forward: float, turn: float) -> float:
        """m. The least distance aside of a foot that is put so far ahead of the other and turned against it.

        −∞ if it is so far ahead, or behind, that it is not beside the other at all.
        """
        left, right = self._outward
        steps, stays, outward = (left, right, turn) if left_steps else (right, left, -turn)
        return aside(stays * (1.0, -1.0), steps, forward, outward) + self.gap


def _mirrored(outline: Iterable[tuple[float, float]], sign: float) -> Array:
    return convex_hull(np.array([(x, sign * y) for x, y in outline]))


def aside(stays: Array, steps: Array, forward: float, turn: float) -> float:
    """How far to the left a convex polygon, turned and put ahead, just touches another: −∞ if it is not beside it.

    Both borders are straight between corners, so the least distance is that at a corner of the one or of the other.
    """
    cosine, sine = math.cos(turn), math.sin(turn)
    turned = steps @ np.array([[cosine, sine], [-sine, cosine]]) + (forward, 0.0)
    return float(
        max((border(stays, turned[:, 0]) - turned[:, 1]).max(), (stays[:, 1] + border(-turned, -stays[:, 0])).max())
    )


def border(corners: Array, x: Array) -> Array:
    """The greatest y of a polygon at each x; −∞ where it is not."""
    (ax, ay), (bx, by) = corners.T, np.roll(corners, -1, axis=0).T
    x = x[:, None]
    upright = ax == bx
    share = np.where(upright, 0.0, (x - ax) / np.where(upright, 1.0, bx - ax))
    y = np.where(upright, np.maximum(ay, by), ay + share * (by - ay))
    beside = (np.minimum(ax, bx) <= x) & (x <= np.maximum(ax, bx))
    most: Array = np.where(beside, y, -np.inf).max(axis=1)
    return most


_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(8)
SHARES: Array = 0.5 * (1.0 + _POINTS)
"""Of the time of a swing: where it is looked at to integrate over it (Gauss and Legendre)."""
WAYS: Array = 0.5 * _WEIGHTS * SHARES**3 * (10.0 - 15.0 * SHARES + 6.0 * SHARES**2)
LEAST = 0.25
"""Of what the weight alone would do: legs so heavy that less is left are not for catching."""


def caught_by_a_step(omega: float, leg_share: float, left: float, double_support: float, then: float) -> float:
    """Δξ / d of the plan when a foot lands that is put further by d, in `left` seconds, as is all that follows.

    ξ(t) of a pendulum is ω ∫ eᵚ⁽ᵗ⁻ˢ⁾ z(s) ds over all that comes. The weight goes over to the foot in the time T of
    double support: (1 − e⁻ᵚᵀ) / ωT. But the legs that go further, this one and the other in its swing of `then` seconds
    (none if 0), put z back by leg_share of their ways, see Pattern.
    """
    slow = omega * double_support
    weight = -math.expm1(-slow) / slow
    legs = math.exp(omega * left) * _way_to_come(omega, left)
    if then > 0.0:
        legs += math.exp(-slow) * _way_to_come(omega, then)
    return max(weight - leg_share * legs, LEAST * weight)


def _way_to_come(omega: float, duration: float) -> float:
    """ω ∫ e⁻ᵚᵗ x(t) dt of a foot that goes a metre in that time, and stays there."""
    total = float(WAYS @ np.exp(-omega * duration * SHARES))
    return omega * duration * total + math.exp(-omega * duration)
