"""One controller, several robots: each walks the fast walk of stabilizer_walk in its own size, with and without it.

    python -m experiments.stabilizer_robots [SEEDS [ROBOT …]]

Hubo2+ takes 20 steps of 0.2 m in 0.6 s each. A robot whose centre of mass is s times as high takes steps s times as
long in √s times the time: the same walk by Froude's law. Arms (but "regions"), sensors, delay and masses are as in
stabilizer_walk. Prints its table for each robot; writes `results/stabilizer_robots.md`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator

from experiments.stabilizer_walk import Outcome, forward, run, write
from wholebody import robots
from wholebody.locomotion.walking.gait import standing
from wholebody.model.model import Model

ROBOTS = ("hubo2plus", "minihubo", "hoap3", "hrp2")
ARMS = ("none", "none with legs", "dcm")
LENGTH, TIME, STEPS = 0.2, 0.6, 20  # m, s: of Hubo2+
HEIGHT = 0.6127  # m: of Hubo2+'s centre of mass, standing


def size(name: str) -> float:
    """How high the centre of mass is, standing, in those of Hubo2+."""
    return standing(Model(robots.load(name)))[1] / HEIGHT


def fast_walk(name: str, arm: str, seed: int, steps: int = STEPS) -> Outcome:
    """The fast walk of a robot."""
    scale = size(name)
    return run(arm, TIME * math.sqrt(scale), forward(LENGTH * scale, steps), seed, name)


def main(seeds: int = 10, *names: str) -> None:
    """Print the table and write it."""

    def rows() -> Iterator[tuple[str, str, list[Outcome]]]:
        for name in names or ROBOTS:
            scale = size(name)
            what = f"{robots.load(name).title}, {LENGTH * scale:.3f} m in {TIME * math.sqrt(scale):.2f} s"
            for arm in ARMS:
                yield what, arm, [fast_walk(name, arm, seed) for seed in range(seeds)]

    write("robot, step", rows(), "stabilizer_robots.md")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:2]), *sys.argv[2:])
