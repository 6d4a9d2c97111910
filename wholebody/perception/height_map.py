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

from wholebody.errors import BadGoal
from wholebody.perception.lens import Lens
from wholebody.robots.robot import Array

OWN = 0.2
"""m: nearer to the origin of one of the robot's own links, what is seen may be the link."""
REMEMBERED = 8
"""Pictures over which a cell's height is averaged."""


@dataclass(eq=False)
class HeightMap:
    """Cells of a size in metres, from a corner on, x then y; what nobody has seen is NaN."""

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

    def _part(self, x: tuple[float, float], y: tuple[float, float]) -> Array:
        """The cells of a rectangle that are on the map."""
        (i, j), (k, m) = self._cell(x[0], y[0]), self._cell(x[1], y[1])
        return self.heights[max(i, 0) : max(k + 1, 0), max(j, 0) : max(m + 1, 0)]

    def see(
        self,
        depth: npt.NDArray[np.float32],
        lens: Lens,
        camera_to_world: Array,
        farthest: float = 4.0,
        own: Array | None = None,
    ) -> None:
        """Take in what a camera sees: metres along its axis, pixel by pixel.

        A cell is as high as its highest point, on average over the last pictures of it. Points near to `own` (n × 3),
        where the robot's own links are, are left out.
        """
        v, u = np.indices(depth.shape)
        across, down = lens.middle
        rays = np.stack([np.ones(depth.shape), (across - u) / lens.focal, (down - v) / lens.focal], axis=-1)
        points = (depth[..., None] * rays).reshape(-1, 3) @ camera_to_world[:3, :3].T + camera_to_world[:3, 3]
        near = (depth.ravel() < farthest) & np.isfinite(points).all(axis=1)
        for link in () if own is None else own:
            near &= ((points - link) ** 2).sum(axis=1) > OWN**2
        cells = self.cells(points[near])
        inside = ((cells >= 0) & (cells < self.heights.shape)).all(axis=1)
        index, seen = tuple(cells[inside].T), np.full(self.heights.shape, -np.inf)
        np.maximum.at(seen, index, points[near][inside, 2])
        known = np.isfinite(seen)
        self._looks[known] = np.minimum(self._looks[known] + 1, REMEMBERED)
        before = np.where(self._looks[known] > 1, self.heights[known], seen[known])
        self.heights[known] = before + (seen[known] - before) / self._looks[known]

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
