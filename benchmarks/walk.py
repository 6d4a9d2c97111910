"""One whole cycle of walking (estimate, pattern, stabilise, legs), and the closed loop in MuJoCo against real time.

The cycle is timed call by call on states of a walk of Hubo2+ (0.2 m in 0.6 s) in MuJoCo with noisy sensors, while the
simulation goes on; steps are planned in the same cycles. A share of real time is all wall-clock seconds per simulated
second, slow periods too: a quarter is four times real time. The yardsticks are taken in the same periods: a matrix
product beside the cycle, and beside a whole period five steps of MuJoCo alone (`mujoco_alone`) on a copy of its state.
"""

from __future__ import annotations

import copy
import time
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.report import Progress, Report, Section, Timing, no_garbage_collection
from benchmarks.yardsticks import matrix_product
from wholebody import plugins, robots
from wholebody.behaviors import Walking
from wholebody.locomotion.balance.stabilizers import as_planned
from wholebody.locomotion.walking.gait import gait_of
from wholebody.locomotion.walking.pendulum import PreviewControl
from wholebody.locomotion.walking.walker import Walker
from wholebody.simulation import SensorModel, Simulation

ROBOT, STEP_TIME, LENGTH = "hubo2plus", 0.6, 0.2
PERIOD = 0.005  # s
UPRIGHT = 0.8  # cosine of the tilt: one that tilts further falls


class Walked(NamedTuple):
    """How long a walk took."""

    cycles: list[float]  # µs each
    periods: list[float]  # µs each, with physics
    processor: float  # s of processor time, of all periods
    fell: float | None  # s, when it did
    products: list[float]  # µs of each matrix product
    alone: list[float]  # µs of each period of MuJoCo alone

    @property
    def share_of_real_time(self) -> float:
        """Wall-clock seconds per simulated second."""
        return 1e-6 * sum(self.periods) / (PERIOD * len(self.periods))


def run(quick: bool, progress: Progress) -> Report:
    """Each stabilizer's cycle, the parts of the cycle, and the loop."""
    report, seconds = Report(), 6.0 if quick else 14.0
    walks, names = {}, plugins.names("stabilizers")
    for number, name in enumerate(names):
        progress(f"walking with '{name}'", number / len(names))
        walks[name] = walk(name, seconds if name == "dcm" else 5.0)
        if walks[name].fell is not None:
            report.notes.append(f"the robot fell after {walks[name].fell:.1f} s with '{name}': its times end there")
    cycles = {f"cycle with '{name}'": Timing.of(each.cycles) for name, each in walks.items()}
    report.sections.append(Section("one whole cycle, Hubo2+", dict(cycles)))
    progress("parts", 0.9)
    report.sections.append(Section("parts of it", parts()))
    whole = Timing.of(walks["dcm"].periods)
    share = walks["dcm"].share_of_real_time
    period: dict[str, Timing | float] = {"period": whole, "mujoco_alone": Timing.of(walks["dcm"].alone)}
    report.sections.append(
        Section("a period of 5 ms, simulated, with the cycle", period | {"share_of_real_time": round(share, 4)})
    )
    report.sections.append(Section("yardstick", {"matrix_product": Timing.of(walks["dcm"].products)}))
    report.limit_ratio("cycle with 'dcm'", "matrix_product", 100.0)
    report.limit_ratio("period", "mujoco_alone", 3.2)
    if whole.median > 1.3 * whole.min:
        used = walks["dcm"].processor / (PERIOD * len(walks["dcm"].periods))
        report.notes.append(
            f"the machine was busy; the quietest period ran {1e6 * PERIOD / whole.min:.1f} times real time, "
            f"and all of them took {used:.2f} s of processor time per simulated second"
        )
    return report


def walk(stabilizer: str, seconds: float) -> Walked:
    """Walk, or stand with what only stands, until some seconds are over or it falls; timed once it stood up."""
    robot = robots.load(ROBOT)
    gait = gait_of(Walker(robot).model, STEP_TIME)
    walking = Walking(robot, gait, stabilizer)
    cycles, periods, products, alone = [], [], list[float](), list[float]()
    processor = 0.0
    world = Simulation(robot, sensors=SensorModel.realistic(), control_period=PERIOD)
    with world as simulation, no_garbage_collection():
        state, reference = simulation.new_state(), simulation.new_reference()
        physics = simulation._engine.world
        walking.stand(1.0)
        told = False
        while simulation.time < seconds and simulation.base_to_world[2, 2] > UPRIGHT:
            start, used = time.perf_counter(), time.process_time()
            simulation.read(state)
            before = time.perf_counter()
            walking.cycle(state, reference)
            after = time.perf_counter()
            simulation.write(reference)
            simulation.advance()
            if told:
                cycles.append((after - before) * 1e6)
                periods.append((time.perf_counter() - start) * 1e6)
                processor += time.process_time() - used
                if len(periods) % 20 == 1:
                    products.append(matrix_product())
                    alone.append(mujoco_alone(physics.model, copy.copy(physics.data)))
            elif walking.standing and simulation.time > 1.5 and stabilizer not in ("ankle", "damping"):
                walking.walk(velocity=(LENGTH / STEP_TIME, 0.0, 0.0))
                told = True
            else:
                told = simulation.time > 1.5 and stabilizer in ("ankle", "damping")
        fell = simulation.time if simulation.base_to_world[2, 2] <= UPRIGHT else None
    return Walked(cycles, periods, processor, fell, products, alone)


def mujoco_alone(model: Any, data: Any) -> float:
    """Microseconds of as many steps as a period has."""
    import mujoco  # by now wholebody.simulation has chosen how it draws

    start = time.perf_counter()
    for _ in range(round(PERIOD / model.opt.timestep)):
        mujoco.mj_step(model, data)
    return (time.perf_counter() - start) * 1e6


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
        "legs and servo feed-forward": partial(walker.joints, command, target, 0.005),
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
