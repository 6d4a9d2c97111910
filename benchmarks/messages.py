"""What a typed view costs beside indexing its record by name, for Hubo2+'s state and reference.

Each call reads or writes one field: by attribute (`state.position`) and by name (`state["position"]`), in turns and in
batches, a sample being the mean of a batch (see `report.Timing`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.report import Progress, Report, Section, Timing, no_garbage_collection, timed
from wholebody import robots

CALLS = 1000
USES: dict[str, tuple[Callable[[Any, Any], object], Callable[[Any, Any], object]]] = {
    "array": (lambda s, _: s.position, lambda s, _: s["position"]),
    "number": (lambda s, _: s.time, lambda s, _: float(s["time"])),
    "sensor": (lambda s, _: s.imu[0].orientation, lambda s, _: s["imu"][0]["orientation"]),
    "base": (lambda s, _: s.base.position, lambda s, _: s["base"]["position"]),
    "fill_array": (lambda s, r: _fill(r.position, s.position), lambda s, r: _fill(r["position"], s["position"])),
    "set_number": (lambda _, r: setattr(r, "time", 1.0), lambda _, r: r.__setitem__("time", 1.0)),
}


def run(quick: bool, progress: Progress) -> Report:
    """Measure everything: about a second."""
    robot, report = robots.load("hubo2plus"), Report()
    state: Any = np.zeros(1, robot.state_dtype())[0]
    reference: Any = np.zeros(1, robot.reference_dtype())[0]
    samples: dict[str, list[float]] = {f"{what}_{how}": [] for what in USES for how in ("view", "indexing")}
    rounds = 20 if quick else 100
    with no_garbage_collection():
        for number in range(rounds):
            progress("views and indexing", number / rounds)
            for what, (view, indexing) in USES.items():
                for how, use in (("view", view), ("indexing", indexing)):
                    samples[f"{what}_{how}"].append(timed(lambda use=use: use(state, reference), CALLS))  # type: ignore[misc]
    results: dict[str, Timing | float] = {name: Timing.of(each) for name, each in samples.items()}
    report.sections.append(Section("one field, read or written", results))
    for what in USES:
        report.limit_ratio(f"{what}_view", f"{what}_indexing", 1.0)
    return report


def _fill(into: Any, values: Any) -> None:
    into[:] = values
