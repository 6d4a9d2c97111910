"""Homing: a motor looks for its limit switch, then goes by an offset, and calls that place zero.

The switch closes at an angle, in the direction of the search, and stays closed for a while. A real motor that starts
beyond it runs into its end stop and comes back; ours knows on which side it is, and looks for the edge either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

SEARCH_SPEED, OFFSET_SPEED = 0.6, 0.3  # rad/s
FARTHEST = 4.0  # rad, after which there is no switch
WIDTH = 0.03  # rad for which a switch is closed
NEAR, PATIENCE = 0.002, 0.5  # rad within which an offset counts as reached; s after which it counts as reached anyway


class Outcome(NamedTuple):
    """Where the motor has to be (rad), and whether it has found its home or given up."""

    target: float
    found: bool = False
    failed: bool = False


class Homing:
    """The searches of all motors. Without a direction a motor has no switch, and its home is where its zero is."""

    def __init__(self, offsets: Sequence[float], directions: Sequence[int]) -> None:
        n = len(offsets)
        self.offset = np.array(offsets, float)
        self.direction = np.array(directions, int)
        self.switch = -self.offset  # of the position: so that switch + offset is the true zero
        self.search_speed = np.full(n, SEARCH_SPEED)
        self.offset_speed = np.full(n, OFFSET_SPEED)
        self.farthest = np.full(n, FARTHEST)
        self.busy = np.zeros(n, bool)
        self._target = np.zeros(n)
        self._began = np.zeros(n)
        self._side = np.zeros(n, int)
        self._goal = np.full(n, np.nan)
        self._waited = np.zeros(n)

    @property
    def any(self) -> bool:
        """Whether any motor is looking."""
        return bool(self.busy.any())

    def closed(self, motor: int, position: float) -> bool:
        """Whether the switch of a motor is closed where it stands."""
        return self._beyond(motor, position) and abs(position - self.switch[motor]) <= WIDTH

    def _beyond(self, motor: int, position: float) -> bool:
        direction = self.direction[motor]
        return bool(direction and (position - self.switch[motor]) * direction >= 0)

    def start(self, motor: int, position: float) -> None:
        """Begin to look."""
        self.busy[motor] = True
        self._target[motor] = self._began[motor] = position
        self._goal[motor] = 0.0 if not self.direction[motor] else np.nan
        # Towards the switch, or back off from it.
        self._side[motor] = self.direction[motor] * (-1 if self._beyond(motor, position) else 1)

    def stop(self, motor: int) -> None:
        """Give up."""
        self.busy[motor] = False

    def advance(self, motor: int, position: float, seconds: float) -> Outcome:
        """Move on for a step of time."""
        if np.isnan(self._goal[motor]):
            return self._search(motor, position, seconds)
        gap = self._goal[motor] - self._target[motor]
        step = self.offset_speed[motor] * seconds
        self._target[motor] += min(max(gap, -step), step)
        self._waited[motor] = self._waited[motor] + seconds if gap == 0.0 else 0.0
        found = gap == 0.0 and (abs(self._goal[motor] - position) < NEAR or self._waited[motor] > PATIENCE)
        self.busy[motor] = not found
        return Outcome(float(self._goal[motor] if found else self._target[motor]), found=found)

    def _search(self, motor: int, position: float, seconds: float) -> Outcome:
        side = self._side[motor]
        if self._beyond(motor, position) == (side == self.direction[motor]):
            self._goal[motor] = position + self.offset[motor]  # the edge was here, within a step
            self._target[motor] = position
            return Outcome(position)
        self._target[motor] += side * self.search_speed[motor] * seconds
        far = abs(self._target[motor] - self._began[motor]) > self.farthest[motor]
        self.busy[motor] = not far
        return Outcome(float(self._target[motor]), failed=bool(far))
