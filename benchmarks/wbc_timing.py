"""How cycles of whole-body control are timed: call by call, over states near the robot's posture."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.report import Timing
from wholebody.control import WBOSC, Problem
from wholebody.model import Model, Snapshot

RIGS = Path(__file__).resolve().parents[1] / "tests" / "rigs"
"""Where the formulas of the paper stand in numpy: beside the tests, which compare the kernel with them."""
STATES = 20
Results = dict[str, Timing | float]


def near(model: Model) -> list[tuple[np.ndarray, np.ndarray]]:
    """States near the posture in which the robot stands."""
    rng = np.random.default_rng(0)
    home = model.posture("stand")
    moves = [0.05 * rng.normal(size=model.nv) for _ in range(STATES)]
    return [(model.integrate(home, move, 1.0), 0.1 * rng.normal(size=model.nv)) for move in moves]


def solve_by_formulas() -> Callable[[Snapshot, Problem], object]:
    """The reference's `solve`."""
    if str(RIGS) not in sys.path:
        sys.path.append(str(RIGS))
    solve: Callable[[Snapshot, Problem], object] = importlib.import_module("wbosc_reference").solve
    return solve


def cycles(name: str, model: Model, problem: Problem, rounds: int, with_reference: bool = False) -> Results:
    """Time whole cycles, and every tenth round the reference in turns with them."""
    controller = WBOSC(model)
    controller.prepare(problem)
    states = near(model)
    reference_solve = solve_by_formulas() if with_reference else None
    ours: list[float] = []
    theirs: list[float] = []
    for turn in range(rounds):
        ours += timed(lambda q, v: controller.solve(model.at(q, v), problem), states)
        if reference_solve is not None and turn % 10 == 0:
            theirs += timed(lambda q, v: reference_solve(model.at(q, v), problem), states)
    found: Results = {name: Timing.of(ours)}
    return found | ({f"{name}_reference": Timing.of(theirs)} if theirs else {})


def timed(call: Callable[..., object], states: list[tuple[np.ndarray, np.ndarray]]) -> Iterator[float]:
    """Microseconds of each call, with the clock's own cost of about 0.05 µs."""
    for q, v in states:
        start = time.perf_counter_ns()
        call(q, v)
        yield (time.perf_counter_ns() - start) * 1e-3
