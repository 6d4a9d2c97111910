"""Crawl, §4.2.4 and §4.3: Atlas imitates a person who crawls, with and without CoM modulation, in MuJoCo.

    python -m experiments.crawl_capture [crawl.bvh]

prints tables beside what the document says, of one cycle and of as many in a row as lead two metres, from rest to rest,
and writes `results/crawl_capture_*.png`: the captured skeleton, and the robot with and without CoM rows. The gait, its
places, its timing and what is felt of the limbs are the same in both arms; only the two rows of the centre of mass are
replaced by the position of the trunk, which goes along as the person's did. A third arm plays the table of joints, with
CoM rows, and feels nothing. Sensors have noise, resolution and one cycle of delay, all links are heavier or lighter
than the controller thinks by up to 5 %, one carries up to 4 kg that it knows nothing of, and effort limits are
enforced. Any BVH file of one who crawls will do; without one, it is the captured crawl beside the project, and where
there is none, a person made of numbers, whose trunk surges.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from experiments.crawl_atlas import RESULTS
from experiments.crawl_watch import CrawlWatch
from experiments.crawling_person import SHARED, crawling
from experiments.stabilizer_walk import heavier, mass_factor
from wholebody import robots
from wholebody.behaviors.imitation import REST, Imitating, ImitatingBlindly
from wholebody.locomotion.crawling.crawler import Crawler
from wholebody.locomotion.crawling.footholds import beside
from wholebody.locomotion.crawling.odometry import heading
from wholebody.locomotion.crawling.pattern import CrawlPattern
from wholebody.locomotion.crawling.step import CrawlTarget
from wholebody.model import Model
from wholebody.motion.capture.capture import Capture
from wholebody.motion.capture.gait import CapturedGait, bearing, draw_strip
from wholebody.motion.capture.gait_plan import GaitPlan
from wholebody.motion.capture.imitation import Imitation
from wholebody.motion.capture.retarget import imitate
from wholebody.operator.recordings.crawl_setup import base_of
from wholebody.simulation import SensorModel, Simulation
from wholebody.simulation.cameras import View
from wholebody.simulation.film import Image, side_by_side, write_png

WAY = 2.4  # m that cycles in a row are to lead; from rest to rest, some of it is lost
SEEDS = range(200, 210)  # none of them served to find the gait
SURGE = 0.15  # m: a trunk that goes along evenly needs no rows of the centre of mass
MOMENTS = 8
HEAVIEST = 4.0  # kg
LONGEST = 120.0  # s
PERIOD = 0.005  # s of a cycle of control
WITH, WITHOUT, BLINDLY = "with CoM", "without CoM", "blindly"  # the arms
HEAD = (
    "\n{cycles} of its cycles in MuJoCo, from rest to rest, {seeds} seeds\n"
    f"{'':14s}{'no fall':>10s}{'to the end':>11s}{'forward':>15s}{'of plan':>8s}{'drift/gait':>13s}{'turn/gait':>10s}"
    f"{'speed':>14s}{'slow-down':>10s}{'inside (least)':>17s}{'effort':>8s}"
)
DOCUMENT = "failed: fell on its hands, no progress forward (Fig. 4.22)"


@dataclass(frozen=True)
class Trial:
    """One run: metres along and across the planned way, degrees of turn, whether it fell, or why it stopped by itself.

    inside is the share of samples in which the centre of mass is above what touched the ground in the 25 ms before;
    effort the hardest joint of all, as a share of its limit; slow_down how many times longer than the person's its last
    cycle took.
    """

    forward: float
    across: float
    turn: float
    fell: bool
    trouble: str
    inside: float
    effort: float
    seconds: float
    slow_down: float
    pictures: tuple[Image, ...] = ()


class AsThePersonWent(CrawlPattern):
    """The control arm: limbs swing where and when they would anyway, the trunk goes along as the person's did."""

    def __init__(self, crawler: Crawler, plan: GaitPlan) -> None:
        super().__init__(crawler.gait)
        self._plan = plan
        crawler.joints.without_com(crawler.q)
        crawler.pattern = self

    def at(self, time: float) -> CrawlTarget:
        """The target, but for the centre of mass."""
        target, plan, step = super().at(time), self._plan, self._step
        if step.limb is None:
            return replace(target, com=beside(target.body, self.gait.com))
        k = plan.order.index(step.limb)
        landed = plan.downs[k - 1] if k else plan.downs[-1] - plan.period
        now = float(np.interp(time, [step.begin, step.lift, step.end], [landed, plan.lifts[k], plan.downs[k]]))
        sway = plan.captured_com_at(now) - plan.stance.com[:2] - plan.along(now / plan.period - 0.5)[:2]
        return replace(target, com=beside(target.body, self.gait.com + sway))


def controller(imitation: Imitation, cycles: int, arm: str) -> Imitating | ImitatingBlindly:
    """What crawls so many cycles in an arm."""
    if arm == BLINDLY:
        return ImitatingBlindly(imitation, cycles, PERIOD)
    imitating = Imitating(imitation, cycles)
    if arm == WITHOUT and imitation.plan is not None:
        AsThePersonWent(imitating.crawling.crawler, imitation.plan)
    return imitating


