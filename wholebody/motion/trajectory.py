"""Trajectory: a motion as a function of time, with its velocity and acceleration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadMotion

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sample:
    """Position, velocity and acceleration at one time, or with one row for each of many times."""

    time: Array
    position: Array
    velocity: Array
    acceleration: Array


@runtime_checkable
class Trajectory(Protocol):
    """A motion from time 0 to its duration.

    Before time 0 it stands where it begins, after its duration where it ends, at rest. A trajectory of poses has 7
    numbers of position (x y z, quaternion x y z w) and 6 of velocity (linear, then angular, in the axes of the world).
    """

    @property
    def duration(self) -> float:
        """Seconds from the beginning to the end."""
        ...

    def at(self, time: float) -> Sample:
        """Position, velocity and acceleration at a time."""
        ...

    def sample(self, times: npt.ArrayLike) -> Sample:
        """The same at many times: one row for each."""
        ...


def instants(times: npt.ArrayLike) -> Array:
    """Times to sample at, as an array; BadMotion if one of them is no number."""
    asked = np.ascontiguousarray(times, np.float64)
    if asked.ndim != 1:
        raise BadMotion(f"times to sample at are one row of numbers, not an array of shape {asked.shape}")
    if not np.isfinite(asked).all():
        raise BadMotion(f"a trajectory has no value at time {asked[~np.isfinite(asked)][0]}")
    return asked


def only(many: Sample) -> Sample:
    """The first of many samples."""
    return Sample(many.time[0], many.position[0], many.velocity[0], many.acceleration[0])


def steps(duration: float, period: float) -> Array:
    """Times 0, period, 2 period, … up to the first that is not before the end."""
    if not (np.isfinite(period) and period > 0):
        raise BadMotion(f"a period is a positive number of seconds, not {period}")
    count = int(np.ceil(duration / period - 1e-9)) + 1
    return np.arange(count, dtype=np.float64) * period
