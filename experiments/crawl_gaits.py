"""Crawl, §4.1 and §4.2.3: Atlas crawls forward and backward and turns on the spot; Tables 4.1, 4.2, 4.3 and 4.6.

    python -m experiments.crawl_gaits [TRIALS] [forward] [backward] [turn] [velocities] [from=SEED]

prints the tables beside the document's, writes them to `results/crawl_gaits_*.md`, and draws the paths of the limbs
over ten gaits, seen from the pelvis (Fig. 4.10). Seeds are those from 100 on, unless told; the first five served to
find the sizes of the gait and how hands prove their ground. Sensors have noise, resolution and one cycle of delay, all
links are heavier or lighter than the controller thinks by up to 5 %, and effort limits are enforced. As in the
document, drift, turn and way are those of each gait, seen from where the robot was and faced when the gait began; drift
is aside, and the way includes it. All gaits of all runs count, also the first. A gait is four steps; in a full loop, in
which the robot goes back to its stance each time, it is all of them from stance to stance. Every gait of ours goes
through the IK solver, so that the blind one, which knows neither its heading nor its place, stands beside Table 4.6.
The document has one velocity; `velocities` are ours, told and kept.
Contacts are felt right if the Kalman filter of joint efforts says of a limb what is true: that it bears more than 5 %
of the weight, or not.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from experiments.crawl_watch import CrawlWatch
from experiments.stabilizer_walk import heavier, mass_factor
from wholebody import robots
from wholebody.behaviors.crawling import Crawling
from wholebody.locomotion.crawling.odometry import heading
from wholebody.locomotion.walking.pendulum import GRAVITY
from wholebody.motion.capture.gait import CRAWLING
from wholebody.robots.robot import Placement
from wholebody.simulation import SensorModel, Simulation

Order = Callable[[Crawling], None]

BEGIN = 1.0  # s, when it is told what to do
GAITS, CYCLE = 10, 3.9  # and seconds of one
FULL, LOOPS = 0.7, 5  # m of a full loop, as in the document, and how many
WHILE = 21.0  # s at a velocity, and before
WAYS = (
    (0.03, 0.0, 0.0), (0.05, 0.0, 0.0), (0.08, 0.0, 0.0), (0.1, 0.0, 0.0), (0.11, 0.0, 0.0), (-0.04, 0.0, 0.0),
    (-0.07, 0.0, 0.0), (0.05, 0.0, 0.05), (0.1, 0.0, 0.1), (0.0, 0.03, 0.0),
)  # fmt: skip
PHASES = 30
FRESH = 100  # the first seed
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Trial:
    """One run, from the order on: metres forward and aside and radians, as they were in truth.

    path is rows of time, x, y, heading, and how many gaits were done; inside the share of looks with the centre of mass
    above what bears, and felt that of limbs whose contact is felt right; effort the hardest joint as a share of its
    limit; limbs (looks × 4 × 3) are seen from the pelvis, and steps counts them.
    """

    forward: float
    aside: float
    turned: float
    seconds: float
    gaits: float
    fell: bool
    rested: bool
    inside: float
    felt: float
    effort: float
    path: np.ndarray
    limbs: np.ndarray
    steps: np.ndarray
    trouble: str


def trial(
    order: Order, seed: int, seconds: float, *, steer: bool = True, feedback: bool = True, loops: int = 1
) -> Trial:
    """Crawl as ordered, again whenever it rests until it was told so often, until it rests or the seconds are over."""
    robot = robots.load("atlas")
    crawling = Crawling(robot, heading=steer)
    crawling.crawler.feedback = feedback
    told, felt, path, limbs, steps = 0, [], [], [], []
    with Simulation(heavier(robot, mass_factor(seed)), seed=seed, sensors=SensorModel.realistic()) as simulation:
        simulation.reset(crawling.crawler.q[7:], base=start_of(crawling))
        state, reference = simulation.new_state(), simulation.new_reference()
        watch = CrawlWatch(simulation)
        while simulation.time < seconds and not watch.fell and not (told == loops and crawling.standing):
            simulation.read(state)
            if told < loops and simulation.time >= BEGIN and crawling.standing and not crawling.trouble:
                order(crawling)
                told += 1
            crawling.cycle(state, reference)
            simulation.write(reference)
            simulation.advance()
            if watch.cycle():
                base, com = simulation.base_to_world, simulation.com_in_world
                felt.append(np.mean(crawling.crawler.loads.touching == bearing(crawling, simulation)))
                gaits = crawling.crawler.pattern.steps // 4 if loops == 1 else max(told - 1, 0)
                path.append((simulation.time, com[0], com[1], heading(base[:3, :3]), gaits))
                limbs.append(seen_from_pelvis(crawling, simulation.truth.position))
                steps.append(crawling.crawler.pattern.steps)
        rested = crawling.standing
        gaits = crawling.crawler.pattern.steps / 4 if loops == 1 else told
    way = np.array(path)
    way[:, 3] = np.unwrap(way[:, 3])
    way = way[way[:, 0] >= BEGIN - 0.2]
    moved = way[-1] - way[0]
    return Trial(
        float(moved[1]), float(moved[2]), float(moved[3]), float(way[-1, 0] - BEGIN), gaits, watch.fell,
        rested, watch.inside, float(np.mean(felt)), watch.effort, way, np.array(limbs), np.array(steps),
        crawling.trouble,
    )  # fmt: skip


def bearing(crawling: Crawling, simulation: Simulation) -> np.ndarray:
    """Which limbs bear more than 5 % of the weight, in truth."""
    robot = simulation.robot
    loads = {robot.surface(limb.frame).link: 0.0 for limb in crawling.crawler.limbs}
    for touch in simulation.touches:
        if touch.link in loads:
            loads[touch.link] += touch.force_in_world[2]
    return np.array(list(loads.values())) > 0.05 * robot.mass * GRAVITY


def seen_from_pelvis(crawling: Crawling, joints: np.ndarray) -> np.ndarray:
    """Where the four limbs are, 4 × 3."""
    model = crawling.crawler.model
    at = model.at(np.concatenate([[0, 0, 0, 0, 0, 0, 1], joints]))
    return np.array([at.position(frame) for frame in crawling.crawler.joints.frames])


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


def by_gait(run: Trial) -> np.ndarray:
    """Drift and way, m, and turn, rad, of each whole gait (n × 3), from where the robot was and faced at its begin."""
    counts = run.path[:, 4]
    begins = [int(np.flatnonzero(counts == number)[0]) for number in range(int(counts[-1]) + 1)]
    marks = run.path[begins + [len(counts) - 1] * run.rested]
    moves = np.diff(marks, axis=0)
    drift = np.cos(marks[:-1, 3]) * moves[:, 2] - np.sin(marks[:-1, 3]) * moves[:, 1]
    return np.abs(np.column_stack([drift, np.hypot(moves[:, 1], moves[:, 2]), moves[:, 3]]))


def spread(values: Sequence[float], unit: str, digits: int = 3) -> str:
    """Mean ± deviation."""
    return f"{np.mean(values):.{digits}f} ± {np.std(values):.{digits}f} {unit}"


def row(name: str, runs: Sequence[Trial], periodic: bool = True) -> str:
    """A row of Tables 4.2, 4.3 and 4.6: sizes per gait; how far limbs are off their mean path, if there is one."""
    drift, way, turn = np.concatenate([by_gait(run) for run in runs]).T
    cells = [
        name, f"{sum(not run.fell for run in runs)} of {len(runs)}", spread(drift, "m"),
        spread(np.degrees(turn), "°", 2), spread(way, "m"),
        spread([abs(run.forward) / run.seconds for run in runs], "m/s"), *told(runs),
        f"{max(abs(run.aside) for run in runs):.2f} m",
        spread([1e3 * period_error(run) for run in runs], "mm", 1) if periodic else "",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def told(runs: Sequence[Trial]) -> tuple[str, str, str]:
    """How often the centre of mass was inside, mean and least; how often contacts were felt right; hardest joint."""
    inside = [run.inside for run in runs]
    return (
        f"{np.mean(inside):.1%} ({min(inside):.1%})", f"{np.mean([run.felt for run in runs]):.1%}",
        f"{max(run.effort for run in runs):.0%}",
    )  # fmt: skip


def cycles(run: Trial) -> np.ndarray:
    """The limbs' paths seen from the pelvis: whole gaits × phases × 4 × 3."""
    begins = [int(np.searchsorted(run.steps, 4 * number)) for number in range(1, int(run.steps[-1]) // 4 + 1)]
    return np.array(
        [
            [run.limbs[round(at)] for at in np.linspace(first, last, PHASES, endpoint=False)]
            for first, last in pairwise(begins)
        ]
    )


def period_error(run: Trial) -> float:
    """Root mean square of how far limbs are from their mean path, over gaits and phases, m."""
    paths = cycles(run)
    if len(paths) < 2:
        return math.nan
    return float(np.sqrt(((paths - paths.mean(axis=0)) ** 2).sum(axis=-1).mean()))


HEAD = (
    "| | no fall | drift/gait | turn/gait | way/gait | speed | CoM inside (least) | contacts felt right "
    "| hardest joint | farthest aside | off the mean path |\n|---|---|---|---|---|---|---|---|---|---|---|"
)


def forward(seeds: Sequence[int]) -> list[str]:
    """Tables 4.2 and 4.6."""
    seconds = BEGIN + GAITS * CYCLE
    rows = [
        HEAD,
        "| document 4.2, full loop | | 0.273 m | 3.5° | 0.684 m | 0.079 m/s | | | | | |",
        "| document 4.2, part loop | | 0.275 m | 3.0° | 0.734 m | 0.095 m/s | | | | | |",
        "| document 4.6, IK, 4 selected runs | | 0.093 m | 13.3° | 0.718 m | 0.031 m/s | | | | | |",
    ]
    for name, steer in (("forward, steered", True), ("forward, blind (4.6)", False)):
        runs = trials(name, seeds, lambda c: c.crawl(velocity=(0.12, 0, 0)), seconds, steer)
        rows.append(row(name, runs))
        draw(name, runs[0])
    return [*rows, full_loop("forward", seeds, FULL)]


def full_loop(name: str, seeds: Sequence[int], distance: float) -> str:
    """The row of a robot that goes back to its stance after each loop."""
    name = f"{name}, full loop"
    return row(name, trials(name, seeds, lambda c: c.crawl(distance=distance), 200.0, loops=LOOPS), periodic=False)


def backward(seeds: Sequence[int]) -> list[str]:
    """Table 4.3."""
    name = "backward, steered"
    runs = trials(name, seeds, lambda c: c.crawl(velocity=(-0.12, 0, 0)), BEGIN + GAITS * CYCLE)
    draw(name, runs[0])
    return [
        HEAD,
        "| document 4.3, full loop | | 0.346 m | 5.2° | 0.502 m | 0.058 m/s | | | | | |",
        "| document 4.3, part loop | | 0.405 m | 4.8° | 0.520 m | 0.068 m/s | | | | | |",
        row(name, runs),
        full_loop("backward", seeds, -FULL),
    ]


def turn(seeds: Sequence[int]) -> list[str]:
    """Table 4.1."""
    runs = trials("turn", seeds, lambda c: c.turn(math.tau), 130.0)
    drift, radius, time = np.array([circle(run) for run in runs]).T
    cells = [
        "turn to the left", f"{sum(not run.fell for run in runs)} of {len(runs)}", spread(drift, "m"),
        spread(time, "s", 1), spread(radius, "m"), spread([run.gaits for run in runs], "", 1), *told(runs),
    ]  # fmt: skip
    return [
        "| | no fall | drift/circle | time/circle | radius | gaits/circle | CoM inside (least) | contacts felt right "
        "| hardest joint |",
        "|---|---|---|---|---|---|---|---|---|",
        "| document 4.1 | | 0.248 m | 136.2 s | 0.674 m | 14.4 | | | |",
        f"| {' | '.join(cells)} |",
    ]


def trials(
    name: str, seeds: Sequence[int], order: Order, seconds: float, steer: bool = True, loops: int = 1
) -> list[Trial]:
    """All seeds, one after the other, each with a line of how it went."""
    runs = []
    for number, seed in enumerate(seeds, 1):
        run = trial(order, seed, seconds, steer=steer, loops=loops)
        runs.append(run)
        how = "fell" if run.fell else run.trouble or "did not fall"
        print(
            f"{name} {number} of {len(seeds)}, seed {seed}: {how}, {run.forward:.2f} m forward, "
            f"{run.aside:.2f} m aside, {math.degrees(run.turned):.1f}°, {run.seconds:.1f} s, inside {run.inside:.1%}",
            file=sys.stderr, flush=True,
        )  # fmt: skip
    return runs


def draw(name: str, run: Trial) -> None:
    """Fig. 4.10: the paths of the four limbs seen from the pelvis, gait by gait, from the side."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(10, 6), layout="constrained")
    for limb, (part, axis) in enumerate(zip(CRAWLING, axes.flat, strict=True)):
        for path in cycles(run)[:, :, limb]:
            axis.plot(path[:, 0], path[:, 2], linewidth=0.8)
        axis.set(title=part.replace("_", " "), xlabel="x in the pelvis [m]", ylabel="z in the pelvis [m]")
        axis.grid(alpha=0.3)
    figure.suptitle(f"{name}: {1e3 * period_error(run):.1f} mm off the mean path")
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(
        RESULTS / f"crawl_paths_{name.split(',')[0]}_{'blind' if 'blind' in name else 'steered'}.png", dpi=90
    )
    plt.close(figure)


def velocities(seeds: Sequence[int]) -> list[str]:
    """Told several velocities, forward and backward, arcs and aside."""
    rows = [HEAD]
    for way in WAYS:
        name = "{:g} m/s, {:g} m/s aside, {:g} rad/s".format(*way)
        rows.append(row(name, trials(name, seeds, lambda c, way=way: c.crawl(velocity=way), WHILE)))
    return rows


TABLES = {"forward": forward, "backward": backward, "turn": turn, "velocities": velocities}


def main(names: Sequence[str] = tuple(TABLES), trials: int = 10, first: int = FRESH) -> None:
    """Print and write the tables."""
    RESULTS.mkdir(exist_ok=True)
    mass, seeds = robots.load("atlas").mass, range(first, first + trials)
    head = (
        f"Atlas, {mass:.0f} kg (document: 82 kg); {trials} trials each, seeds {seeds[0]} to {seeds[-1]}, "
        "effort limits enforced"
    )
    for name in names:
        text = "\n".join([head, "", *TABLES[name](seeds), ""])
        print(text, flush=True)
        (RESULTS / f"crawl_gaits_{name}.md").write_text(text, encoding="utf-8")


def told_to(words: Sequence[str]) -> dict[str, Any]:
    """The arguments of main: a number of trials, names of tables, from=SEED."""
    numbers = [int(word) for word in words if word.isdigit()]
    firsts = [int(word.removeprefix("from=")) for word in words if word.startswith("from=")]
    names = [word for word in words if word in TABLES] or tuple(TABLES)
    return {"names": names, "trials": (numbers or [10])[0], "first": (firsts or [FRESH])[0]}


if __name__ == "__main__":
    main(**told_to(sys.argv[1:]))
