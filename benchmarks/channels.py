"""How fast messages pass: within a process, between two, among many, and over a bridge.

`put`, `latest` and `next`, and as a yardstick a copy of 1 KB, are timed in batches, a sample being the mean of a batch
(see `report.Timing`). A writer's message is not filled anew between two puts. `latest` always takes a message that is
new to it: a batch is 100 readers that each take the one message put before. How the other parts are measured is told in
`round_trips`, `crowd` and `mirrored`. The names end in the bytes of a message; without a size it is 1024.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks import crowd, mirrored, round_trips, yardsticks
from benchmarks.processes import private_channels
from benchmarks.report import Progress, Report, Section, Timing, no_garbage_collection, part, timed, timed_each_once
from wholebody.channels import Channel

SIZES = (64, 1024, 4096)
CALLS = 1000
READERS = 100
DEPTH = 128


def run(quick: bool, progress: Progress) -> Report:
    """Measure everything: about 35 s, or 10 s with less to average over; twice that on a busy machine."""
    report = Report(notes=round_trips.missing() + mirrored.missing())
    add = report.sections.append
    with private_channels():
        calls = measure_calls(5 if quick else 50, part(progress, 0.0, 0.03))
        add(Section("calls in one process", calls))
        trips = round_trips.measure(0.5 if quick else 6.0, part(progress, 0.03, 0.3))
        add(Section("round trips of 1 KB between two processes", trips))
        many = crowd.measure(0.1 if quick else 0.3, part(progress, 0.3, 0.45))
        add(Section("writers (w) and readers (r), each a process that never rests", many))
        if not mirrored.missing():
            far = mirrored.measure(1.0 if quick else 10.0, part(progress, 0.45, 1.0))
            add(Section("1 KB at 1 kHz through two bridges over loopback TCP", far))
    set_budgets(report)
    return report


def set_budgets(report: Report) -> None:
    """Add the limits we set ourselves."""
    report.limit_ratio("put_1024", "copy_1024", 2.0)
    report.limit_ratio("latest_1024", "copy_1024", 1.6)
    report.limit_ratio("round_trip_blocking", "round_trip_pipe", 1.0)
    report.limit_ratio("round_trip_spinning", "round_trip_pipe", 1 / 20)
    report.limit_count("messages_torn", 0)
    if not mirrored.missing():
        report.limit_ratio("bridge_age", "round_trip_zenoh", 6.0)
        report.limit_ratio("bridge_put_1024", "paced_put_1024", 1.25)


def measure_calls(rounds: int, progress: Progress) -> dict[str, Timing | float]:
    """Time put, latest and next of one process, in turns."""
    batches: dict[str, Callable[[], float]] = {}
    for size in SIZES:
        batches |= _batches(size)
    batches["copy_1024"] = yardsticks.copy_1024
    samples: dict[str, list[float]] = {name: [] for name in batches}
    with no_garbage_collection():
        for turn in range(rounds):
            progress("put, latest and next", turn / rounds)
            for name, batch in batches.items():
                samples[name] += [batch() for _ in range(20)]
    return {name: Timing.of(samples[name]) for name in sorted(samples, key=_order)}


def _batches(size: int) -> dict[str, Callable[[], float]]:
    """One batch of each call on a channel with messages of that size: microseconds per call."""
    channel = Channel(f"calls.{size}", np.dtype((np.uint8, size)), depth=DEPTH)
    writer, reader = channel.writer(), channel.reader()
    fresh = [channel.reader().latest for _ in range(READERS)]

    def latest() -> float:
        writer.put()
        return timed_each_once(fresh, READERS)

    def following() -> float:
        for _ in range(READERS):
            writer.put()
        return timed(reader.next, READERS)

    def nothing_new() -> float:
        reader.latest()
        return timed(reader.latest, CALLS)

    batches = {f"put_{size}": lambda: timed(writer.put, CALLS), f"latest_{size}": latest}
    if size == 1024:
        batches |= {"next_1024": following, "latest_nothing_new": nothing_new}
    return batches


def _order(name: str) -> int:
    """Where a call stands in the table."""
    return ["put", "latest", "next", "copy"].index(name.split("_")[0])
