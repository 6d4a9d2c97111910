"""Ground that the planner takes for level and at rest: Hubo2+ on a plate that tilts, on slopes, and over small steps.

    python -m experiments.stabilizer_ground [SEEDS]

The plate tilts by ±5° at 0.5 Hz under a robot that stands for a minute. On slopes, up and down, it walks six steps of
0.15 m in 0.8 s each; six of 0.2 m lead it from level ground up a ramp, and six onto a platform and down again. Ramp and
platform begin elsewhere for each seed, so that feet land on their edges as well. The pattern is the same in all arms.
Arms, sensors and masses are as in stabilizer_walk. Prints how many runs stand (of 20, unless told), and the
median of their greatest tilts; writes `results/stabilizer_ground.md`.
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace

import numpy as np

from experiments.stabilizer_walk import RESULTS, Outcome, forward, run

ARMS = ("none with legs", "dcm", "rough")
PLATE = "plate:angle=0.0873,frequency=0.5"
MINUTE = 60.0  # s
FIRST = 20
"""Seed: smaller ones served to choose."""
SLOPES = (-5, -3, 3, 5)  # degrees, rising ahead
RAMPS = (2, 3, 5)  # degrees
STEPS = (0.01, 0.02)  # m


def on_the_plate(arm: str, seed: int, seconds: float = MINUTE) -> Outcome:
    """Stand."""
    return run(arm, None, None, seed, seconds=seconds, scene=PLATE)


def up_a_slope(arm: str, degrees: float, seed: int) -> Outcome:
    """Walk."""
    return _walk(arm, seed, f"slope:angle={math.radians(degrees)}")


def up_a_ramp(arm: str, degrees: float, seed: int) -> Outcome:
    """Walk from level ground onto a slope."""
    return _walk(arm, seed, f"ramp:angle={math.radians(degrees)},ahead={_ahead(seed):.3f}", 0.2)


def over_a_platform(arm: str, height: float, seed: int) -> Outcome:
    """Walk onto a platform 0.42 m long, and down again."""
    return _walk(arm, seed, f"steps:height={height},depth=0.42,count=1,ahead={_ahead(seed):.3f}", 0.2)


def _ahead(seed: int) -> float:
    """Where uneven ground begins, m."""
    return float(np.random.default_rng(1000 + seed).uniform(0.3, 0.5))


def _walk(arm: str, seed: int, scene: str, length: float = 0.15) -> Outcome:
    """Who does not come along two thirds of the way counts as fallen."""
    went = run(arm, 0.8, forward(length, 6), seed, scene=scene, settle=0.5)
    return replace(went, fell=went.fell or went.distance < 4 * length)


def row(what: str, arm: str, runs: list[Outcome]) -> str:
    """How many stand, and how far they tilt."""
    stand = [each for each in runs if not each.fell]
    tilt = f"{math.degrees(float(np.median([each.tilt for each in stand]))):.1f}" if stand else "–"
    return f"| {what} | {arm} | {len(stand)} of {len(runs)} | {tilt} |"


def main(seeds: int = 20) -> None:
    """Print the table and write it."""
    chosen = range(FIRST, FIRST + seeds)
    lines = ["| ground | stabilizer | stand | tilt/° |", 4 * "|---" + "|"]
    print("\n".join(lines))

    def tell(what: str, arm: str, runs: list[Outcome]) -> None:
        lines.append(row(what, arm, runs))
        print(lines[-1], flush=True)

    for arm in ARMS:
        tell("plate, ±5° at 0.5 Hz", arm, [on_the_plate(arm, seed) for seed in chosen])
    for degrees in SLOPES:
        for arm in ARMS:
            tell(f"slope of {degrees}°", arm, [up_a_slope(arm, degrees, seed) for seed in chosen])
    for degrees in RAMPS:
        for arm in ARMS:
            tell(f"ramp of {degrees}°", arm, [up_a_ramp(arm, degrees, seed) for seed in chosen])
    for height in STEPS:
        for arm in ARMS:
            what = f"{1e3 * height:g} mm up and down"
            tell(what, arm, [over_a_platform(arm, height, seed) for seed in chosen])
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "stabilizer_ground.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