def crawl(imitation: Imitation, seed: int, cycles: int = 1, *, arm: str = WITH, moments: int = 0) -> Trial:
    """Crawl so many cycles, from rest on hands and knees to rest."""
    robot, rng = imitation.model.robot, np.random.default_rng(seed)
    imitating = controller(imitation, cycles, arm)
    rest = 0.0 if arm == BLINDLY else REST
    pictures = []
    with Simulation(heavier(robot, mass_factor(seed)), seed=seed, sensors=SensorModel.realistic()) as simulation:
        simulation.view = View(azimuth=105.0, elevation=-12.0, distance=1.0)
        simulation.reset(imitating.start[7:], base=base_of(imitation.model, imitating.start))
        simulation.attach(rng.uniform(0.0, HEAVIEST), str(rng.choice([link.name for link in robot.links])))
        state, reference = simulation.new_state(), simulation.new_reference()
        begin, watch = simulation.base_to_world, CrawlWatch(simulation)
        simulation.read(state)
        while not watch.fell and simulation.time < LONGEST and imitating.cycle(state, reference):
            simulation.write(reference)
            simulation.advance()
            simulation.read(state)
            if watch.cycle() and moments and imitating.progress >= len(pictures) / (moments - 1):
                pictures.append(simulation.image(width=300, height=240))
        end, seconds = simulation.base_to_world, simulation.time - rest
    way = end[:3, 3] - begin[:3, 3]
    turn = math.remainder(heading(end[:3, :3]) - heading(begin[:3, :3]), math.tau)
    return Trial(
        float(way[0]), float(way[1]), math.degrees(turn), watch.fell, imitating.trouble, watch.inside, watch.effort,
        seconds, imitating.slow_down, tuple(pictures),
    )  # fmt: skip


def trials_of(imitation: Imitation, arm: str, seeds: Sequence[int] = SEEDS, cycles: int = 1) -> list[Trial]:
    """One trial for each seed; the first with pictures."""
    return [crawl(imitation, seed, cycles, arm=arm, moments=MOMENTS if seed == seeds[0] else 0) for seed in seeds]


def line(name: str, trials: Sequence[Trial], stride: float, cycles: int = 1) -> str:
    """A row of the table."""
    forward, across, turn = (np.array([getattr(t, what) for t in trials]) for what in ("forward", "across", "turn"))
    upright, done = (f"{count:3d} of {len(trials):<3d}" for count in (
        sum(not t.fell for t in trials), sum(not t.fell and not t.trouble for t in trials)
    ))  # fmt: skip
    inside = [t.inside for t in trials]
    return (
        f"{name:14s}{upright}{done:>11s}{forward.mean():8.2f} ± {forward.std():.2f} m"
        f"{(forward / (cycles * stride)).mean():8.0%}{np.abs(across).mean() / cycles:11.3f} m"
        f"{np.abs(turn).mean() / cycles:9.1f}°{(forward / [t.seconds for t in trials]).mean():10.3f} m/s"
        f"{np.mean([t.slow_down for t in trials]):10.2f}{np.mean(inside):9.1%} ({min(inside):.1%})"
        f"{max(t.effort for t in trials):8.0%}"
    )


def main(path: str) -> None:
    """Print all tables and write the pictures."""
    RESULTS.mkdir(exist_ok=True)
    capture = Capture.read(path)
    gait, model = CapturedGait.of(capture), Model(robots.load("atlas"))
    draw_strip(capture, RESULTS / "crawl_capture_person.png", MOMENTS, gait.limbs, bearing(capture, gait.limbs))
    print(f"Atlas, {model.total_mass:.0f} kg (document: 82 kg)")
    print(f"person: {gait.stride:.2f} m in {gait.period:.2f} s; {capture.axes.text}")
    imitation = imitate(gait, model)
    print(f"\nretargeted: {imitation.stride:.2f} m in {imitation.duration:.2f} s\n{imitation.quality.table()}")
    for cycles in (1, math.ceil(WAY / imitation.stride)):
        print(HEAD.format(cycles=cycles, seeds=len(SEEDS)))
        print(f"{'document':14s}{DOCUMENT}")
        for name in (WITH, WITHOUT, BLINDLY):
            trials = trials_of(imitation, name, cycles=cycles)
            print(line(name, trials, imitation.stride, cycles), flush=True)
            file = RESULTS / f"crawl_capture_{name.replace(' ', '_').lower()}_{cycles}.png"
            write_png(file, side_by_side(trials[0].pictures))


def person(folder: Path) -> Path:
    """The captured crawl beside the project; where there is none, one who is made of numbers and surges."""
    captured = SHARED / "cmu_111_03_crawling.bvh"
    return captured if captured.exists() else crawling(folder / "person.bvh", surge=SURGE)


if __name__ == "__main__":
    with TemporaryDirectory() as temporary:
        main(sys.argv[1] if sys.argv[1:] else str(person(Path(temporary))))
