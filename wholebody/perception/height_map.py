"""HeightMap: how high the ground is, on a grid; from pictures of depth, or from boxes that one knows.

heights = HeightMap.over((-0.5, 3.0), (-1.0, 1.0))
heights.see(depth, lens, camera_to_world)
heights.at(x, y), heights.roughness(x, y, radius)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from wholebody.errors import BadGoal
from wholebody.perception.camera_model import CameraModel
from wholebody.robots.robot import Array

OWN = 0.2
"""m: nearer to the origin of one of the robot's own links, what is seen may be the link."""
REMEMBERED = 8
"""Pictures over which a cell's height is averaged."""
BELOW, SURELY, HOLE = -0.05, 0.03, -1.0
"""m: the height at which a picture looks through the ground, if it shows what is so much farther, and how low the
ground is taken to be then."""


@dataclass(eq=False)
class HeightMap:
    """Cells of a size in metres, from a corner on, x then y; cells not seen yet are NaN."""

    corner: tuple[float, float]
    cell: float
    heights: Array

    def __post_init__(self) -> None:
        """No cell was looked at yet."""
        self._looks = np.zeros(self.heights.shape)

    @classmethod
    def over(cls, x: tuple[float, float], y: tuple[float, float], cell: float = 0.02) -> HeightMap:
        """A map of a rectangle of which nothing is known yet."""
        counts = [round((high - low) / cell) for low, high in (x, y)]
        if not (0 < cell < 1 and all(0 < count <= 5000 for count in counts)):
            raise BadGoal(f"a map over {x} and {y} in cells of {cell} m; give 1 to 5000 cells each way")
        return cls((x[0], y[0]), cell, np.full(counts, np.nan))

    def put_boxes(self, boxes: Iterable[tuple[float, float, float, float, float]], ground: float = 0.0) -> None:
        """All of the ground as known, and boxes on it: middle x y, length, width and height of their tops."""
        self.heights[:] = ground
        for x, y, length, width, top in boxes:
            part = self._part((x - length / 2, x + length / 2), (y - width / 2, y + width / 2))
            np.maximum(part, top, out=part)

    def put_level(self, x: tuple[float, float], y: tuple[float, float], height: float = 0.0) -> None:
        """A rectangle of ground as known: what the robot stands on."""
        self._part(x, y)[:] = height

    def keep_inside(self, x: float, y: float, margin: float) -> None:
        """Move the map so that a place is this far inside, if it is not; what is then beyond the map is forgotten.

        On a small map it is in the middle.
        """
        place, reach = np.array([x, y]), np.minimum(margin, self.cell * (np.array(self.heights.shape) - 1) / 2)
        low, high = self.cells(place - reach), self.cells(place + reach) + 1
        by = np.minimum(low, 0) + np.maximum(high - self.heights.shape, 0)
        if not by.any():
            return
        self.heights, self._looks = _moved(self.heights, by, np.nan), _moved(self._looks, by, 0.0)
        self.corner = (self.corner[0] + self.cell * float(by[0]), self.corner[1] + self.cell * float(by[1]))

    def _part(self, x: tuple[float, float], y: tuple[float, float]) -> Array:
        """The cells of a rectangle that are on the map."""
        (i, j), (k, m) = self._cell(x[0], y[0]), self._cell(x[1], y[1])
        return self.heights[max(i, 0) : max(k + 1, 0), max(j, 0) : max(m + 1, 0)]

    def see(
        self,
        depth: npt.NDArray[np.float32],
        lens: CameraModel,
        camera_to_world: Array,
        farthest: float = 4.0,
        own: Array | None = None,
    ) -> None:
        """Take in what a camera sees: metres along its axis, pixel by pixel; NaN where it cannot tell.

        A cell is as high as its highest point, on average over the last pictures of it. Points near to `own` (n × 3),
        where the robot's own links are, are left out. In the shadow of an edge no ground is seen, but one looks through
        where it should be: there is a hole.
        """
        v, u = np.nonzero(depth < farthest)  # neither endless nor no number
        points = lens.points(u, v, depth[v, u]) @ camera_to_world[:3, :3].T + camera_to_world[:3, 3]
        if own is not None:
            points = points[(cdist(points, own, "sqeuclidean") > OWN**2).all(axis=1)]
        cells = self.cells(points)
        inside = ((cells >= 0) & (cells < self.heights.shape)).all(axis=1)
        index, seen = tuple(cells[inside].T), np.full(self.heights.shape, -np.inf)
        np.maximum.at(seen, index, points[inside, 2])
        known = np.isfinite(seen)
        self._looks[known] = np.minimum(self._looks[known] + 1, REMEMBERED)
        before = np.where(self._looks[known] > 1, self.heights[known], seen[known])
        self.heights[known] = before + (seen[known] - before) / self._looks[known]
        self._see_through(depth, lens, camera_to_world, farthest)

    def _see_through(
        self, depth: npt.NDArray[np.float32], lens: CameraModel, camera_to_world: Array, farthest: float
    ) -> None:
        """Cells that were never seen, and through which a picture looks, are holes."""
        cells = np.argwhere(self._looks == 0)
        places = np.asarray(self.corner) + (cells + 0.5) * self.cell
        near = ((places - camera_to_world[:2, 3]) ** 2).sum(axis=1) < farthest**2
        cells, points = cells[near], np.column_stack([places[near], np.full(near.sum(), BELOW)])
        seen = (points - camera_to_world[:3, 3]) @ camera_to_world[:3, :3]
        away, (u, v) = seen[:, 0], (np.rint(each).astype(np.int64) for each in lens.pixels(seen))
        inside = (away > 0) & (u >= 0) & (u < lens.width) & (v >= 0) & (v < lens.height)
        through = depth[v[inside], u[inside]] > away[inside] + SURELY
        self.heights[tuple(cells[inside][through].T)] = HOLE

    def at(self, x: float, y: float) -> float:
        """Metres; NaN where nothing is known, or beyond the map."""
        i, j = self._cell(x, y)
        rows, columns = self.heights.shape
        return float(self.heights[i, j]) if 0 <= i < rows and 0 <= j < columns else float("nan")

    def around(self, x: float, y: float, radius: float) -> Array:
        """The heights of all cells whose middle is nearer than a radius, as far as the map goes."""
        reach = int(np.ceil(radius / self.cell))
        i, j = self._cell(x, y)
        rows = np.arange(max(i - reach, 0), min(i + reach + 1, self.heights.shape[0]))
        columns = np.arange(max(j - reach, 0), min(j + reach + 1, self.heights.shape[1]))
        dx = self.corner[0] + (rows + 0.5) * self.cell - x
        dy = self.corner[1] + (columns + 0.5) * self.cell - y
        near = dx[:, None] ** 2 + dy[None, :] ** 2 < radius**2
        return np.asarray(self.heights[np.ix_(rows, columns)][near])

    def roughness(self, x: float, y: float, radius: float) -> float:
        """Highest minus lowest around a place, m; infinite if a cell there is unknown, or beyond the map."""
        heights = self.around(x, y, radius)
        if len(heights) == 0 or not np.isfinite(heights).all():
            return float("inf")
        return float(np.ptp(heights))

    def cells(self, places: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Row and column of the cells of places, x y first; also of those beyond the map."""
        return np.floor((np.asarray(places)[..., :2] - self.corner) / self.cell).astype(np.int64)

    def _cell(self, x: float, y: float) -> tuple[int, int]:
        i, j = self.cells((x, y))
        return int(i), int(j)


def _moved(cells: Array, by: npt.NDArray[np.int64], unknown: float) -> Array:
    """Cells seen from a corner that is so many of them farther on."""
    result, (rows, columns) = np.full(cells.shape, unknown), cells.shape
    i, j = (int(each) for each in by)
    kept = cells[max(i, 0) : max(rows + i, 0), max(j, 0) : max(columns + j, 0)]
    result[max(-i, 0) : max(-i, 0) + len(kept), max(-j, 0) : max(-j, 0) + kept.shape[1]] = kept
    return result
