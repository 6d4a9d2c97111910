"""What a benchmark hands back: timings, budgets and notes; and how short calls are timed.

A benchmark is a module of this folder with

    def run(quick: bool, progress: Progress) -> Report

whose docstring says what it measures and how.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float64]
Progress = Callable[[str, float], None]
"""Called with what is measured next, and the share of the whole run that is done, 0 to 1."""


def part(progress: Progress, begin: float, end: float) -> Progress:
    """The progress of a part of a run, which goes from one share of the whole to another."""
    return lambda what, done: progress(what, begin + (end - begin) * done)


@dataclass(frozen=True)
class Timing:
    """The minimum, the median and the 99th percentile of one quantity.

    Of what, depends on how it was sampled. Calls far shorter than the clock's own cost are timed in batches (`timed`),
    and one sample is the mean over a batch: the minimum is that of the quietest batch, and p99 shows stalls of the
    machine more than single slow calls. Everything else, such as round trips, is timed one by one.
    """

    min: float
    median: float
    p99: float
    unit: str = "us"

    @classmethod
    def of(cls, samples_us: npt.ArrayLike) -> Timing:
        """Summarise samples, given in microseconds."""
        least, median, p99 = np.percentile(np.asarray(samples_us, np.float64), (0, 50, 99))
        return cls(round(float(least), 4), round(float(median), 4), round(float(p99), 4))


RATIO, COUNT, SHARE, DIFFERENCE = "ratio", "count", "share", "difference"
UNITS = (RATIO, COUNT, SHARE, DIFFERENCE)
"""Of budgets: none is a time, because machines differ. A ratio is that of medians to a yardstick of the same run."""


@dataclass(frozen=True)
class Budget:
    """A figure that an issue limits: it is met if the value is not above the limit.

    A ratio has its yardstick in the name, behind ` / `.
    """

    name: str
    value: float
    limit: float
    unit: str

    def __post_init__(self) -> None:
        """Refuse what cannot be judged on every machine."""
        if self.unit not in UNITS:
            raise ValueError(
                f"a budget is a {', '.join(UNITS)}, not '{self.unit}': times differ from machine to machine"
            )
        if self.unit == RATIO and " / " not in self.name:
            raise ValueError(f"the budget '{self.name}' is a ratio, and its name does not say to what")

    @property
    def met(self) -> bool:
        """Whether the value keeps within the limit."""
        return self.value <= self.limit


@dataclass(frozen=True)
class Section:
    """Results that belong together, under a title."""

    title: str
    results: dict[str, Timing | float]


@dataclass
class Report:
    """Everything one run of a benchmark found."""

    sections: list[Section] = field(default_factory=list)
    budgets: list[Budget] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def results(self) -> dict[str, Timing | float]:
        """The results of all sections, by name."""
        return {name: result for section in self.sections for name, result in section.results.items()}

    def timing(self, name: str) -> Timing:
        """The timing of that name."""
        result = self.results[name]
        if not isinstance(result, Timing):
            raise TypeError(f"'{name}' is a number, not a timing")
        return result

    def limit_ratio(self, name: str, reference: str, limit: float) -> None:
        """Set a budget on the ratio of two medians, named `name / reference`."""
        ratio = self.timing(name).median / self.timing(reference).median
        self.budgets.append(Budget(f"{name} / {reference}", round(ratio, 4), limit, RATIO))

    def limit_minima(self, name: str, reference: str, limit: float) -> None:
        """Set a budget on the ratio of two minima, where a machine that is shared leaves no quiet median."""
        ratio = self.timing(name).min / self.timing(reference).min
        self.budgets.append(Budget(f"{name} / {reference}", round(ratio, 4), limit, RATIO))

    def limit_quotient(self, name: str, reference: str, limit: float) -> None:
        """Set a budget on the ratio of two results that are numbers."""
        value = self.number(name) / self.number(reference)
        self.budgets.append(Budget(f"{name} / {reference}", round(value, 4), limit, RATIO))

    def limit_count(self, name: str, limit: int) -> None:
        """Set a budget on a result that counts something."""
        self.budgets.append(Budget(name, self.number(name), limit, COUNT))

    def limit_difference(self, name: str, limit: float) -> None:
        """Set a budget on a result that says how far two answers are from each other."""
        self.budgets.append(Budget(name, self.number(name), limit, DIFFERENCE))

    def number(self, name: str) -> float:
        """The result of that name, which is a number."""
        value = self.results[name]
        if isinstance(value, Timing):
            raise TypeError(f"'{name}' is a timing, not a number")
        return value


def timed(call: Callable[[], object], calls: int) -> float:
    """Microseconds per call over one batch of calls, with the loop's own cost of about 0.01 µs."""
    start = time.perf_counter_ns()
    for _ in repeat(None, calls):
        call()
    return (time.perf_counter_ns() - start) / calls * 1e-3


def timed_each_once(calls: Iterable[Callable[[], object]], count: int) -> float:
    """Microseconds per call over one batch of `count` different calls, each made once."""
    start = time.perf_counter_ns()
    for call in calls:
        call()
    return (time.perf_counter_ns() - start) / count * 1e-3


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Keep Python's garbage collector from running inside a measurement."""
    was_on = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
