"""How fast a simulator in a process of its own goes through the handshake: percent of real time.

A simulation of Hubo2+ is joined without a pace in a process of its own; here runs the loop of a daemon, tick, write,
read, and swings the arms. One sample is the mean over 20 control periods of 5 ms. Hubo-Ach, Table 4.1, on an i7 of
2.8 GHz: 37 % with physics and 362 % without.
"""

from __future__ import annotations

import math
from itertools import repeat
from multiprocessing.connection import Connection

import numpy as np

from benchmarks.processes import Helper, private_channels
from benchmarks.report import Progress, Section, Timing, no_garbage_collection, timed
from wholebody import robots
from wholebody.drivers.simulator_link import SimulatorLink
from wholebody.messages import Reference, State

ROBOT = "hubo2plus"
PERIOD = 0.005
PERIODS = 20
PAPER = {"with physics": 37.0, "without physics": 362.0}
"""Percent of real time, Table 4.1."""


def section(quick: bool, progress: Progress) -> Section:
    """A control period with physics and without, in µs, and the percent of real time that it makes."""
    samples = 20 if quick else 100
    results: dict[str, Timing | float] = {}
    for number, mode in enumerate(PAPER):
        progress(f"handshake {mode}", number / len(PAPER))
        timing = Timing.of(periods(physics=mode == "with physics", samples=samples))
        results[f"handshake {mode}"] = timing
        results[f"handshake {mode}, % of real time"] = round(100 * PERIOD * 1e6 / timing.median)
        results[f"Hubo-Ach {mode}, % of real time"] = PAPER[mode]
    return Section("handshake with a simulator", results)


def periods(physics: bool, samples: int) -> list[float]:
    """Microseconds a control period takes, with simulator, handshake and the loop; means over a batch."""
    robot = robots.load(ROBOT)
    with private_channels(), Helper(simulate, physics), SimulatorLink(robot) as link:
        state, reference = _records(link)
        arms = [index for group in robot.groups if "arm" in group for index in robot.group(group)]
        start = reference.position[arms].copy()

        def period() -> None:
            now = link.tick()
            reference.position[arms] = start + 0.05 * math.sin(6.0 * now)
            link.write(reference)
            link.read(state)

        with no_garbage_collection():
            for _ in repeat(None, 5 * PERIODS):
                period()
            return [timed(period, PERIODS) for _ in range(samples)]


def simulate(control: Connection, physics: bool) -> None:
    """The simulator's process; it ends when it is told anything."""
    from wholebody.simulation import Simulation, join  # mujoco, for this process alone

    with no_garbage_collection():
        join(Simulation(robots.load(ROBOT), physics=physics), real_time=None, running=lambda: not control.poll())


def _records(link: SimulatorLink) -> tuple[State, Reference]:
    """A state, and a reference that holds the robot where it is."""
    state, reference = np.zeros(1, link.robot.state_dtype())[0], np.zeros(1, link.robot.reference_dtype())[0]
    link.read(state)
    reference.position[:], reference.mask[:] = state.position, True
    return state, reference
