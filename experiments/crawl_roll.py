"""Crawl, §4.1.1: Atlas rolls from its belly onto its back, left and right; turns over; gets on wrists and knees, up
from the ground and down from standing.

    python -m experiments.crawl_roll [SEEDS] [ROWS]

prints a table (the document gives no figures). It lies or stands a little otherwise in each run: joints up to 0.03 rad
off, turned by any angle. Sensors have noise, resolution and one cycle of delay, all links are heavier or lighter by up
to 5 %, and effort limits are enforced. Tilt is how far the front of pelvis and chest point from straight up (or down),
the worse of both.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.stabilizer_walk import heavier, mass_factor
from wholebody import robots
from wholebody.behaviors.crawling import Crawling
from wholebody.behaviors.lying_motions import KeyFrameMotions
from wholebody.motion import files
from wholebody.robots import geometry
from wholebody.robots.robot import Placement
from wholebody.simulation import SensorModel, Simulation

BELLY, BACK, STANDING = math.pi / 2, -math.pi / 2, 0.0
"""rad: how the root is pitched when the robot lies so, or stands."""
OFF = 0.03
"""rad by which joints may lie elsewhere than in the first frame."""
SETTLE = 1.0
"""s, before and after."""
LOOK = 4
"""Cycles between two looks at the efforts."""


@dataclass(frozen=True)
class Lain:
    """How a motion went: how far from flat on its back and from flat on its belly, rad; seconds; hardest joint."""

    off_back: float
    off_belly: float
    height: float  # of the root, m
    seconds: float
    effort: float  # over its limit
    mass: float  # kg

    @property
    def on_back(self) -> bool:
        """As asked for: within 15°."""
        return self.off_back < math.radians(15)

    @property
    def on_belly(self) -> bool:
        """The same the other way round."""
        return self.off_belly < math.radians(15)


def trial(names: Sequence[str], seed: int, pitch: float) -> Lain:
    """Play motions from lying on belly or back, or from standing."""
    robot, random = robots.load("atlas"), np.random.default_rng(seed)
    first = files.key_frames(robot, names[0]).frames[0].position
    lower, upper = (np.array([getattr(joint, end) for joint in robot.moving]) for end in ("lower", "upper"))
    joints = np.clip(first + random.uniform(-OFF, OFF, len(first)), lower, upper)
    actual, motions = heavier(robot, mass_factor(seed)), KeyFrameMotions(robot, names)
    limits, effort = np.array([joint.effort for joint in robot.moving]), 0.0
    with Simulation(actual, seed=seed, sensors=SensorModel.realistic()) as simulation:
        base = geometry.lying(robot, joints, pitch, random.uniform(-math.pi, math.pi))
        simulation.reset(joints, base=Placement.of(base))
        state, reference = simulation.new_state(), simulation.new_reference()
        while simulation.time < SETTLE:
            simulation.advance()
        done, end = False, math.inf
        while simulation.time < end:
            simulation.read(state)
            if motions.cycle(state, reference) and not done:
                done, end = True, simulation.time + SETTLE
            simulation.write(reference)
            simulation.advance()
            if round(simulation.time / simulation.period) % LOOK == 0:
                effort = max(effort, float(np.max(np.abs(simulation.truth.effort) / limits)))
        fronts = [simulation.base_to_world[2, 0], simulation.link_to_world("utorso")[2, 0]]
        tilts = np.arccos(np.clip(fronts, -1.0, 1.0))
        height = float(simulation.base_to_world[2, 3])
    return Lain(float(tilts.max()), float(math.pi - tilts.min()), height, end - 2 * SETTLE, effort, actual.mass)


def on_wrists_and_knees(run: Lain) -> bool:
    """Whether the root is as high and as pitched as where the crawler starts, within 3 cm and 5°."""
    crawler = Crawling(robots.load("atlas")).crawler
    base = crawler.model.at(crawler.q).placement(crawler.model.frame(crawler.model.robot.root))
    fronts = [base[2, 0], crawler.model.at(crawler.q).placement(crawler.model.frame("utorso"))[2, 0]]
    off = math.pi - float(np.arccos(np.clip(fronts, -1.0, 1.0)).min())
    return abs(run.height - base[2, 3]) < 0.03 and abs(run.off_belly - off) < math.radians(5)


def main(seeds: int = 20, only: str = "") -> None:
    """Print the table; only the rows whose titles have a text in them, if told."""
    robot = robots.load("atlas")
    print(f"Atlas, {robot.mass:.0f} kg ± 5 % (document: 82 kg, no figures); {seeds} runs each, efforts limited\n")
    print(f"{'':36s}{'succeeded':>12s}{'time':>9s}{'farthest tilt':>15s}{'effort/limit':>14s}{'mass':>16s}")
    rows = (
        ("belly to back, over the left", ("roll_left",), BELLY, "back"),
        ("belly to back, over the right", ("roll_right",), BELLY, "back"),
        ("back to belly, over the left", ("turn_over_left",), BACK, "belly"),
        ("back to belly, over the right", ("turn_over_right",), BACK, "belly"),
        ("belly to wrists and knees", ("get_up",), BELLY, "stance"),
        ("back to wrists and knees", ("turn_over_left", "get_up"), BACK, "stance"),
        ("standing to wrists and knees", ("kneel_down",), STANDING, "stance"),
    )
    for title, names, pitch, goal in rows:
        if only not in title:
            continue
        runs = []
        for seed in range(seeds):
            runs.append(trial(names, seed, pitch))
            print(f"\r{title}: {seed + 1} of {seeds}", end="", file=sys.stderr, flush=True)
        print("\r" + " " * 60, end="\r", file=sys.stderr)
        met = {"back": lambda r: r.on_back, "belly": lambda r: r.on_belly, "stance": on_wrists_and_knees}[goal]
        tilt = {"back": lambda r: r.off_back, "belly": lambda r: r.off_belly, "stance": lambda r: r.off_belly}[goal]
        masses = [run.mass for run in runs]
        print(
            f"{title:36s}{sum(map(met, runs)):5d} of {seeds:<3d}{max(run.seconds for run in runs):7.1f} s"
            f"{math.degrees(max(map(tilt, runs))):13.1f}°{max(run.effort for run in runs):13.0%}"
            f"{min(masses):9.0f}–{max(masses):.0f} kg",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:3])
