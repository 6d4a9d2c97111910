"""SteadyClock: the beat of real time."""

from __future__ import annotations

import time

from wholebody.errors import BadPeriod
from wholebody.realtime import sleep_until


class SteadyClock:
    """Beats every `period` seconds of CLOCK_MONOTONIC. Beats missed are counted and skipped, never replayed."""

    def __init__(self, period: float) -> None:
        if not 1e-5 <= period <= 10:
            raise BadPeriod(f"a period of {period} s; give 0.00001 to 10 seconds")
        self.period = float(period)
        self.missed = 0
        self.late = 0.0
        self._next = 0.0

    def tick(self) -> float:
        """Sleep until the next beat; return its time, by time.monotonic()."""
        now = time.monotonic()
        if self._next == 0.0:
            self._next = now
        self._next += self.period
        if now > self._next:
            skipped = int((now - self._next) / self.period) + 1
            self.missed += skipped
            self._next += skipped * self.period
        self.late = sleep_until(self._next)
        return self._next
