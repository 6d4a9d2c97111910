"""Crawl, §5.4: sensed, desired or mixed contacts, and which limb is the root of the centre of mass?

    python -m experiments.crawl_roots [SEEDS]

Atlas crawls forward for 20 s with each root of its feedback of the centre of mass, all else alike, on trials as in
crawl_gaits.
"""

from __future__ import annotations

import sys

import numpy as np

from experiments.crawl_gaits import BEGIN, FRESH, trial
from wholebody import robots
from wholebody.behaviors.crawling import Crawling
from wholebody.locomotion.crawling.odometry import ROOTS, Root

SECONDS = 20.0


def crawl_by(root: Root, crawling: Crawling) -> None:
    """Crawl forward with a root."""
    crawling.crawler.root = root
    crawling.crawl(velocity=(0.12, 0.0, 0.0))


def main(seeds: int = 2) -> None:
    """Print the table."""
    print(
        f"Atlas, {robots.load('atlas').mass:.0f} kg (document: 82 kg), {seeds} seeds from {FRESH} on\n\n"
        "| root | no fall | speed | centre of mass inside, mean (least) | farthest aside | hardest joint |\n"
        "|---|---|---|---|---|---|"
    )
    for name, root in ROOTS.items():
        runs = [trial(lambda c, r=root: crawl_by(r, c), FRESH + seed, BEGIN + SECONDS) for seed in range(seeds)]
        inside = [run.inside for run in runs]
        print(
            f"| {name} | {sum(not run.fell for run in runs)} of {seeds} "
            f"| {np.mean([run.forward / run.seconds for run in runs]):.3f} m/s "
            f"| {np.mean(inside):.1%} ({min(inside):.1%}) | {max(abs(run.aside) for run in runs):.2f} m "
            f"| {max(run.effort for run in runs):.0%} |",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
