"""Contract: what the loop promises, and what happens when it cannot keep it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from wholebody.errors import BadPeriod


class OnMiss(StrEnum):
    """What a run of missed cycles leads to."""

    COUNT = "count"
    STOP = "stop"


@dataclass(frozen=True)
class Contract:
    """A period; how many cycles in a row may be missed; and what then. Missed cycles are skipped, never replayed."""

    period: float = 0.005
    misses_allowed: int = 20
    on_miss: OnMiss = OnMiss.COUNT

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not 1e-4 <= self.period <= 1.0:
            raise BadPeriod(f"a period of {self.period} s; the daemon's loop takes 0.0001 to 1 second")
        if self.misses_allowed < 0:
            raise BadPeriod(f"{self.misses_allowed} misses allowed in a row; give 0 or more")
        object.__setattr__(self, "on_miss", OnMiss(self.on_miss))
