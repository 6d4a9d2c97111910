"""SoleRoom: how far aside a foot is to be put so that its sole does not meet the other's, turned as it may be."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

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
