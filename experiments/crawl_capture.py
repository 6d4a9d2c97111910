"""Crawl, §4.2.4 and §4.3: Atlas imitates a person who crawls, with and without CoM modulation, in MuJoCo.

    python -m experiments.crawl_capture [crawl.bvh]

prints tables beside what the document says, of one cycle and of as many in a row as lead two metres, and writes
`results/crawl_capture_*.png`: the captured skeleton, and the robot with and without CoM rows. The cycle, its places and
its timing are the same in both arms; only the two rows of the centre of mass are replaced by the position of the trunk,
which goes along as the person's did. The robot is position controlled, without feedback, by commands that make up for
how joints give way at rest. Every trial has another load that the plan does not know (up to 4 kg on a random link),
noise on the commands, and a turned start. Effort limits are enforced. Any BVH file of one who crawls will do; without
one, it is the captured crawl beside the project, and where there is none, a person made of numbers, whose trunk surges.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.spatial.transform import Rotation

from experiments.crawl_atlas import RESULTS
from experiments.crawling_person import SHARED, crawling
from wholebody import robots
from wholebody.model import Model
from wholebody.model.support import SupportPolygon
from wholebody.motion.capture import Capture
from wholebody.motion.captured_gait import CapturedGait, bearing
from wholebody.motion.imitation import Imitation
from wholebody.motion.retarget import imitate
from wholebody.motion.skeleton_plot import draw_strip
from wholebody.robots.robot import Placement
from wholebody.simulation import Simulation
from wholebody.simulation.cameras import View
from wholebody.simulation.pictures import Image, side_by_side, write_png

WAY = 2.1  # m that cycles in a row are to lead
SEEDS = range(10)
SURGE = 0.15  # m: a trunk that goes along evenly needs no rows of the centre of mass
MOMENTS = 8
FALLEN = 0.15  # m that the pelvis is lower than planned
COMMAND_NOISE = 0.002  # rad
HEAVIEST = 4.0  # kg
HEAD = (
    "\n{cycles} of its cycles in MuJoCo, {seeds} seeds\n"
    f"{'':14s}{'no fall':>10s}{'forward':>14s}{'of plan':>8s}{'drift/gait':>13s}{'turn/gait':>10s}{'speed':>14s}"
    f"{'inside':>9s}{'effort':>9s}"
)
DOCUMENT = "failed: fell on its hands, no progress forward (Fig. 4.22)"


@dataclass(frozen=True)
class Trial:
    """One run: metres along and across the planned way, degrees of turn, and whether it fell.

    inside is the share of samples in which the centre of mass is above what touched the ground in the 50 ms before;
    effort the hardest joint of all, as a share of its limit.
    """

    forward: float
    across: float
    turn: float
    fell: bool
    inside: float
    effort: float
    seconds: float
    pictures: tuple[Image, ...] = ()


def crawl(imitation: Imitation, seed: int, cycles: int = 1, moments: int = 0) -> Trial:
    """Play so many cycles, from the first posture of the imitation, on its hands and knees."""
    robot, rng = imitation.model.robot, np.random.default_rng(seed)
    table = imitation.table(cycles)
    with Simulation(robot, seed=seed) as simulation:
        simulation.view = View(azimuth=105.0, elevation=-12.0, distance=1.0)
        simulation.reset(imitation.joints[0], base=start(imitation, rng.normal(0.0, 0.02)))
        simulation.attach(rng.uniform(0.0, HEAVIEST), str(rng.choice([link.name for link in robot.links])))
        reference, limits = simulation.new_reference(), np.array([joint.effort for joint in robot.moving])
        begin = simulation.base_to_world
        times = np.arange(0.0, table.duration, simulation.period)
        motion = table.trajectory().sample(times).position
        shown = set(np.linspace(0, len(times) - 1, moments).astype(int)) if moments else set()
        inside, effort, lowest, pictures, touched = [], 0.0, 0.0, [], []
        for row, posture in enumerate(motion):
            reference["position"] = posture + rng.normal(0.0, COMMAND_NOISE, len(posture))
            simulation.write(reference)
            simulation.advance()
            if row % 20 >= 10:
                touched += [touch.point_in_world for touch in simulation.touches if touch.force_in_world[2] > 1.0]
            if row % 20 == 19:
                inside.append(bool(touched) and SupportPolygon.of(touched).margin(simulation.com_in_world) > 0)
                touched.clear()
                effort = max(effort, float(np.max(np.abs(simulation.truth["effort"]) / limits)))
                lowest = max(lowest, planned_height(imitation, times[row]) - simulation.base_to_world[2, 3])
            if row in shown:
                pictures.append(simulation.image(width=300, height=240))
        end = np.linalg.inv(begin) @ simulation.base_to_world
        way = simulation.base_to_world[:3, 3] - begin[:3, 3]
    turn = Rotation.from_matrix(begin[:3, :3] @ end[:3, :3] @ begin[:3, :3].T).as_rotvec()[2]
    return Trial(
        float(way[0]), float(way[1]), float(np.degrees(turn)), lowest > FALLEN, float(np.mean(inside)), effort,
        float(times[-1]), tuple(pictures),
    )  # fmt: skip


def start(imitation: Imitation, turned: float) -> Placement:
    """The base at the start, turned a bit about the vertical."""
    turn = Rotation.from_rotvec((0.0, 0.0, turned))
    base = np.eye(4)
    base[:3, :3] = (turn * Rotation.from_quat(imitation.q[0, 3:7])).as_matrix()
    base[:3, 3] = turn.apply(imitation.q[0, :3])
    return Placement.of(base)


def planned_height(imitation: Imitation, time: float) -> float:
    """Of the pelvis."""
    rows = np.arange(len(imitation.q)) * imitation.period
    return float(np.interp(time % imitation.duration, rows, imitation.q[:, 2]))


def arm(imitation: Imitation, seeds: Sequence[int] = SEEDS, cycles: int = 1) -> list[Trial]:
    """One trial for each seed; the first with pictures."""
    return [crawl(imitation, seed, cycles, MOMENTS if seed == seeds[0] else 0) for seed in seeds]


def line(name: str, trials: Sequence[Trial], stride: float, cycles: int = 1) -> str:
    """A row of the table."""
    forward, across, turn = (np.array([getattr(t, what) for t in trials]) for what in ("forward", "across", "turn"))
    upright = f"{sum(not t.fell for t in trials):3d} of {len(trials):<3d}"
    return (
        f"{name:14s}{upright}{forward.mean():7.2f} ± {forward.std():.2f} m"
        f"{(forward / (cycles * stride)).mean():8.0%}{np.abs(across).mean() / cycles:11.3f} m"
        f"{np.abs(turn).mean() / cycles:9.1f}°{(forward / [t.seconds for t in trials]).mean():10.3f} m/s"
        f"{np.mean([t.inside for t in trials]):9.0%}{max(t.effort for t in trials):9.0%}"
    )


def main(path: str) -> None:
    """Print all tables and write the pictures."""
    RESULTS.mkdir(exist_ok=True)
    capture = Capture.read(path)
    gait, model = CapturedGait.of(capture), Model(robots.load("atlas"))
    draw_strip(capture, RESULTS / "crawl_capture_person.png", MOMENTS, gait.limbs, bearing(capture, gait.limbs))
    print(f"Atlas, {model.total_mass:.0f} kg (document: 82 kg)")
    print(f"person: {gait.stride:.2f} m in {gait.period:.2f} s; {capture.axes.text}")
    arms = {"with CoM": imitate(gait, model), "without CoM": imitate(gait, model, with_com=False)}
    for name, imitation in arms.items():
        print(f"\n{name}: {imitation.stride:.2f} m in {imitation.duration:.2f} s\n{imitation.quality.table()}")
    for cycles in (1, math.ceil(WAY / arms["with CoM"].stride)):
        print(HEAD.format(cycles=cycles, seeds=len(SEEDS)))
        print(f"{'document':14s}{DOCUMENT}")
        for name, imitation in arms.items():
            trials = arm(imitation, cycles=cycles)
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
