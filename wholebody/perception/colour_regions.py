"""ColourRegions: parts of a picture that have a colour; what of them is cut off by its edge, and how far they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from wholebody.perception.camera_model import CameraModel, Picture
from wholebody.robots.robot import Array

SMALLEST = 12
"""Pixels: less may be anything."""
FRONT = 0.87
"""How far before its axis, in radii, half of what one sees of a round thing is: √(1 − ½²)."""
PIXEL = 0.5
"""px by which the middle of a colour region is off."""
NEARER = 0.04
"""m that something is nearer than an object of which it hides a part; hands and parts of the object may be a little."""
BESIDE = 3
"""px around a colour region where that shows; at the very edge of it depths are mixed."""
FEW = 3
"""px that may be wrong."""
KNOWN = 0.004
"""m by which half of a length is off that was seen in another picture."""
ENDS = (2.0, 98.0)
"""Percentiles of height where an object ends: a few pixels of its edge may show what is behind it."""
UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Colour:
    """A colour to look for: hue and how much it may differ, in degrees; how strong and how bright it is at least."""

    hue: float
    tolerance: float = 20.0
    saturation: float = 0.5
    value: float = 0.2

    def mask(self, picture: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
        """Where a picture, height × width × 3, has it."""
        channels = [np.ascontiguousarray(picture[:, :, each]) for each in range(3)]
        high, low = (reduce(extreme, channels) for extreme in (np.maximum, np.minimum))
        mask = (high >= 255 * self.value) & (high - low >= np.float32(self.saturation) * high)
        red, green, blue = picture[mask].astype(np.float32).T  # a small part of the picture, as a rule
        most, range_ = high[mask], np.maximum(high[mask] - low[mask], 1)
        sixths = np.select(
            [most == red, most == green],
            [(green - blue) / range_, 2 + (blue - red) / range_],
            4 + (red - green) / range_,
        )
        mask[mask] = np.abs((60.0 * sixths - self.hue + 180.0) % 360.0 - 180.0) <= self.tolerance
        return np.asarray(mask)


@dataclass(frozen=True)
class Look:
    """An object as one picture shows it: where it is in the camera, m, and how that is spread; radius and length, m.

    ends    whether its lower and its upper end are seen; if not, the picture cuts it off, or something nearer hides it
    sides   whether both of its sides are
    """

    point_in_camera: Array
    covariance_in_camera: Array
    up_in_camera: Array
    radius: float
    length: float
    ends: tuple[bool, bool] = (True, True)
    sides: bool = True

    @property
    def whole(self) -> bool:
        """Whether all of it is seen."""
        return self.sides and all(self.ends)

    @property
    def unseen_in_camera(self) -> Array:
        """Projects on the directions in which the picture does not show where its middle is, 3 × 3."""
        if not self.sides:
            return np.eye(3)
        return np.zeros((3, 3)) if all(self.ends) else np.outer(self.up_in_camera, self.up_in_camera)

    def completed(self, length: float) -> Look:
        """The same if one knows how long the thing is: then one end of it tells where its middle is."""
        low, high = self.ends
        if not self.sides or low == high:
            return self
        up, more = self.up_in_camera, 0.5 * (length - self.length)
        spread = self.covariance_in_camera + KNOWN**2 * np.outer(up, up)
        point = self.point_in_camera + (more if low else -more) * up
        return replace(self, point_in_camera=point, covariance_in_camera=spread, length=length, ends=(True, True))


def looks(
    picture: npt.NDArray[np.uint8], depth: Picture, colour: Colour, lens: CameraModel, up_in_camera: Array = UP
) -> list[Look]:
    """The objects of a colour in a picture, the largest first; each is taken for round and upright."""
    mask = colour.mask(picture)
    if not mask.any():
        return []
    down, across = (_span(np.flatnonzero(mask.any(axis=axis))) for axis in (1, 0))
    labels, _ = ndimage.label(mask[down, across], structure=np.ones((3, 3), int))
    found = []
    for number, (high, wide) in enumerate(ndimage.find_objects(labels), 1):
        part = labels[high, wide] == number
        if part.sum() >= SMALLEST:
            rows, columns = _shifted(high, down.start), _shifted(wide, across.start)
            found.append((int(part.sum()), _look(part, rows, columns, depth, lens, up_in_camera)))
    return [look for _, look in sorted(found, key=lambda each: -each[0])]


def _span(which: npt.NDArray[np.intp]) -> slice:
    """From the first to the last of them."""
    return slice(int(which[0]), int(which[-1]) + 1)


def _shifted(span: slice, by: int) -> slice:
    return slice(span.start + by, span.stop + by)


def _look(
    part: npt.NDArray[np.bool_], rows: slice, columns: slice, depth: Picture, lens: CameraModel, up: Array
) -> Look:
    """The near end of an object fills more of the picture: its middle is that of its ends, not that of its pixels."""
    down, across = np.nonzero(part)
    depths = depth[rows, columns][part]
    points = lens.points(columns.start + across, rows.start + down, depths)
    radius = 0.5 * float(np.median(part.sum(axis=1)) * np.median(depths)) / lens.focal
    heights = points @ up
    low, high = (float(each) for each in np.percentile(heights, ENDS))
    front = np.median(points - np.outer(heights, up), axis=0)  # as seen from above
    away = front / max(float(np.linalg.norm(front)), radius)
    point = front + FRONT * radius * away + 0.5 * (low + high) * up
    far = float(point[0])
    ray = lens.depth_error(far, lens.scatter) / far * point
    spread = np.outer(ray, ray) + (PIXEL * far / lens.focal) ** 2 * np.eye(3)
    below, above, aside = _hidden(part, rows, columns, depth)
    ends = rows.stop < lens.height and not below, rows.start > 0 and not above
    sides = columns.start > 0 and columns.stop < lens.width and not aside
    return Look(point, spread, up, radius, high - low, ends, sides)


def _hidden(part: npt.NDArray[np.bool_], rows: slice, columns: slice, depth: Picture) -> tuple[bool, bool, bool]:
    """Whether something nearer hides an object below, above, and aside of where one sees it."""
    around = np.pad(part, BESIDE)
    near = np.pad(depth, BESIDE, constant_values=np.inf)
    near = near[rows.start : rows.stop + 2 * BESIDE, columns.start : columns.stop + 2 * BESIDE]
    own = ndimage.maximum_filter(np.where(around, near, -np.inf), 2 * BESIDE + 1)
    hides = np.nonzero(~around & (near < own - NEARER))[0]
    quarter = len(around) // 4
    above, below = int((hides < quarter).sum()), int((hides >= len(around) - quarter).sum())
    return below >= FEW, above >= FEW, len(hides) - above - below > above + below + FEW
