"""Faults: what a filter was given and could not use; it then held its estimate, or went on without that sensor."""

from __future__ import annotations

from dataclasses import dataclass


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
