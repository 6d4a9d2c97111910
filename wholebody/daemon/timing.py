"""Timing: how long each stage of the cycle takes (Hubo-Ach §3.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

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
        self._took = np.zeros((KEPT, len(stages)))
        self._late = np.zeros(KEPT)
        self._worst: dict[str, float] = {}  # of the cycles not kept

    def add(self, took: np.ndarray[Any, Any], late: float) -> None:
        """Note one more cycle."""
        row = self.cycles % KEPT
        self._took[row] = took
        self._late[row] = late
        self.cycles += 1
        if self.cycles % KEPT == 0:
            self._worst = {row.name: row.worst for row in self.table()}

    def table(self) -> list[Spread]:
        """Each stage, their sum without the wait, and how late cycles began."""
        kept = min(self.cycles, KEPT)
        took, late = self._took[:kept], self._late[:kept]
        rows = [Spread.of(stage, took[:, column]) for column, stage in enumerate(self.stages)]
        rows += [Spread.of("work", took.sum(1)), Spread.of("late", late)]
        return [replace(row, worst=max(row.worst, self._worst.get(row.name, 0.0))) for row in rows]
