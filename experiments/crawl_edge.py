"""Crawl, A6 and A9: Atlas crawls to the edge of a platform that nobody told it of: seeing, blindly, and without proof.

    python -m experiments.crawl_edge [SEEDS] [ARMS …]

prints how often it rests on wrists and knees, and how often it tips over or falls, by how far before the robot the
ground ends, every 4 cm from where the first hand comes down beyond it to where the third does, so that all parts of a
hand are once on the edge. Arms: its camera watches the ground (`watches`), maps it for the gait of rough ground
(`maps`), or it is blind and its hands prove the ground (`blind`); `unproved` is the control, for the first row only.
Sensors have noise, resolution and one cycle of delay, depth is that of a pair of cameras with errors, all links are
heavier or lighter than the controller thinks by up to 5 %, effort limits are enforced.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.crawl_gaits import FRESH, start_of
from experiments.crawl_watch import FALLEN
from experiments.stabilizer_walk import heavier, mass_factor
from wholebody import robots
from wholebody.behaviors.crawling import Crawling
from wholebody.locomotion.crawling.gait import rough_gait_of
from wholebody.model import Model
from wholebody.operator.recordings.crawl_setup import NODDING, Eye
from wholebody.robots.robot import Placement
from wholebody.simulation import SensorModel, Simulation

HERE, BEGINS = 1.5, 0.2
"""m: the middle of the robot, and where the platform begins."""
LEVEL = math.radians(10)
"""rad: a trunk that leans more from how it began has tipped over."""
AHEAD = np.arange(0.46, 0.88, 0.04)
"""m from the middle of the robot to the edge; hands begin 0.4 m ahead."""
WATCHES, MAPS, BLIND, UNPROVED = "watches", "maps", "blind", "unproved"
SECONDS = {WATCHES: 12.0, MAPS: 25.0, BLIND: 10.0, UNPROVED: 10.0}
"""Of each arm: how long a run is."""


@dataclass(frozen=True)
class Edge:
    """How it went: whether it fell or tipped over, how far it leans at the end (rad), and what made it stop.

    That is trouble, or an objection to the ground before it. rests says whether it has come to rest, with both hands on
    the platform; effort is the hardest joint over its limit.
    """

    fell: bool
    leans: float
    trouble: str
    objection: str
    rests: bool
    effort: float


def to_an_edge(ahead: float, seed: int, seconds: float, height: float = 0.5, arm: str = BLIND) -> Edge:
    """Crawl forward on a platform of some height that ends so far ahead of the middle of the robot."""
    robot = robots.load("atlas")
    crawling = Crawling(robot, rough_gait_of(Model(robot)) if arm == MAPS else None)
    if arm == UNPROVED:
        crawling.crawler.landing.least = -math.inf
    scene = f"steps:height={height},count=1,ahead={BEGINS},depth={HERE + ahead - BEGINS}"
    with Simulation(heavier(robot, mass_factor(seed)), scene, seed=seed, sensors=SensorModel.realistic()) as simulation:
        base = start_of(crawling).matrix.copy()
        base[:3, 3] += (HERE, 0.0, height)
        simulation.reset(crawling.crawler.q[7:], base=Placement.of(base))
        state, reference = simulation.new_state(), simulation.new_reference()
        up, leans, fell, touched, effort = base[2, :3], 0.0, False, set(), 0.0
        limits = np.array([joint.effort for joint in robot.moving])
        sees = arm in (WATCHES, MAPS)
        eye = Eye(crawling.crawler, simulation, seed, watches=arm == WATCHES) if sees else None
        told = False
        while simulation.time < seconds and not fell:
            simulation.read(state)
            if not told and simulation.time >= (NODDING if sees else 0.0):
                crawling.crawl(velocity=(0.12, 0.0, 0.0))
                told = True
            crawling.cycle(state, reference)
            if eye is not None:
                eye.look(state, reference)
            simulation.write(reference)
            simulation.advance()
            now = simulation.base_to_world
            leans = math.acos(min(1.0, float(up @ now[2, :3])))
            fell = bool(now[2, 3] < base[2, 3] - FALLEN)
            effort = max(effort, float(np.max(np.abs(simulation.truth.effort) / limits)))
            if simulation.time > seconds - 0.2:
                touched |= {touch.link for touch in simulation.touches if touch.point_in_world[2] > height - 0.01}
    rests = crawling.standing and leans < LEVEL and {"l_hand", "r_hand"} <= touched
    return Edge(fell or leans > LEVEL, leans, crawling.trouble, crawling.objection, rests, effort)


def main(seeds: int = 5, arms: Sequence[str] = tuple(SECONDS)) -> None:
    """Print the table."""
    print(f"Atlas, {robots.load('atlas').mass:.0f} kg ± 5 % (document: 82 kg, level ground only)\n")
    print("| arm | edge ahead | rests on all limbs | tips over | leans | hardest joint |\n|---|---|---|---|---|---|")
    for arm in arms:
        for ahead in AHEAD[: 1 if arm == UNPROVED else None]:
            runs = [to_an_edge(float(ahead), FRESH + seed, SECONDS[arm], arm=arm) for seed in range(seeds)]
            rests, fell, leans = sum(r.rests for r in runs), sum(r.fell for r in runs), max(r.leans for r in runs)
            cells = [
                arm, f"{ahead:.2f} m", f"{rests} of {seeds}", f"{fell}", f"{math.degrees(leans):.0f}°",
                f"{max(r.effort for r in runs):.0%}",
            ]  # fmt: skip
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5, sys.argv[2:] or tuple(SECONDS))
