"""Spread: how something timed is spread; Contract: which period the loop keeps, and what if it does not."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from wholebody.errors import BadPeriod
from wholebody.messages.bounds import LOOP_PERIOD, MISSES_ALLOWED


@dataclass(frozen=True)
class Spread:
    """How something timed is spread, in seconds."""

    name: str
    mean: float
    deviation: float
    p99: float
    worst: float

    @classmethod
    def of(cls, name: str, samples: np.ndarray[Any, Any]) -> Spread:
        """Of samples; of none, all are zero."""
        if not len(samples):
            return cls(name, 0.0, 0.0, 0.0, 0.0)
        return cls(
            name, float(samples.mean()), float(samples.std()), float(np.quantile(samples, 0.99)), float(samples.max())
        )


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
        complaint = LOOP_PERIOD.complaint(self.period) or MISSES_ALLOWED.complaint(self.misses_allowed)
        if complaint:
            raise BadPeriod(complaint)
        object.__setattr__(self, "on_miss", OnMiss(self.on_miss))
