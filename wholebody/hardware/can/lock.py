"""Lock: how a board falls into step with the references (a phase-locked loop), to interpolate between them.

A board expects the next reference at tick + period. What it is early or late by, e, moves both a little:

    tick ← tick + period + kp e,    period ← period + ki e

so that jitter on the way to the board does not shake its motors. A reference is to be reached one period after its
tick.
"""

from __future__ import annotations

KP, KI = 0.2, 0.02
OUT_OF_STEP = 0.45
"""The share of a period beyond which a reference is no longer early or late, but of another beat."""
LONGEST, SHORTEST = 0.1, 0.0005  # s


class Lock:
    """The beat of one board."""

    def __init__(self, period: float = 0.005) -> None:
        self.period = period
        self.beats = 0  # in step, in a row
        self._tick = self._last = self._interval = float("-inf")

    @property
    def locked(self) -> bool:
        """Whether the board has been in step for a while."""
        return self.beats >= 10

    def arrive(self, now: float) -> float:
        """Take note of a reference that arrives now; return when it is to be reached."""
        before, self._interval, self._last = self._interval, now - self._last, now
        error = now - (self._tick + self.period)
        if abs(error) <= OUT_OF_STEP * self.period:
            self._tick += self.period + KP * error
            self.period += KI * error
            self.beats += 1
        else:
            twice = abs(self._interval - before) < 0.1 * self._interval
            if twice and SHORTEST <= self._interval <= LONGEST:
                self.period = self._interval
            self._tick = now
            self.beats = 0
        return max(self._tick + self.period, now + 0.1 * self.period)
