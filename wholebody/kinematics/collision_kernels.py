"""How far apart the boxes around shapes are, compiled: what is not near need not be looked at closely."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from wholebody.model.compiled import compiled
from wholebody.model.layout import Array

Integers = npt.NDArray[np.int64]


@compiled
def boxes(placements: Array, links: Integers, at: Array, half: Array, low: Array, high: Array) -> None:
    """Bounds of each shape along the axes of the world: centre ± |R| half."""
    for shape in range(links.size):
        link = placements[links[shape]]
        for row in range(3):
            centre, reach = link[row, 3], 0.0
            for column in range(3):
                centre += link[row, column] * at[shape, column, 3]
                entry = 0.0
                for k in range(3):
                    entry += link[row, k] * at[shape, k, column]
                reach += abs(entry) * half[shape, column]
            low[shape, row], high[shape, row] = centre - reach, centre + reach


@compiled
def gaps(low: Array, high: Array, pairs: Integers, within: float, gap: Array, near: Integers) -> int:
    """How far apart the boxes of each pair are at least; the pairs not further than `within` go to near."""
    count = 0
    for index in range(pairs.shape[0]):
        one, other = pairs[index, 0], pairs[index, 1]
        square = 0.0
        for axis in range(3):
            apart = max(low[one, axis] - high[other, axis], low[other, axis] - high[one, axis])
            if apart > 0.0:
                square += apart * apart
        gap[index] = math.sqrt(square)
        if gap[index] <= within:
            near[count] = index
            count += 1
    return count
