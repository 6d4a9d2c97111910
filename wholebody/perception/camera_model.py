"""CameraModel: pixels and rays of a camera, and how well a pair of cameras measures depth.

A camera looks along x, with y to the left and z up; a pixel (u, v) and the point (1, y, z)·d belong together by
u = cx − f y, v = cy − f z. A stereo pair with baseline B measures the disparity D = f B / d, so an error δ of the
disparity, in pixels, is one of d² δ / (f B) in depth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from wholebody.robots.robot import Array

Picture = npt.NDArray[np.float32]
NEAREST = 1e-3
"""m: what is nearer, or behind the camera, is in no picture."""


@dataclass(frozen=True)
class CameraModel:
    """A camera without distortion, its vertical field of view in rad, and the stereo pair that it belongs to.

    baseline   m between the two cameras
    scatter    px, by which a disparity is off in each picture anew
    bias       px, by which disparities are off for ever: what calibration left over
    """

    width: int
    height: int
    field_of_view: float
    baseline: float = 0.06
    scatter: float = 0.25
    bias: float = 0.08

    @property
    def focal(self) -> float:
        """Pixels."""
        return 0.5 * self.height / math.tan(0.5 * self.field_of_view)

    @property
    def middle(self) -> tuple[float, float]:
        """The pixel straight ahead."""
        return 0.5 * (self.width - 1), 0.5 * (self.height - 1)

    def point(self, u: float, v: float, depth: float) -> Array:
        """The point of a pixel at a depth along the axis, m, in the camera."""
        return np.asarray(self.points(np.array([u]), np.array([v]), np.array([depth]))[0])

    def points(self, u: npt.NDArray[Any], v: npt.NDArray[Any], depth: npt.NDArray[Any]) -> Array:
        """The points of many pixels: n × 3."""
        across, down = self.middle
        return np.column_stack([depth, depth * (across - u) / self.focal, depth * (down - v) / self.focal])

    def pixel(self, point_in_camera: Array) -> tuple[float, float] | None:
        """Where a point is in the picture, or would be beside it; None if it is behind the camera."""
        point = np.asarray(point_in_camera, float)[None]
        if point[0, 0] <= NEAREST:
            return None
        (u,), (v,) = self.pixels(point)
        return float(u), float(v)

    def pixels(self, points_in_camera: Array) -> tuple[Array, Array]:
        """Where n × 3 points before the camera are in the picture, or would be beside it: columns and rows."""
        across, down = self.middle
        x, y, z = points_in_camera.T
        x = np.maximum(x, NEAREST)
        return across - self.focal * y / x, down - self.focal * z / x

    def depth_error(self, depth: float, pixels: float) -> float:
        """How far a depth is off, m, if a disparity is off by so many pixels."""
        return depth**2 * pixels / (self.focal * self.baseline)

    def as_measured(self, depth: Picture, bias: float, random: np.random.Generator) -> Picture:
        """A true depth picture as the stereo pair would have it: every disparity off by the bias and by scatter.

        The scatter is one for the whole picture, as matching errs alike on a whole object, and a little for each pixel.
        """
        off = bias + self.scatter * random.standard_normal() + 0.2 * self.scatter * random.standard_normal(depth.shape)
        disparity = self.focal * self.baseline / depth + off
        return np.asarray(self.focal * self.baseline / np.maximum(disparity, 1e-3), np.float32)
