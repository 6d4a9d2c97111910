"""Crawl, §1.2 (A9): Atlas crawls over blocks, up a step and below a bar, by a map of heights.

    python -m experiments.crawl_rough [SEEDS] [FIRST] [ROWS …]

prints a table, writes it to `results/crawl_rough.md`, and draws the map that the camera made beside the true one, with
the places of limbs. Rows are those of ROWS. Sensors have noise, resolution and one cycle of delay, all links are
heavier or lighter by up to 5 %, effort limits are enforced; depth is that of a pair of cameras with errors. A run
counts if all four limbs are beyond, and it rests.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.crawl_gaits import start_of
from experiments.crawl_watch import CrawlWatch
from experiments.stabilizer_walk import heavier, mass_factor
from wholebody import robots
from wholebody.behaviors.crawling import Crawling
from wholebody.locomotion.crawling.footholds import LevelGround
from wholebody.locomotion.crawling.gait import rough_gait_of
from wholebody.model import Model
from wholebody.operator.recordings.crawl_setup import REACH, Eye, known_ground, known_heights
from wholebody.robots.geometry import extent
from wholebody.simulation import SensorModel, Simulation

BEGIN = 2.5  # s, when it is told to crawl
KNEES = ("l_lleg", "r_lleg")
BAR = "bar"
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Course:
    """A scene; how far to crawl, beyond which x all limbs are to be, and how long it may take."""

    scene: str
    distance: float
    beyond: float
    seconds: float
    knows: str = "map"


HIGHER = "blocks:height={height},seed={{seed}}"
BLOCKS = HIGHER.format(height=0.05)
STEP = "steps:height={height},count=1,depth=2.5,ahead=0.8"
ROWS = {
    "blocks up to 5 cm, map": Course(BLOCKS, 3.7, 3.2, 150.0),
    "blocks up to 5 cm, no map (control)": Course(BLOCKS, 3.7, 3.2, 150.0, "nothing"),
    "blocks up to 5 cm, camera": Course(BLOCKS, 3.7, 3.2, 150.0, "camera"),
    **{
        f"blocks up to {100 * up:.0f} cm, map": Course(HIGHER.format(height=up), 3.7, 3.2, 200.0)
        for up in (0.06, 0.07, 0.08)
    },
    **{
        f"step of {100 * up:.0f} cm, {knows}": Course(STEP.format(height=up), 1.6, 0.8, 90.0, knows)
        for knows in ("map", "camera")
        for up in (0.1, 0.12, 0.14)
    },
    "step of 10 cm, no map (control)": Course(STEP.format(height=0.1), 1.6, 0.8, 90.0, "nothing"),
    "bar 5 cm above its back": Course("bar:height={above}", 1.7, 1.2, 90.0),
    "bar 5 cm below its back (control)": Course("bar:height={below}", 1.7, 1.2, 90.0),
}


@dataclass(frozen=True)
class Crossing:
    """One run: whether it came across, how far its hindmost knee came, and what it touched.

    inside is the share of looks with the centre of mass above what bears, effort the hardest joint over its limit, top
    the highest that any part of it was, footholds (n × 2) where limbs came down, and heights the map that it went by,
    in the end.
    """

    across: bool
    fell: bool
    trouble: str
    seconds: float
    reached: float
    inside: float
    effort: float
    mass: float
    touched: frozenset[str]
    top: float
    footholds: np.ndarray
    heights: np.ndarray


def top_of(simulation: Simulation) -> float:
    """How high the highest point of the robot is, m."""
    _, high = extent(simulation.robot, simulation.truth.position, simulation.base_to_world)
    return float(high[2])


def named(course: Course, crawling: Crawling, seed: int) -> str:
    """The scene; bars are as high as the robot's back at rest, and 5 cm more or less."""
    q, robot = crawling.crawler.q, crawling.crawler.model.robot
    _, high = extent(robot, q[7:], start_of(crawling).matrix)
    return course.scene.format(seed=seed, above=round(high[2] + 0.05, 3), below=round(high[2] - 0.05, 3))


