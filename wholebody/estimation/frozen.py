"""FrozenSensors: which sensors read the same to the last bit while the robot moves, or nothing while it stands on them.

Noise makes a real reading differ from the last one. A simulation without noise repeats itself, too, but only while
nothing moves, and a foot in the air then reads exactly nothing. So a sensor counts as frozen if, for `after` seconds,

    gyro, accelerometer, feet   not one bit changed, and meanwhile some joint moved by more than `moved`
    encoder                     not one bit changed, and meanwhile its joint's reference moved by more than `moved`
    foot that reads zero        as above, and all feet together bear less than `borne` of the weight

and it stays so until it reads something else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadEstimator
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array

GYRO, ACCELEROMETER, FIRST_FOOT = 0, 1, 2
"""Places among the sensors; feet follow, then encoders."""
WIDEST = 6

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class FrozenSettings:
    """When a sensor counts as frozen. An IMU that is read more often than it measures needs a longer `after`."""

    after: float = 0.05  # s
    moved: float = 0.02  # rad, or m of joints that slide
    borne: float = 0.6  # share of the weight

    def __post_init__(self) -> None:
        """Refuse what no robot can keep."""
        if not (0 < self.after < np.inf and 0 < self.moved < np.inf and 0 <= self.borne <= 1):
            raise BadEstimator(f"{self}: `after` and `moved` must be positive, `borne` is a share of the weight")


class FrozenSensors:
    """Watches IMU, feet and encoders, cycle by cycle; `names` are theirs, in the order of `frozen`."""

    def __init__(
        self, feet: Sequence[str], joints: Sequence[str], weight: float, settings: FrozenSettings | None = None
    ) -> None:
        self.settings = settings = FrozenSettings() if settings is None else settings
        self.names = (
            *("the gyro", "the accelerometer"),
            *(f"the force-torque sensor of '{foot}'" for foot in feet),
            *(f"the encoder of '{joint}'" for joint in joints),
        )
        together = FIRST_FOOT + len(feet)
        self.frozen: Flags = np.zeros(len(self.names), np.bool_)
        self._last = np.full((len(self.names), WIDEST), np.nan)
        self._since = np.zeros(len(self.names))
        self._from, self._wanted = np.zeros((together, len(joints))), np.zeros(len(joints))
        self._numbers = np.array([settings.after, settings.moved, settings.borne * weight])

    def update(self, motion: Array, wrenches: Array, position: Array, reference: Array, borne: float, dt: float) -> str:
        """The first sensor that is frozen, by name, or nothing.

        `motion` is quaternion, angular velocity and acceleration of the IMU, `wrenches` those of the feet as read,
        `reference` where each joint was told to be, and `borne` what the feet bear together, N.
        """
        first = look(
            motion, wrenches, position, reference, borne, dt, self._numbers,
            self._last, self._since, self._from, self._wanted, self.frozen,
        )  # fmt: skip
        return self.names[first] if first >= 0 else ""


@compiled
def look(
    motion: Array,
    wrenches: Array,
    position: Array,
    reference: Array,
    borne: float,
    dt: float,
    numbers: Array,
    last: Array,
    since: Array,
    starts: Array,
    wanted: Array,
    frozen: Flags,
) -> int:
    """Which sensor is the first that is frozen, −1 if none is."""
    feet, together = len(wrenches), len(starts)
    for sensor in range(together):
        if sensor < FIRST_FOOT:
            same = _same(last[sensor], motion[4 + 3 * sensor : 7 + 3 * sensor])
        else:
            same = _same(last[sensor], wrenches[sensor - FIRST_FOOT])
        if not same:
            for k in range(len(position)):
                starts[sensor, k] = position[k]
        elif not frozen[sensor]:
            moved = 0.0
            for k in range(len(position)):
                moved = max(moved, abs(position[k] - starts[sensor, k]))
            idle = sensor >= FIRST_FOOT and borne > numbers[2] and not last[sensor].any()
            same = not idle
            frozen[sensor] = _late(since, sensor, dt, numbers) and moved > numbers[1] and not idle
        if not same:
            since[sensor], frozen[sensor] = 0.0, False
    for k in range(len(position)):
        sensor = FIRST_FOOT + feet + k
        if not _same(last[sensor], position[k : k + 1]):
            since[sensor], frozen[sensor], wanted[k] = 0.0, False, reference[k]
        elif not frozen[sensor]:
            frozen[sensor] = _late(since, sensor, dt, numbers) and abs(reference[k] - wanted[k]) > numbers[1]
    for sensor in range(len(frozen)):
        if frozen[sensor]:
            return sensor
    return -1


@compiled
def _same(last: Array, reading: Array) -> bool:
    """Whether a reading is the last one to the bit, which it is from now on; no number is never the same."""
    same = True
    for k in range(len(reading)):
        same = same and last[k] == reading[k]
        last[k] = reading[k]
    return same


@compiled
def _late(since: Array, sensor: int, dt: float, numbers: Array) -> bool:
    since[sensor] += dt
    return bool(since[sensor] >= numbers[0] - 1e-9)
