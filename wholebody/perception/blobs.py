"""Blobs: parts of a picture that have a colour; what of them is cut off by its edge, and how far they are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from wholebody.perception.lens import Lens, Picture
from wholebody.robots.robot import Array

SMALLEST = 12
"""Pixels: less may be anything."""
FRONT = 0.87
"""How far before its axis, in radii, half of what one sees of a round thing is: √(1 − ½²)."""
PIXEL = 0.5
"""px by which the middle of a blob is off."""


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
    """A thing as one picture shows it: where it is in the camera, m, and how that is spread; its radius, m."""

    point_in_camera: Array
    covariance_in_camera: Array
    radius: float
    cut: bool


def looks(picture: npt.NDArray[np.uint8], depth: Picture, colour: Colour, lens: Lens) -> list[Look]:
    """The things of a colour in a picture, the largest first; each is taken for round and upright."""
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
            found.append((int(part.sum()), _look(part, rows, columns, depth[rows, columns], lens)))
    return [look for _, look in sorted(found, key=lambda each: -each[0])]


def _span(which: npt.NDArray[np.intp]) -> slice:
    """From the first to the last of them."""
    return slice(int(which[0]), int(which[-1]) + 1)


def _shifted(span: slice, by: int) -> slice:
    return slice(span.start + by, span.stop + by)


def _look(part: npt.NDArray[np.bool_], rows: slice, columns: slice, depth: Picture, lens: Lens) -> Look:
    down, across = np.nonzero(part)
    front = float(np.median(depth[part]))
    radius = 0.5 * float(np.median(part.sum(axis=1))) * front / lens.focal
    far = front + FRONT * radius
    point = lens.point(columns.start + float(across.mean()), rows.start + float(down.mean()), far)
    cut = rows.start == 0 or columns.start == 0 or rows.stop == lens.height or columns.stop == lens.width
    aside = PIXEL * far / lens.focal
    hidden = 0.5 * max(part.shape) * far / lens.focal if cut else 0.0
    spread = np.diag([lens.depth_error(far, lens.scatter) ** 2, aside**2, aside**2]) + hidden**2 * np.eye(3)
    return Look(point, spread, radius, bool(cut))
