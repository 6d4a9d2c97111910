"""One whole cycle of crawling (loads, odometry, pattern, joints, efforts), and retargeting of 1,500 captured frames.

The cycle is timed call by call while Atlas crawls forward in MuJoCo with noisy sensors; steps are planned in the same
cycles. Retargeting is from a BVH file, of a person made of numbers, to joints of Atlas in every frame.
"""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.report import Progress, Report, Section, Timing, no_garbage_collection, part
from benchmarks.yardsticks import Beside
from experiments.crawling_person import FRAME_TIME, crawling
from wholebody import robots
from wholebody.behaviors.crawling import Crawling
from wholebody.model import Model
from wholebody.motion.capture.capture import Capture
from wholebody.motion.capture.retarget import imitate_clip
from wholebody.robots.robot import Placement
from wholebody.simulation import SensorModel, Simulation

SPEED = 0.1
FRAMES, PERIOD = 1500, 4.0
"""Of the captured motion, and seconds of one of its gaits."""


def run(quick: bool, progress: Progress) -> Report:
    """Time the cycle, and how long retargeting takes."""
    report = Report()
    progress("crawling", 0.0)
    beside = Beside(every=5)
    cycle = Timing.of(crawl(2.0 if quick else 8.0, beside))
    report.sections.append(Section("one whole cycle, Atlas", {"cycle": cycle, "matrix_product": beside.timing}))
    report.limit_ratio("cycle", "matrix_product", 140.0)
    products = Beside()
    frame = Timing.of([retarget(part(progress, 0.5, 1.0), products) / FRAMES])
    retargeted: dict[str, Timing | float] = {"retargeting_a_frame": frame, "matrix_product_beside": products.timing}
    report.sections.append(Section(f"from a BVH file to joints of Atlas, {FRAMES} frames", retargeted))
    report.limit_ratio("retargeting_a_frame", "matrix_product_beside", 300.0)
    return report


def retarget(progress: Progress, beside: Beside) -> float:
    """Microseconds for a whole motion of so many frames, the file read too; the kernels are compiled before."""
    model = Model(robots.load("atlas"))
    with TemporaryDirectory() as folder:
        imitate_clip(Capture.read(crawling(Path(folder) / "short.bvh", period=PERIOD, cycles=1)), model)
        path = crawling(Path(folder) / "person.bvh", period=PERIOD, cycles=FRAMES * FRAME_TIME / PERIOD)
        before = time.perf_counter()
        capture = Capture.read(path)

        def told(share: float) -> None:
            progress("retargeting", share)
            beside.take()

        imitation = imitate_clip(capture, model, progress=told)
        seconds = time.perf_counter() - before
    assert len(imitation.q) == FRAMES
    return seconds * 1e6


def crawl(seconds: float, beside: Beside) -> list[float]:
    """Microseconds of each cycle."""
    robot = robots.load("atlas")
    crawling = Crawling(robot)
    model, q, took = crawling.crawler.model, crawling.crawler.q, []
    with Simulation(robot, sensors=SensorModel.realistic()) as simulation, no_garbage_collection():
        simulation.reset(q[7:], base=Placement.of(model.at(q).placement(model.frame(robot.root))))
        state, reference = simulation.new_state(), simulation.new_reference()
        crawling.crawl(velocity=(SPEED, 0.0, 0.0))
        while simulation.time < seconds:
            simulation.read(state)
            before = time.perf_counter()
            crawling.cycle(state, reference)
            took.append((time.perf_counter() - before) * 1e6)
            beside.take()
            simulation.write(reference)
            simulation.advance()
    return took
