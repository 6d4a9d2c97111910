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

from wholebody import _kernels
from wholebody.errors import BadEstimator
from wholebody.model.layout import Array

IMUS, WIDEST = 2, 6
"""Gyro and accelerometer come first among the sensors, then feet, then encoders; the most that one reads."""

Flags = npt.NDArray[np.bool_]

NOT_FINITE, SILENT, ENCODER_FAULT, FORCE_FAULT, FROZEN_FAULT, STATE_FAULT = (1 << bit for bit in range(6))
"""What kernels say was wrong with readings, as flags."""


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
        count = len(self.names)
        self.frozen: Flags = np.zeros(count, np.bool_)
        self.handle = _kernels.estimation_frozen(
            np.array([settings.after, settings.moved, settings.borne * weight]),
            np.full((count, WIDEST), np.nan), np.zeros(count),  # last readings, and for how long they repeat themselves
            np.zeros((IMUS + len(feet), len(joints))), np.zeros(len(joints)),  # where joints, and references, were then
            self.frozen,
        )  # fmt: skip

    def update(self, motion: Array, wrenches: Array, position: Array, reference: Array, borne: float, dt: float) -> str:
        """The first sensor that is frozen, by name, or nothing.

        `motion` is quaternion, angular velocity and acceleration of the IMU, `wrenches` those of the feet as read,
        `reference` where each joint was told to be, and `borne` what the feet bear together, N.
        """
        first = _kernels.estimation_first_frozen(self.handle, motion, wrenches, position, reference, borne, dt)
        return self.names[first] if first >= 0 else ""

    @property
    def first(self) -> str:
        """The first sensor that was frozen at the last look, by name, or nothing."""
        return self.names[int(self.frozen.argmax())] if self.frozen.any() else ""


@dataclass
class Faults:
    """Counts of bad input since the start."""

    not_finite: int = 0  # a sensor gave NaN or infinity
    silent: int = 0  # an accelerometer without gravity, or a quaternion of length zero: it is dead, or the robot falls
    frozen: int = 0  # a sensor that reads the same to the bit while the robot moves
    bad_time: int = 0  # a time step that is not positive, or no number
    gap: int = 0  # no state for so long that the estimate began anew
    last: str = ""  # which sensor it was, the last time

    @property
    def total(self) -> int:
        """All of them."""
        return self.not_finite + self.silent + self.frozen + self.bad_time + self.gap
