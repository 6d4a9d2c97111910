"""Pushes: the largest impulse at the chest that Hubo2+ survives standing, by direction, with and without steps.

    python -m experiments.stabilizer_push [DIRECTIONS [RESOLUTION]]

Each push takes 0.1 s. For each of (by default 8) directions and each arm the force is halved in until it is known to a
resolution in N (by default 8). Sensors are as in stabilizer_walk; masses are right. Prints the table and writes
`results/stabilizer_push.md` and the polar plot `results/stabilizer_push.png`.

    python -m experiments.stabilizer_push ahead [SEEDS]

finds the impulses ahead alone, to 0.1 N·s, for some seeds (by default 5), and how many times that of the pattern alone
each is.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np

from experiments.stabilizer_step import pyplot
from experiments.stabilizer_walk import RESULTS, run

ARMS = ("none", "regions without steps", "regions", "dcm without steps", "dcm")
DURATION = 0.1  # s
STRONGEST = 400.0  # N


def survives(arm: str, direction: float, force: float, seed: int = 0) -> bool:
    """Whether it still stands four seconds later."""
    push = (force * math.cos(direction), force * math.sin(direction), 1.0)
    return not run(arm, None, None, seed, push=push, seconds=5.0, mass=1.0).fell


def strongest(arm: str, direction: float, resolution: float, seed: int = 0) -> float:
    """The largest force survived, N."""
    return largest(lambda force: survives(arm, direction, force, seed), resolution)


def largest(
    stands: Callable[[float], bool], resolution: float, weakest: float = 40.0, strongest: float = STRONGEST
) -> float:
    """The largest force survived, N, by halving an interval at whose upper end it falls."""
    low, high = weakest, strongest
    while high - low > resolution:
        middle = (low + high) / 2
        low, high = (middle, high) if stands(middle) else (low, middle)
    return low


def main(directions: int = 8, resolution: float = 8.0) -> None:
    """Print the table, and draw it."""
    angles = [math.tau * number / directions for number in range(directions)]
    lines = ["| direction/° | " + " | ".join(f"{arm}/(N s)" for arm in ARMS) + " |", "|---" * (len(ARMS) + 1) + "|"]
    print("\n".join(lines))
    table = np.zeros((directions, len(ARMS)))
    for number, angle in enumerate(angles):
        table[number] = [DURATION * strongest(arm, angle, resolution) for arm in ARMS]
        lines.append(f"| {math.degrees(angle):.0f} | " + " | ".join(f"{value:.1f}" for value in table[number]) + " |")
        print(lines[-1], flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "stabilizer_push.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    draw(angles, table)


def ahead(seeds: int = 5, resolution: float = 1.0) -> None:
    """Print the impulses ahead: the least and the greatest of all seeds."""
    print("| arm | impulse ahead/(N s) | times that of the pattern alone |\n|---|---|---|")
    alone = np.zeros(0)
    for arm in ARMS:
        found = DURATION * np.array([strongest(arm, 0.0, resolution, seed) for seed in range(seeds)])
        alone = found if arm == ARMS[0] else alone
        cells = [f"{values.min():.2f} to {values.max():.2f}" for values in (found, found / alone)]
        print(f"| {arm} | {' | '.join(cells)} |", flush=True)


def draw(angles: list[float], table: np.ndarray) -> None:
    """One closed line for each arm; 0° is forward, 90° to the left."""
    plt = pyplot()
    figure, axis = plt.subplots(subplot_kw={"projection": "polar"}, figsize=(6, 6))
    figure.subplots_adjust(bottom=0.16)
    axis.set_theta_zero_location("N")
    for column, arm in enumerate(ARMS):
        axis.plot([*angles, angles[0]], [*table[:, column], table[0, column]], marker="o", label=arm)
    axis.set_title("impulse survived/(N s)")
    figure.legend(loc="lower center", ncols=3, fontsize="small")  # below the circle, so that it hides no angle
    figure.savefig(RESULTS / "stabilizer_push.png", dpi=100)
    plt.close(figure)


if __name__ == "__main__":
    only_ahead, words = sys.argv[1:2] == ["ahead"], [word for word in sys.argv[1:] if word != "ahead"]
    (ahead if only_ahead else main)(*(kind(word) for kind, word in zip((int, float), words, strict=False)))
