"""How fast the on-line profile is: one period of 38 joints.

`profile_step` is `OnlineProfile.step(goal)`, with goals that change every 400 periods, timed in batches, in turns with
a matrix product. `arrival` is how many periods a metre takes beyond the ideal trapezoid; `beyond` is how far any joint
went past a goal, in metres.
"""

from __future__ import annotations

import numpy as np

from benchmarks.report import Progress, Report, Section, Timing, no_garbage_collection, timed
from benchmarks.yardsticks import Beside
from wholebody.motion import OnlineProfile

JOINTS = 38
PERIOD = 0.005


def run(quick: bool, progress: Progress) -> Report:
    """Measure for a second or two."""
    report = Report()
    rng = np.random.default_rng(0)
    profile = OnlineProfile(rng.uniform(1.0, 5.0, JOINTS), rng.uniform(5.0, 30.0, JOINTS), PERIOD)
    goal = rng.uniform(0.2, 1.5, JOINTS)
    batches, samples, beside = 20 if quick else 200, [], Beside(every=1)
    progress("periods", 0.0)
    with no_garbage_collection():
        for _ in range(batches):
            goal = -goal
            samples.append(timed(lambda goal=goal: profile.step(goal), 400))  # type: ignore[misc]
            beside.take()
    results: dict[str, Timing | float] = {"profile_step": Timing.of(samples), "matrix_product": beside.timing}
    report.sections += [Section(f"one period of {JOINTS} joints", results), Section("one metre", arrival())]
    report.limit_ratio("profile_step", "matrix_product", 0.4)
    return report


def arrival() -> dict[str, Timing | float]:
    """How one joint gets to a goal one metre away, at 1 m/s and 4 m/s²: ideally in 1.25 s."""
    profile, count, beyond = OnlineProfile([1.0], [4.0], PERIOD), 0, 0.0
    while not profile.arrived or not count:
        beyond = max(beyond, profile.step([1.0])[0] - 1.0)
        count += 1
    return {"arrival": count - 1.25 / PERIOD, "beyond": float(beyond)}
