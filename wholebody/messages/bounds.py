"""Bounds of every number that a client sends to the daemon; docs/robot_layer.md has them as a table.

What a reference asks of a joint is not refused but brought within the joint's own limits, by the daemon's gate.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bound:
    """A number: what it is, the least and the most that it may be (both included), its unit, whether it is whole."""

    what: str
    least: float
    most: float
    unit: str = ""
    whole: bool = False

    def complaint(self, value: float) -> str:
        """What is wrong with a value, and what to give instead; empty if nothing is."""
        if self.least <= value <= self.most and (not self.whole or value == int(value)):
            return ""
        give = "give a whole number from" if self.whole else "give from"
        return f"{self.what} of {_with(value, self.unit)}; {give} {self.least:g} to {_with(self.most, self.unit)}"


def _with(value: float, unit: str) -> str:
    return f"{value:g} {unit}".rstrip()


DECLARED_PERIOD = Bound("a controller's declared period", 1e-4, 10.0, "s")
LEASE_PERIOD = Bound("a declared period with a lease", 1e-4, 1.0, "s")
LOOP_PERIOD = Bound("a period of the daemon's loop", 1e-4, 1.0, "s")
MISSES_ALLOWED = Bound("a count of missed cycles allowed in a row", 0, 1_000_000, whole=True)
STEP_LIMIT = Bound("a step limit", 1e-9, 10.0, "rad per period")
FILTER_LENGTH = Bound("a filter length L", 1, 100_000, whole=True)
COMPLIANCE_GAIN = Bound("a compliance gain Kc", 0.0, 1 - 1 / FILTER_LENGTH.most)
BOARD_GAIN = Bound("a gain of a board", 0.0, 65535.0)
STOP_INPUT_PERIOD = Bound("the seconds within which a stop input speaks again", 0.05, 10.0, "s")
GOTO_SHARE = Bound("a share of the velocity limits", 0.001, 1.0)

BOUNDS = (
    *(DECLARED_PERIOD, LEASE_PERIOD, LOOP_PERIOD, MISSES_ALLOWED, STEP_LIMIT),
    *(FILTER_LENGTH, COMPLIANCE_GAIN, BOARD_GAIN, STOP_INPUT_PERIOD, GOTO_SHARE),
)