def trial(course: Course, seed: int) -> Crossing:
    """Crawl over a course, until it rests, falls, gives up, or time is over."""
    robot = robots.load("atlas")
    crawling = Crawling(robot, rough_gait_of(Model(robot)))
    scene = named(course, crawling, seed)
    crawler, actual = crawling.crawler, heavier(robot, mass_factor(seed))
    told, footholds = False, []
    with Simulation(actual, scene, seed=seed, sensors=SensorModel.realistic()) as simulation:
        simulation.reset(crawler.q[7:], base=start_of(crawling))
        watch, top = CrawlWatch(simulation), 0.0
        eye = Eye(crawler, simulation, seed) if course.knows == "camera" else None
        if eye is None:
            crawler.crawl_over(known_ground(scene) if course.knows == "map" else LevelGround())
        state, reference = simulation.new_state(), simulation.new_reference()
        while simulation.time < course.seconds and not (watch.fell or crawling.trouble or (told and crawling.standing)):
            simulation.read(state)
            if not told and simulation.time >= BEGIN:
                crawling.crawl(distance=course.distance)
                told = True
            crawling.cycle(state, reference)
            if eye is not None:
                eye.look(state, reference)
            simulation.write(reference)
            simulation.advance()
            if watch.cycle():
                top = max(top, top_of(simulation))
            if crawler.pattern.steps > len(footholds):
                footholds.append(crawler.odometry.limbs[crawler.pattern.landed])
        reached = min(float(simulation.link_to_world(knee)[0, 3]) for knee in KNEES)
        seconds = simulation.time - BEGIN
    across = crawling.standing and not crawling.trouble and reached > course.beyond and BAR not in watch.touched
    heights = known_heights(scene) if eye is None else eye.mapper.heights
    return Crossing(
        across, watch.fell, crawling.stopped, seconds, reached, watch.inside, watch.effort,
        actual.mass, frozenset(watch.touched), top, np.array(footholds), heights.heights,
    )  # fmt: skip


def trials(name: str, course: Course, seeds: Sequence[int]) -> list[Crossing]:
    """All seeds, each with a line of how it went."""
    runs = []
    for seed in seeds:
        run = trial(course, seed)
        runs.append(run)
        how = "across" if run.across else "fell" if run.fell else run.trouble or "not across"
        print(
            f"{name}, seed {seed}: {how}, knees at {run.reached:.2f} m after {run.seconds:.0f} s, "
            f"inside {run.inside:.1%}",
            file=sys.stderr, flush=True,
        )  # fmt: skip
    return runs


HEAD = (
    "| | across | fell | stopped by itself | touched the bar | seconds | CoM inside (least) | highest point | mass "
    "| hardest joint |\n|---|---|---|---|---|---|---|---|---|---|"
)


def row(name: str, runs: Sequence[Crossing]) -> str:
    """A row of the table."""
    inside, across = [run.inside for run in runs], [run for run in runs if run.across]
    cells = [
        name, f"{len(across)} of {len(runs)}", f"{sum(run.fell for run in runs)}",
        f"{sum(bool(run.trouble) and not run.fell for run in runs)}",
        f"{sum(BAR in run.touched for run in runs)}",
        f"{np.mean([run.seconds for run in across]):.0f}" if across else "",
        f"{np.mean(inside):.1%} ({min(inside):.1%})",
        f"{max(run.top for run in runs):.2f} m",
        f"{min(run.mass for run in runs):.0f} to {max(run.mass for run in runs):.0f} kg",
        f"{max(run.effort for run in runs):.0%}",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def draw(name: str, course: Course, run: Crossing, seed: int) -> None:
    """The true heights and those that the robot went by, seen from above, with where limbs came down."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 1, figsize=(9, 8), layout="constrained", sharex=True)
    (left, right), (low, high) = REACH
    true = known_heights(course.scene.format(seed=seed)).heights
    for axis, heights, title in zip(axes, (true, run.heights), ("true", "as it went by"), strict=True):
        shown = axis.imshow(
            100 * heights.T, origin="lower", extent=(left, right, low, high), vmin=-1, vmax=6, cmap="viridis"
        )
        axis.plot(*run.footholds.T, ".", color="red", markersize=4)
        axis.set(title=title, ylabel="y [m]")
    axes[1].set_xlabel("x [m]")
    figure.colorbar(shown, ax=axes, label="height [cm]")
    figure.suptitle(f"{name}, seed {seed}: {'across' if run.across else 'not across'}")
    figure.savefig(RESULTS / f"crawl_rough_{course.knows}.png", dpi=90)
    plt.close(figure)


def main(seeds: Sequence[int], names: Sequence[str] = tuple(ROWS)) -> None:
    """Print and write the table."""
    head = f"Atlas, {robots.load('atlas').mass:.0f} kg (document: 82 kg, level ground only); effort limits enforced"
    RESULTS.mkdir(exist_ok=True)
    rows = []
    for name in names:
        runs = trials(name, ROWS[name], seeds)
        rows.append(row(name, runs))
        if "blocks" in name:
            draw(name, ROWS[name], runs[0], seeds[0])
    text = "\n".join([head, "", HEAD, *rows, ""])
    print(text, flush=True)
    (RESULTS / "crawl_rough.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    count, first = (int(word) for word in (*sys.argv[1:3], *("20", "0")[len(sys.argv[1:3]) :]))
    main(range(first, first + count), sys.argv[3:] or tuple(ROWS))
