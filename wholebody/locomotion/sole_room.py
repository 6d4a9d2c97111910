"""SoleRoom: how far aside a foot is to be put so that its sole does not meet the other's, turned as it may be."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from wholebody.model.compiled import compiled
from wholebody.model.layout import Array
from wholebody.model.support import convex_hull

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


@compiled
def aside(stays: Array, steps: Array, forward: float, turn: float) -> float:
    """How far to the left a convex polygon, turned and put ahead, just touches another: −∞ if it is not beside it.

    Both borders are straight between corners, so the least distance is that at a corner of the one or of the other.
    """
    cosine, sine = math.cos(turn), math.sin(turn)
    turned = np.empty_like(steps)
    for i in range(len(steps)):
        turned[i, 0] = forward + cosine * steps[i, 0] - sine * steps[i, 1]
        turned[i, 1] = sine * steps[i, 0] + cosine * steps[i, 1]
    least = -math.inf
    for corner in turned:
        least = max(least, border(stays, corner[0], 1.0) - corner[1])
    for corner in stays:
        least = max(least, corner[1] + border(turned, corner[0], -1.0))
    return least


@compiled
def border(corners: Array, x: float, sign: float) -> float:
    """The greatest y of a polygon at x, or the greatest −y; −∞ where it is not."""
    most = -math.inf
    for i in range(len(corners)):
        ax, ay = corners[i]
        bx, by = corners[(i + 1) % len(corners)]
        if min(ax, bx) <= x <= max(ax, bx):
            share = 0.0 if ax == bx else (x - ax) / (bx - ax)
            most = max(most, sign * (ay + share * (by - ay)))
            if ax == bx:
                most = max(most, sign * by)
    return most
