"""Crawl, §4.1 and §4.2.3: Atlas crawls forward and backward and turns on the spot; Tables 4.1, 4.2, 4.3 and 4.6.

    python -m experiments.crawl_gaits [SEEDS]

prints the tables beside the document's. Sensors have noise, resolution and one cycle of delay, all links are heavier or
lighter than the controller thinks by up to 5 %, and effort limits are enforced. Drift is aside, per gait; a gait is
four steps; all runs count.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.stabilizer_walk import heavier, mass_factor
from wholebody import robots
from wholebody.behaviors.crawling import Crawling
from wholebody.locomotion.crawl_odometry import heading
from wholebody.model.support import SupportPolygon
from wholebody.robots.robot import Placement
from wholebody.simulation import SensorModel, Simulation

Order = Callable[[Crawling], None]

FALLEN = 0.2  # m that the pelvis is lower than at the start
BEGIN = 1.0  # s, when it is told what to do
LOOK = 20  # cycles between two looks; what touched in the last five counts as bearing
GAITS = 10


@dataclass(frozen=True)
class Trial:
    """One run, from the order on: metres forward and aside and radians, as they were in truth.

    path is rows of time, x, y and heading; inside the share of looks with the centre of mass above what bears; effort
    the hardest joint as a share of its limit.
    """

    forward: float
    aside: float
    turned: float
    seconds: float
    gaits: float
    fell: bool
    rested: bool
    inside: float
    effort: float
    path: np.ndarray


def trial(order: Order, seed: int, seconds: float, *, steer: bool = True, feedback: bool = True) -> Trial:
    """Crawl as ordered, until it rests or so many seconds are over."""
    robot = robots.load("atlas")
    crawling = Crawling(robot, heading=steer)
    crawling.crawler.feedback = feedback
    limits = np.array([joint.effort for joint in robot.moving])
    told, fell, inside, effort, path, touched = False, False, [], 0.0, [], []
    with Simulation(heavier(robot, mass_factor(seed)), seed=seed, sensors=SensorModel.realistic()) as simulation:
        simulation.reset(crawling.crawler.q[7:], base=start_of(crawling))
        state, reference = simulation.new_state(), simulation.new_reference()
        height = float(simulation.base_to_world[2, 3])
        while simulation.time < seconds and not fell and not (simulation.time > BEGIN + 1.0 and crawling.standing):
            simulation.read(state)
            if not told and simulation.time >= BEGIN:
                order(crawling)
                told = True
            crawling.cycle(state, reference)
            simulation.write(reference)
            simulation.advance()
            look = round(simulation.time / simulation.period) % LOOK
            if look >= LOOK - 5:
                touched += [touch.point_in_world for touch in simulation.touches if touch.force_in_world[2] > 1.0]
            if look == LOOK - 1:
                base, com = simulation.base_to_world, simulation.com_in_world
                inside.append(bool(touched) and SupportPolygon.of(touched).margin(com) > 0)
                touched.clear()
                effort = max(effort, float(np.max(np.abs(simulation.truth["effort"]) / limits)))
                fell = bool(base[2, 3] < height - FALLEN)
                path.append((simulation.time, com[0], com[1], heading(base[:3, :3])))
        rested = crawling.standing
        gaits = crawling.crawler.pattern.steps / 4
    way = np.array(path)
    way[:, 3] = np.unwrap(way[:, 3])
    way = way[way[:, 0] >= BEGIN - 0.2]
    moved = way[-1] - way[0]
    return Trial(
        float(moved[1]), float(moved[2]), float(moved[3]), float(way[-1, 0] - BEGIN), gaits, fell, rested,
        float(np.mean(inside)), effort, way,
    )  # fmt: skip


def start_of(crawling: Crawling) -> Placement:
    """Where the base is in the stance."""
    model, q = crawling.crawler.model, crawling.crawler.q
    return Placement.of(model.at(q).placement(model.frame(model.robot.root)))


def circle(run: Trial) -> tuple[float, float, float]:
    """Of the first full circle: drift, radius about its centroid, seconds; not a number if there was none."""
    turned = np.abs(run.path[:, 3] - run.path[0, 3])
    round_ = np.flatnonzero(turned >= math.tau - math.radians(3))
    if not len(round_):
        return math.nan, math.nan, math.nan
    way = run.path[: round_[0] + 1]
    drift = float(np.linalg.norm(way[-1, 1:3] - way[0, 1:3]))
    radius = float(np.linalg.norm(way[:, 1:3] - way[:, 1:3].mean(axis=0), axis=1).mean())
    return drift, radius, float(way[-1, 0] - way[0, 0])


def line(name: str, runs: Sequence[Trial]) -> str:
    """A row of Tables 4.2, 4.3 and 4.6: means of the sizes, per gait."""
    upright = sum(not run.fell for run in runs)
    drift, turn, way = (
        np.array([abs(getattr(run, what)) / run.gaits for run in runs]) for what in ("aside", "turned", "forward")
    )
    speed = np.array([abs(run.forward) / run.seconds for run in runs])
    return (
        f"{name:34s}{upright:3d} of {len(runs):<3d}{drift.mean():7.3f} m{np.degrees(turn.mean()):7.1f}°"
        f"{way.mean():8.3f} m{speed.mean():8.3f} m/s{np.mean([run.inside for run in runs]):8.0%}"
        f"{max(run.effort for run in runs):8.0%}{max(abs(run.aside) for run in runs):8.2f} m"
    )


def main(seeds: int = 10) -> None:
    """Print all tables."""
    robot = robots.load("atlas")
    print(f"Atlas, {robot.mass:.0f} kg (document: 82 kg); {seeds} trials each, effort limits enforced\n")
    head = f"{'':34s}{'no fall':>10s}{'drift':>9s}{'turn':>8s}{'way':>10s}{'speed':>12s}{'inside':>8s}{'effort':>8s}"
    print(f"{head}{'farthest aside':>16s}")
    print("document 4.2, forward, full loop                 0.273 m    3.5°   0.684 m   0.079 m/s")
    print("document 4.2, forward, part loop                 0.275 m    3.0°   0.734 m   0.095 m/s")
    print("document 4.6, forward, through IK                0.093 m   13.3°   0.718 m   0.031 m/s  (4 selected runs)")
    seconds = BEGIN + GAITS * 3.55
    for name, steer in (("forward, blind", False), ("forward, steered", True)):
        runs = [trial(lambda c: c.crawl(velocity=(0.11, 0, 0)), seed, seconds, steer=steer) for seed in range(seeds)]
        print(line(name, runs), flush=True)
    print("document 4.3, backward, full loop                0.346 m    5.2°   0.502 m   0.058 m/s")
    print("document 4.3, backward, part loop                0.405 m    4.8°   0.520 m   0.068 m/s")
    runs = [trial(lambda c: c.crawl(velocity=(-0.085, 0, 0)), seed, BEGIN + GAITS * 4.0) for seed in range(seeds)]
    print(line("backward, steered", runs), flush=True)
    runs = [trial(lambda c: c.turn(math.tau), seed, 100.0) for seed in range(seeds)]
    figures = np.array([circle(run) for run in runs])
    print("\n                       no fall   drift/circle   time/circle   radius   gaits/circle   inside")
    print("document 4.1                        0.248 m       136.2 s   0.674 m           14.4")
    drift, radius, time = np.nanmean(figures, axis=0)
    upright, gaits = sum(not run.fell for run in runs), np.mean([run.gaits for run in runs])
    print(
        f"turn to the left       {upright:2d} of {len(runs):<2d}      {drift:.3f} m{time:14.1f} s{radius:10.3f} m"
        f"{gaits:15.1f}{np.mean([run.inside for run in runs]):9.0%}"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
