"""How fast the on-line profile is: one period of 38 joints, inside compiled code and from Python.

`profile_compiled` is the kernel called from other compiled code, as a servo does; `profile_step` is
`OnlineProfile.step(goal)`. Both follow goals that change every 400 periods, and are timed in batches. `arrival` is how
many periods a metre takes beyond the ideal trapezoid; `beyond` is how far any joint went past a goal, in metres.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from benchmarks.report import Progress, Report, Section, Timing, no_garbage_collection, timed
from wholebody.motion import OnlineProfile
from wholebody.motion.profile import advance

JOINTS = 38
PERIOD = 0.005


@njit
def periods(numbers: np.ndarray, goal: np.ndarray, period: float, count: int) -> None:
    """Many periods of the kernel, with a goal that changes side every 400 of them."""
    for i in range(count):
        if i % 400 == 0:
            goal *= -1.0
        advance(numbers, goal, period)


def run(quick: bool, progress: Progress) -> Report:
    """Measure both for a second or two."""
    report = Report()
    rng = np.random.default_rng(0)
    profile = OnlineProfile(rng.uniform(1.0, 5.0, JOINTS), rng.uniform(5.0, 30.0, JOINTS), PERIOD)
    goal = rng.uniform(0.2, 1.5, JOINTS)
    numbers, count = profile.numbers, 4000
    periods(numbers, goal, PERIOD, 1)
    batches = 20 if quick else 200
    with no_garbage_collection():
        progress("inside compiled code", 0.0)
        inside = [timed(lambda: periods(numbers, goal, PERIOD, count), 1) / count for _ in range(batches)]
        progress("from Python", 0.5)
        outside = []
        for _ in range(batches):
            goal = -goal
            outside.append(timed(lambda goal=goal: profile.step(goal), 400))  # type: ignore[misc]
    results: dict[str, Timing | float] = {
        "profile_compiled": Timing.of(inside),
        "profile_step": Timing.of(outside),
    }
    report.sections += [Section(f"one period of {JOINTS} joints", results), Section("one metre", arrival())]
    report.limit_median("profile_compiled", 1.0)
    report.limit_median("profile_step", 3.0)
    return report


def arrival() -> dict[str, Timing | float]:
    """How one joint gets to a goal one metre away, at 1 m/s and 4 m/s²: ideally in 1.25 s."""
    profile, count, beyond = OnlineProfile([1.0], [4.0], PERIOD), 0, 0.0
    while not profile.arrived or not count:
        beyond = max(beyond, profile.step([1.0])[0] - 1.0)
        count += 1
    return {"arrival": count - 1.25 / PERIOD, "beyond": float(beyond)}
