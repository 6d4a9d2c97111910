"""Footholds: where on uneven ground a limb is put, near to where it would go on level ground.

ground = RoughGround(heights)
ground.foothold((x, y))              # x, y and height of the best place nearby
ground.highest_between(start, end)   # what a limb has to get over on its way
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy.ndimage import maximum_filter, minimum_filter

from wholebody.model.layout import Array
from wholebody.perception.height_map import HeightMap


class Ground(Protocol):
    """What limbs are put on."""

    def foothold(self, wanted: Array) -> Array:
        """x, y and height of where a limb that wants to be at x y is put."""
        ...

    def highest_between(self, start: Array, end: Array) -> float:
        """The highest point on the way, m."""
        ...


class LevelGround:
    """A plane of height 0, on which every place is as good as another."""

    def foothold(self, wanted: Array) -> Array:
        """Where it wants to be."""
        return np.array([wanted[0], wanted[1], 0.0])

    def highest_between(self, start: Array, end: Array) -> float:
        """Zero."""
        return 0.0


class RoughGround:
    """Ground of known heights, as they were when it was made.

    Of the places around the one that is wanted it takes the one with the least

        distance + unevenness · (highest − lowest height under the limb) + climbing · |height − mean height around|

    radius       of the limb where it bears, m
    search       how far from where it wants to be a limb may go, m
    unevenness   metres of way that a metre of unevenness under the limb is worth
    climbing     metres of way that a metre up or down is worth

    What nobody has seen is no place to be put; where nothing is known around, the ground is taken for level.
    """

    def __init__(
        self,
        heights: HeightMap,
        radius: float = 0.06,
        search: float = 0.12,
        unevenness: float = 20.0,
        climbing: float = 1.0,
    ) -> None:
        self.heights, self.radius, self.unevenness, self.climbing = heights, radius, unevenness, climbing
        under = _disk(radius / heights.cell)
        unknown = np.isnan(heights.heights)
        highest = maximum_filter(np.where(unknown, -np.inf, heights.heights), footprint=under, mode="nearest")
        lowest = minimum_filter(np.where(unknown, np.inf, heights.heights), footprint=under, mode="nearest")
        blind = maximum_filter(unknown, footprint=under, mode="nearest")
        self._highest = np.where(np.isfinite(highest), highest, 0.0)
        self._rough = np.where(blind, np.inf, highest - lowest)
        around = np.argwhere(_disk(search / heights.cell)) - int(search / heights.cell)
        self._around = around[np.argsort((around**2).sum(axis=1), kind="stable")]

    def foothold(self, wanted: Array) -> Array:
        """The best place nearby."""
        cells = self._around + self.heights.cells(wanted)
        cells = cells[((cells >= 0) & (cells < self._rough.shape)).all(axis=1)]
        rough, height = self._rough[tuple(cells.T)], self._highest[tuple(cells.T)]
        known = np.isfinite(rough)
        if not known.any():
            return np.array([wanted[0], wanted[1], 0.0])
        places = np.asarray(self.heights.corner) + (cells + 0.5) * self.heights.cell
        cost = np.linalg.norm(places - np.asarray(wanted)[:2], axis=1) + self.unevenness * rough
        best = int(np.argmin(cost + self.climbing * np.abs(height - height[known].mean())))
        return np.array([*places[best], height[best]])

    def highest_between(self, start: Array, end: Array) -> float:
        """The highest point within a radius of the straight way."""
        way = np.asarray(end)[:2] - np.asarray(start)[:2]
        count = 2 + int(float(np.linalg.norm(way)) / self.heights.cell)
        cells = self.heights.cells(np.asarray(start)[:2] + np.linspace(0.0, 1.0, count)[:, None] * way)
        cells = np.clip(cells, 0, np.array(self._highest.shape) - 1)
        return float(self._highest[tuple(cells.T)].max())


def _disk(cells: float) -> npt.NDArray[np.bool_]:
    """A round patch of so many cells to each side."""
    reach = np.arange(-int(cells), int(cells) + 1)
    return np.asarray(reach[:, None] ** 2 + reach**2 <= cells**2)
