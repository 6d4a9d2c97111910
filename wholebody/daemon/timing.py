"""Timing: how long each stage of the cycle takes (Hubo-Ach §3.3)."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from wholebody.errors import BadPeriod

KEPT = 1 << 15
"""Cycles of which p99 is taken."""


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


class Timing:
    """The durations of the stages of every cycle, and of all of them together."""

    def __init__(self, stages: tuple[str, ...]) -> None:
        self.stages = stages
        self.cycles = 0
        self._rows = np.zeros((KEPT, len(stages) + 1))  # how late, and the stages
        self._row = struct.Struct(f"{len(stages) + 1}d")
        self._memory = self._rows.view(np.uint8).reshape(-1).data
        self._worst: dict[str, float] = {}  # of the cycles not kept

    def add(self, took: Sequence[float], late: float) -> None:
        """Note one more cycle."""
        self._row.pack_into(self._memory, self.cycles % KEPT * self._row.size, late, *took)
        self.cycles += 1
        if self.cycles % KEPT == 0:
            self._worst = {row.name: row.worst for row in self.table()}

    def table(self) -> list[Spread]:
        """Each stage, their sum without the wait, and how late cycles began."""
        kept = min(self.cycles, KEPT)
        took, late = self._rows[:kept, 1:], self._rows[:kept, 0]
        rows = [Spread.of(stage, took[:, column]) for column, stage in enumerate(self.stages)]
        rows += [Spread.of("work", took.sum(1)), Spread.of("late", late)]
        return [replace(row, worst=max(row.worst, self._worst.get(row.name, 0.0))) for row in rows]


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
