"""One whole cycle of crawling (loads, odometry, pattern, joints, efforts), of Atlas in MuJoCo with noisy sensors.

The cycle is timed call by call while the robot crawls forward; steps are planned in the same cycles.
"""

from __future__ import annotations

import time

from benchmarks.report import Progress, Report, Section, Timing, no_garbage_collection
from wholebody import robots
from wholebody.behaviors.crawling import Crawling
from wholebody.robots.robot import Placement
from wholebody.simulation import SensorModel, Simulation

SPEED = 0.1


def run(quick: bool, progress: Progress) -> Report:
    """Time the cycle."""
    report = Report()
    progress("crawling", 0.0)
    report.sections.append(Section("one whole cycle, Atlas", {"cycle": Timing.of(crawl(2.0 if quick else 8.0))}))
    report.limit_median("cycle", 1000)
    return report


def crawl(seconds: float) -> list[float]:
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
            simulation.write(reference)
            simulation.advance()
    return took
