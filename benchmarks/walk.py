"""One whole cycle of walking (estimate, pattern, stabilise, legs), and the closed loop in MuJoCo against real time.

The cycle is timed call by call on states of a walk of Hubo2+ (0.2 m in 0.6 s) in MuJoCo with noisy sensors, while the
simulation goes on; steps are planned in the same cycles. A share of real time is wall-clock seconds per simulated
second, by the median of the periods: a quarter is four times real time.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np

from benchmarks.report import Budget, Progress, Report, Section, Timing, no_garbage_collection
from wholebody import robots
from wholebody.behaviors import Walking
from wholebody.locomotion.balance.stabilizers import NAMES, as_planned
from wholebody.locomotion.gait import gait_of
from wholebody.locomotion.preview import PreviewControl
from wholebody.locomotion.walker import Walker
from wholebody.simulation import SensorModel, Simulation

ROBOT, STEP_TIME, LENGTH = "hubo2plus", 0.6, 0.2


def run(quick: bool, progress: Progress) -> Report:
    """Each stabilizer's cycle, the parts of the cycle, and the loop."""
    report, seconds = Report(), 6.0 if quick else 14.0
    cycles, periods = {}, []
    for number, name in enumerate(NAMES):
        progress(f"walking with '{name}'", number / len(NAMES))
        took, loop = walk(name, seconds if name == "dcm" else 5.0)
        cycles[f"cycle with '{name}'"] = Timing.of(took)
        if name == "dcm":
            periods = loop
    report.sections.append(Section("one whole cycle, Hubo2+", dict(cycles)))
    progress("parts", 0.9)
    report.sections.append(Section("parts of it", parts()))
    whole = Timing.of(periods)
    report.sections.append(Section("a period of 5 ms, simulated, with the cycle", {"period": whole}))
    report.limit_median("cycle with 'dcm'", 400)
    report.budgets.append(
        Budget("closed loop, share of real time", round(whole.median * 1e-6 / 0.005, 4), 1 / 4, "s/s")
    )
    if whole.median > 1.3 * whole.min:
        report.notes.append(f"the machine was busy; the quietest period ran {5000 / whole.min:.1f} times real time")
    return report


def walk(stabilizer: str, seconds: float) -> tuple[list[float], list[float]]:
    """Microseconds of each cycle, and of each period with physics, after two seconds of standing up."""
    robot = robots.load(ROBOT)
    gait = gait_of(Walker(robot).model, STEP_TIME)
    walking = Walking(robot, gait, stabilizer)
    cycles, periods = [], []
    with Simulation(robot, sensors=SensorModel.realistic()) as simulation, no_garbage_collection():
        state, reference = simulation.new_state(), simulation.new_reference()
        walking.stand(1.0)
        told = False
        while simulation.time < seconds and simulation.base_to_world[2, 2] > 0.8:
            start = time.perf_counter()
            simulation.read(state)
            before = time.perf_counter()
            walking.cycle(state, reference)
            after = time.perf_counter()
            simulation.write(reference)
            simulation.advance()
            if told:
                cycles.append((after - before) * 1e6)
                periods.append((time.perf_counter() - start) * 1e6)
            elif walking.standing and simulation.time > 1.5 and stabilizer not in ("ankle", "damping"):
                walking.walk(velocity=(LENGTH / STEP_TIME, 0.0, 0.0))
                told = True
            else:
                told = simulation.time > 1.5 and stabilizer in ("ankle", "damping")
    return cycles, periods


def parts() -> dict[str, Timing | float | int]:
    """What the cycle is made of, alone and at rest."""
    walker = Walker(robots.load(ROBOT))
    with Simulation(walker.robot, sensors=SensorModel.realistic()) as simulation:
        state = simulation.new_state()
        simulation.read(state)
    target = walker.pattern.at(0.0)
    seen = walker.sense(state, target)
    command = as_planned(target)
    command.feed_forward = True
    preview = PreviewControl(walker.gait.height)
    calls = {
        "pattern": partial(walker.pattern.at, 0.0),
        "balance, of a state that is known": partial(walker.sense, state, target),
        "stabilizer": partial(walker.stabilizer.correct, target, seen, 0.005),
        "legs and servo lead": partial(walker.joints, command, target, 0.005),
        "preview control, gains for 1.6 s": partial(PreviewControl, walker.gait.height),
        "preview control, one second of it": partial(preview.follow, np.zeros((200, 2))),
    }
    return {name: Timing.of(_each(call, 20 if "preview" in name else 400)) for name, call in calls.items()}


def _each(call: object, count: int) -> list[float]:
    found = []
    for _ in range(count):
        start = time.perf_counter()
        call()  # type: ignore[operator]
        found.append((time.perf_counter() - start) * 1e6)
    return found
