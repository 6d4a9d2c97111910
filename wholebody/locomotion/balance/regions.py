"""ZMP regions: safe, nearly critical and critical parts of the area that the feet span (Stabilizer, 5.2)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated

import numpy as np

from wholebody import _kernels
from wholebody.errors import BadGait
from wholebody.locomotion.balance.support_area import nearest_inside, scaled
from wholebody.model.layout import Array
from wholebody.parameters import Bounds, Unit


class Region(IntEnum):
    """How near to its limit the zero moment point is."""

    SAFE = 0  # nothing is to be done
    NEARLY_CRITICAL = 1  # balance is a second task
    CRITICAL = 2  # balance is the only task
    OUTSIDE = 3  # off the feet: measured wrongly, or falling


@dataclass(frozen=True)
class Regions:
    """The support area, scaled about its middle: any convex polygon, of one foot or of both.

    safe             share of the support area in which nothing is to be done
    nearly_critical  share of the support area beyond which balance is the only task
    """

    safe: Annotated[float, Unit("1"), Bounds(0, 1)] = 0.5
    nearly_critical: Annotated[float, Unit("1"), Bounds(0, 1)] = 0.8

    def __post_init__(self) -> None:
        """Refuse regions that are not within each other."""
        if not 0 < self.safe < self.nearly_critical < 1:
            raise BadGait(
                f"regions of {self.safe} and {self.nearly_critical} of the support area; "
                "give 0 < safe < nearly critical < 1"
            )

    def of(self, area: Array, zmp: Array) -> Region:
        """In which region a zero moment point is; corners counter-clockwise."""
        depth = share_of(area, zmp)
        if depth <= self.safe:
            return Region.SAFE
        if depth <= self.nearly_critical:
            return Region.NEARLY_CRITICAL
        return Region.CRITICAL if depth <= 1.0 else Region.OUTSIDE

    def nearest(self, area: Array, zmp: Array, share: float) -> Array:
        """The nearest point of the area scaled to a share of itself."""
        return nearest_inside(scaled(area, share), zmp)


def share_of(area: Array, point: Array) -> float:
    """How large a share of the area, scaled about its middle, just holds the point: 0 in the middle, 1 on the edge."""
    return _kernels.locomotion_share_of_area(np.ascontiguousarray(area, np.float64), np.asarray(point, np.float64))
