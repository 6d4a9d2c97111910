"""Pushed while it walks: Hubo2+ takes six steps of 0.2 m in 0.8 s, and is pushed at the chest in the second of them.

    python -m experiments.stabilizer_push_walking [SEEDS]

The push lasts 0.1 s and comes while the left foot bears alone, from each of four sides. The pattern is the same in
both arms and allows for the legs' inertia: what differs is that the one is not balanced. Sensors and masses are as in
stabilizer_walk. Prints how many of the runs stand, and the median of their greatest tilts; writes
`results/stabilizer_push_walking.md`.
"""

from __future__ import annotations

import math
import sys

from experiments.stabilizer_ground import row
from experiments.stabilizer_walk import RESULTS, Outcome, forward, run

ARMS = ("none with legs", "dcm")
WHEN = 3.3  # s
FORCE = 100.0  # N
SIDES = {"ahead": 0.0, "to the left": 90.0, "back": 180.0, "to the right": 270.0}


def pushed(arm: str, degrees: float, seed: int, force: float = FORCE) -> Outcome:
    """Walk, and be pushed in a direction."""
    x, y = force * math.cos(math.radians(degrees)), force * math.sin(math.radians(degrees))
    return run(arm, 0.8, forward(0.2, 6), seed, push=(x, y, WHEN))


def main(seeds: int = 10) -> None:
    """Print the table and write it."""
    lines = [f"| pushed with {FORCE:g} N for 0.1 s | stabilizer | stand | tilt/° |", 4 * "|---" + "|"]
    print("\n".join(lines))
    for side, degrees in SIDES.items():
        for arm in ARMS:
            lines.append(row(side, arm, [pushed(arm, degrees, seed) for seed in range(seeds)]))
            print(lines[-1], flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "stabilizer_push_walking.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
