"""Timing: how long each stage of a loop took, and how long a command needs to come back; memory is taken once."""

from __future__ import annotations

import math
import time
from collections import deque
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class StageTime:
    """How long one stage of the loop takes, in microseconds."""

    name: str
    mean: float
    deviation: float
    minimum: float
    median: float
    p99: float

    def __str__(self) -> str:
        """A line of the table."""
        spread = f"{self.mean:10.1f} ± {self.deviation:<8.1f}"
        return f"{self.name:<10}{spread}{self.minimum:8.1f}{self.median:8.1f}{self.p99:8.1f}"


class Timing:
    """The times of the stages of a loop, of the last cycles.

    timing.begin();  read();  timing.mark(0);  solve();  timing.mark(1);  timing.end()
    print(timing)
    """

    def __init__(self, stages: tuple[str, ...], kept: int = 4096) -> None:
        self.stages = stages
        self.cycles = 0
        self._laps: npt.NDArray[np.int64] = np.zeros((kept, len(stages)), np.int64)
        self._begun: npt.NDArray[np.int64] = np.zeros(kept, np.int64)
        self._row, self._lap = self._laps[0], 0

    def begin(self) -> None:
        """A cycle begins."""
        at = self.cycles % len(self._laps)
        self._row = self._laps[at]
        self._row[:] = 0
        self._lap = self._begun[at] = time.perf_counter_ns()

    def mark(self, stage: int) -> None:
        """A stage is done."""
        now = time.perf_counter_ns()
        self._row[stage] = now - self._lap
        self._lap = now

    def end(self) -> None:
        """The cycle is done; only now does it count."""
        self.cycles += 1

    @property
    def microseconds(self) -> npt.NDArray[np.float64]:
        """A row for each of the last cycles, the oldest first, a column for each stage."""
        return self._in_order(self._laps) / 1e3

    @property
    def frequency(self) -> npt.NDArray[np.float64]:
        """Cycles in a second of real time, from each of the last cycles to the next."""
        return np.asarray(1e9 / np.maximum(np.diff(self._in_order(self._begun)), 1))

    @property
    def last_seconds(self) -> float:
        """How long the last cycle took that is done; NaN if there is none."""
        return float(self._laps[(self.cycles - 1) % len(self._laps)].sum()) * 1e-9 if self.cycles else math.nan

    @property
    def last_frequency(self) -> float:
        """Cycles in a second, from the beginnings of the last two cycles that are done; NaN if there are none."""
        if self.cycles < 2:
            return math.nan
        kept = len(self._begun)
        return 1e9 / max(int(self._begun[(self.cycles - 1) % kept] - self._begun[(self.cycles - 2) % kept]), 1)

    @property
    def table(self) -> tuple[StageTime, ...]:
        """Each stage and the total."""
        laps = self.microseconds
        if not len(laps):
            return ()
        rows = [*zip(self.stages, laps.T, strict=True), ("total", laps.sum(axis=1))]
        return tuple(
            StageTime(name, *map(float, (x.mean(), x.std(), x.min(), np.median(x), np.percentile(x, 99))))
            for name, x in rows
        )

    def __str__(self) -> str:
        """The table, in microseconds."""
        head = f"{'µs':<10}{'mean':>10} ± {'':<8}{'min':>8}{'median':>8}{'p99':>8}"
        return "\n".join([head, *map(str, self.table)])

    def _in_order(self, ring: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        kept = len(ring)
        if self.cycles <= kept:
            return ring[: self.cycles]
        return np.roll(ring, -(self.cycles % kept), axis=0)


class Echo:
    """How long a command takes to come back: a number that goes out with it is looked for in what comes in.

    A robot that repeats the position reference in force, as its state's `reference` does, needs no number of its own
    for that: no two cycles ask for the same position to the last bit. What is held still, bit by bit, tells nothing.
    """

    KEPT = 64

    def __init__(self) -> None:
        self._sent: deque[tuple[float, float]] = deque(maxlen=self.KEPT)
        self.latency = float("nan")  # s, of the command that came back last
        self.count = 0

    def send(self, number: float, now: float) -> None:
        """A number goes out."""
        if not self._sent or self._sent[-1][0] != number:
            self._sent.append((number, now))

    def receive(self, number: float, now: float) -> None:
        """A number comes in."""
        for sent, when in reversed(self._sent):
            if sent == number:
                self.latency = now - when
                self.count += 1
                return
