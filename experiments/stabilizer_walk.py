"""Stabilizer, 5.7–5.8, and Hubo-Ach, 5.1: Hubo2+ walks in MuJoCo, with each stabilizer and without, 20 seeds each.

    python -m experiments.stabilizer_walk [SEEDS]

The arms are the pattern of a plain pendulum, the same with the inertia of the legs allowed for, and both stabilizers.
Sensors have noise, resolution, bias and one cycle of delay (SensorModel.realistic), and all links are heavier or
lighter than the controller thinks, by up to 5 %. Prints how many of the runs stand, ZMP error (root mean square of
measured against desired), velocity, the highest vertical force on a foot in weights, and tilt; writes
`results/stabilizer_walk.md`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from wholebody import robots
from wholebody.estimation import AnkleSpring
from wholebody.locomotion.balance.dcm_stabilizer import DcmStabilizer
from wholebody.locomotion.balance.region_stabilizer import RegionStabilizer
from wholebody.locomotion.footsteps import (
    OTHER,
    Feet,
    Footstep,
    Place,
    Velocity,
    along,
    beside_body,
    in_place,
    to_place,
)
from wholebody.locomotion.gait import SOLES, Gait, gait_of
from wholebody.locomotion.walker import Walker
from wholebody.messages import Mode
from wholebody.model import Model
from wholebody.robots.robot import Robot
from wholebody.simulation import AnkleFlexibility, SensorModel, Simulation

RESULTS = Path(__file__).parent / "results"
FALLEN_TILT, FALLEN_HEIGHT = math.radians(60), 0.7
Steps = Callable[[Feet, Gait], tuple[Footstep, ...]]


@dataclass(frozen=True)
class Outcome:
    """How one run went."""

    fell: bool
    time: float  # s
    distance: float  # m, of the centre of mass from where it began
    velocity: float  # m/s
    zmp_error: float  # m, root mean square while walking
    impact: float  # highest vertical force on a foot, in weights
    tilt: float  # rad, highest


def heavier(robot: Robot, factor: float) -> Robot:
    """The robot with all masses and inertias multiplied."""
    links = tuple(
        replace(link, mass=factor * link.mass, inertia=tuple(factor * value for value in link.inertia))
        for link in robot.links
    )
    return replace(robot, links=links)


def mass_factor(seed: int) -> float:
    """Up to 5 % more or less, another for each seed; the first two are the extremes."""
    return 1.05 if seed == 0 else 0.95 if seed == 1 else float(np.random.default_rng(seed).uniform(0.95, 1.05))


def forward(length: float, count: int) -> Steps:
    """So many steps of a length, and one to close the feet."""

    def steps(feet: Feet, gait: Gait) -> tuple[Footstep, ...]:
        walked = along(feet.middle, Velocity(length), 1.0, count, gait.limits.spacing, "right")
        end = feet.middle.beside(length * count, 0.0)
        return (*walked, beside_body(end, OTHER[walked[-1].side], gait.limits.spacing))

    return steps


def spot(feet: Feet, gait: Gait) -> tuple[Footstep, ...]:
    """20 steps in place."""
    return in_place(feet, 20, gait.limits)


def quarter_turn(feet: Feet, gait: Gait) -> tuple[Footstep, ...]:
    """To the left."""
    return to_place(feet, Place(0.0, 0.0, math.pi / 2), gait.limits)


ARMS = ("none", "none with legs", "dcm", "regions")
STEPLESS = {"dcm": DcmStabilizer, "regions": RegionStabilizer}
WALKS: dict[str, tuple[float, Steps]] = {
    "0.2 m in 0.6 s, 20 steps": (0.6, forward(0.2, 20)),
    "0.2 m in 0.8 s, 20 steps": (0.8, forward(0.2, 20)),
    "in place, 0.8 s, 20 steps": (0.8, spot),
    "a quarter turn, 0.8 s": (0.8, quarter_turn),
}


def walker_of(robot: Robot, step_time: float | None, stabilizer: str, ankles: AnkleFlexibility | None = None) -> Walker:
    """A walker that knows how soft its ankles are; "dcm without steps" and "regions without steps" move no footstep.

    "none" is the pattern of a plain pendulum, as the thesis has it; "none with legs" allows for the legs' inertia, as
    all the others do.
    """
    model = Model(robot, watch=SOLES)
    gait = gait_of(model, step_time)
    gait = replace(gait, swing_share=0.0) if stabilizer == "none" else gait
    spring = AnkleSpring(ankles.stiffness, ankles.damping) if ankles else None
    name, _, rest = stabilizer.partition(" ")
    chosen = STEPLESS[name](model, steps=False) if rest == "without steps" else name
    return Walker(robot, gait, chosen, spring)


def run(
    stabilizer: str,
    step_time: float | None,
    steps: Steps | None,
    seed: int = 0,
    name: str = "hubo2plus",
    push: tuple[float, float, float] | None = None,
    seconds: float = 4.0,
    mass: float | None = None,
    scene: str = "flat",
    ankles: AnkleFlexibility | None = None,
    settle: float = 0.0,
) -> Outcome:
    """Walk, or without steps stand for some seconds; push: force along x and y for 0.1 s, and when.

    It holds its joints for `settle` seconds first, as after standing up, while the estimator finds out how it stands.
    """
    robot = robots.load(name)
    walker = walker_of(robot, step_time, stabilizer, ankles)
    real = heavier(robot, mass_factor(seed) if mass is None else mass)
    posture, sensors = walker.stance(), SensorModel.realistic()
    with Simulation(real, scene, seed=seed, sensors=sensors, ankles=ankles, posture=posture) as simulation:
        if push is not None:
            trunk = max(robot.links, key=lambda link: link.mass).name
            simulation.push(trunk, (push[0], push[1], 0.0), 0.1, start=push[2])
        _hold(simulation, walker, settle)
        return _follow(simulation, walker, steps, seconds)


def _hold(simulation: Simulation, walker: Walker, seconds: float) -> None:
    """Hold the joints; the estimator finds out how the robot stands."""
    state, reference = simulation.new_state(), simulation.new_reference()
    reference["position"], reference["mode"], reference["mask"] = walker.stance(), Mode.POSITION, True
    while simulation.time < seconds:
        simulation.read(state)
        walker.estimator.update(state)
        simulation.write(reference)
        simulation.advance()


def _follow(simulation: Simulation, walker: Walker, steps: Steps | None, seconds: float) -> Outcome:
    state, reference = simulation.new_state(), simulation.new_reference()
    start, height, weight = simulation.com_in_world, float(simulation.com_in_world[2]), 9.81 * walker.model.total_mass
    begun, errors, impact, tilt = False, [], 0.0, 0.0
    while simulation.time < seconds or (begun and not walker.pattern.standing):
        simulation.read(state)
        if steps is not None and not begun and simulation.time >= 1.0 and walker.pattern.standing:
            walker.pattern.follow(steps(walker.pattern.feet, walker.gait), simulation.time)
            begun = True
        walker.cycle(state, reference)
        simulation.write(reference)
        simulation.advance()
        seen, told = walker.balance, walker.command
        assert seen is not None
        assert told is not None
        if seen.contact.any():
            errors.append(float(np.sum((seen.cop_in_world[:2] - told.zmp) ** 2)))
        impact = max(impact, float(seen.wrench_in_sole[:, 2].max()) / weight)
        tilt = max(tilt, math.acos(min(1.0, float(simulation.base_to_world[2, 2]))))
        if tilt > FALLEN_TILT or simulation.com_in_world[2] < FALLEN_HEIGHT * height:
            return _outcome(simulation, True, start, errors, impact, tilt)
    return _outcome(simulation, False, start, errors, impact, tilt)


def _outcome(
    simulation: Simulation, fell: bool, start: np.ndarray, errors: list[float], impact: float, tilt: float
) -> Outcome:
    distance = float(np.linalg.norm((simulation.com_in_world - start)[:2]))
    error = math.sqrt(float(np.mean(errors))) if errors else math.nan
    walked = max(simulation.time - 2.0, 1e-9)
    return Outcome(fell, simulation.time, distance, distance / walked, error, impact, tilt)


def main(seeds: int = 20) -> None:
    """Print the table and write it."""
    lines = [
        "| walk | stabilizer | stand | ZMP error/mm | velocity/(m/s) | impact/weights | tilt/° |",
        7 * "|---" + "|",
    ]
    print("\n".join(lines))
    for walk, (step_time, steps) in WALKS.items():
        for stabilizer in ARMS:
            runs = [run(stabilizer, step_time, steps, seed) for seed in range(seeds)]
            lines.append(row(walk, stabilizer, runs))
            print(lines[-1], flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "stabilizer_walk.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def row(walk: str, stabilizer: str, runs: list[Outcome]) -> str:
    """Medians of those that stand; all, if none does."""
    stand = [each for each in runs if not each.fell]
    counted = stand or runs
    error, velocity, impact, tilt = (
        float(np.median([getattr(each, what) for each in counted]))
        for what in ("zmp_error", "velocity", "impact", "tilt")
    )
    return (
        f"| {walk} | {stabilizer} | {len(stand)} of {len(runs)} | {1e3 * error:.0f} | {velocity:.2f} | {impact:.2f} "
        f"| {math.degrees(tilt):.1f} |"
    )


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
