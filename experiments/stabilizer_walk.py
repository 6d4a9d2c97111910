"""Stabilizer, 5.7–5.8, and Hubo-Ach, 5.1: Hubo2+ walks in MuJoCo, with each stabilizer and without, 20 seeds each.

    python -m experiments.stabilizer_walk [SEEDS]

The arms are the pattern of a plain pendulum, the same with the inertia of the legs allowed for, and both stabilizers.
Sensors have noise, resolution, bias and one cycle of delay (SensorModel.realistic), and all links are heavier or
lighter than the controller thinks, by up to 5 %. Prints how many of the runs stand, two errors of the ZMP (root mean
squares: what is measured against what the stabilizer commands, and the true one against the plan), velocity, the
highest true vertical force on a foot at any physics step, in real weights, and tilt; writes
`results/stabilizer_walk.md`.

    python -m experiments.stabilizer_walk dart [SEEDS]

walks the fast walk on DART's physics, with "dcm" and by the patterns alone; writes `results/stabilizer_walk_dart.md`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from wholebody import robots
from wholebody.estimation import AnkleSpring
from wholebody.locomotion.balance.dcm_stabilizer import DcmStabilizer
from wholebody.locomotion.balance.region_stabilizer import RegionStabilizer
from wholebody.locomotion.walking.footsteps import (
    OTHER,
    Feet,
    Footstep,
    Place,
    Side,
    Velocity,
    along,
    beside_body,
    in_place,
    to_place,
)
from wholebody.locomotion.walking.gait import SOLES, Gait, gait_of
from wholebody.locomotion.walking.walker import Walker
from wholebody.messages import Mode
from wholebody.model import Model
from wholebody.robots.robot import Robot
from wholebody.simulation import AnkleFlexibility, SensorModel, Simulation

RESULTS = Path(__file__).parent / "results"
FALLEN_TILT, FALLEN_HEIGHT = math.radians(60), 0.7
TOUCHING = 0.05  # of the weight: less is no contact of which a centre could be told
SIDES: tuple[Side, Side] = ("left", "right")  # of the soles
Steps = Callable[[Feet, Gait], tuple[Footstep, ...]]


@dataclass(frozen=True)
class Outcome:
    """How one run went."""

    fell: bool
    time: float  # s
    distance: float  # m, of the centre of mass from where it began
    velocity: float  # m/s, from when it is told to walk until it rests
    zmp_error: float  # m, root mean square, of the measured one from the commanded
    zmp_off_plan: float  # m, of the true one from the planned
    impact: float  # highest vertical force on a foot at any physics step, in real weights
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
    engine: str = "mujoco",
) -> Outcome:
    """Walk, or without steps stand for some seconds; push: force along x and y for 0.1 s, and when.

    It holds its joints for `settle` seconds first, as after standing up, while the estimator finds out how it stands.
    """
    robot = robots.load(name)
    walker = walker_of(robot, step_time, stabilizer, ankles)
    real = heavier(robot, mass_factor(seed) if mass is None else mass)
    more = {"posture": walker.stance(), "sensors": SensorModel.realistic(), "ankles": ankles}
    with Simulation(real, scene, seed=seed, engine=engine, peaks=True, **more) as simulation:
        if push is not None:
            trunk = max(robot.links, key=lambda link: link.mass).name
            simulation.push(trunk, (push[0], push[1], 0.0), 0.1, start=push[2])
        _hold(simulation, walker, settle)
        return _follow(simulation, walker, steps, seconds)


def _hold(simulation: Simulation, walker: Walker, seconds: float) -> None:
    """Hold the joints; the estimator finds out how the robot stands."""
    state, reference = simulation.new_state(), simulation.new_reference()
    reference.position[:], reference.mode[:], reference.mask[:] = walker.stance(), Mode.POSITION, True
    while simulation.time < seconds:
        simulation.read(state)
        walker.estimator.update(state)
        simulation.write(reference)
        simulation.advance()


def _follow(simulation: Simulation, walker: Walker, steps: Steps | None, seconds: float) -> Outcome:
    state, reference = simulation.new_state(), simulation.new_reference()
    watch, begun = Watch(simulation, walker), False
    while simulation.time < seconds or (begun and not walker.pattern.standing):
        simulation.read(state)
        if steps is not None and not begun and simulation.time >= 1.0 and walker.pattern.standing:
            walker.pattern.follow(steps(walker.pattern.feet, walker.gait), simulation.time)
            begun, watch.began = True, simulation.time
        walker.cycle(state, reference)
        simulation.write(reference)
        simulation.advance()
        watch.see()
        if watch.fallen:
            break
    return watch.outcome()


class Watch:
    """What is true of a run, period by period, and what the robot measures of its zero moment point."""

    def __init__(self, simulation: Simulation, walker: Walker) -> None:
        self.simulation, self.walker = simulation, walker
        self.began = math.inf  # s, when it was told to walk
        self.start = simulation.com_in_world
        self.weight = 9.81 * simulation.robot.mass
        links = [sensor.link for sensor in simulation.robot.sensors_of("force_torque")]
        self.feet = [links.index(simulation.robot.surface(sole).link) for sole in SOLES]
        self.off_command: list[float] = []  # m²
        self.off_plan: list[float] = []
        self.impact, self.tilt = 0.0, 0.0

    def see(self) -> None:
        """Take note of a period."""
        seen, told, planned = self.walker.balance, self.walker.command, self.walker.target
        assert seen is not None
        assert told is not None
        assert planned is not None
        if seen.contact.any():
            self.off_command.append(float(np.sum((seen.cop_in_world[:2] - told.zmp) ** 2)))
        true = true_zmp(self.simulation, self.feet)
        if true is not None:
            side, there = true
            where = Place(*planned.zmp.tolist(), 0.0).seen_from(planned.foot(side).place)
            self.off_plan.append(float(np.sum((there - where[:2]) ** 2)))
        self.impact = max(self.impact, float(self.simulation.peak_forces[self.feet].max()) / self.weight)
        self.tilt = max(self.tilt, math.acos(min(1.0, float(self.simulation.base_to_world[2, 2]))))

    @property
    def fallen(self) -> bool:
        """Whether it lies, or will."""
        return self.tilt > FALLEN_TILT or bool(self.simulation.com_in_world[2] < FALLEN_HEIGHT * self.start[2])

    def outcome(self) -> Outcome:
        """Of all periods until now; the velocity is of the time from when it was told to walk until it rests."""
        time = self.simulation.time
        distance = float(np.linalg.norm((self.simulation.com_in_world - self.start)[:2]))
        velocity = distance / (time - self.began) if time > self.began else 0.0
        errors = [math.sqrt(float(np.mean(each))) if each else math.nan for each in (self.off_command, self.off_plan)]
        return Outcome(self.fallen, time, distance, velocity, *errors, self.impact, self.tilt)


def true_zmp(simulation: Simulation, sensors: list[int]) -> tuple[Side, np.ndarray] | None:
    """Where the ground really pushes, x and y in the sole that bears more, and which that is; None in the air.

    Seen from that foot, as the plan is too, what feet slip on the way counts for nothing.
    """
    robot, truth = simulation.robot, simulation.truth.force_torque
    placed = robot.sensors_of("force_torque")
    frames = [simulation.link_to_world(placed[each].link) @ placed[each].at.matrix for each in sensors]
    forces, torques = (
        np.array([frame[:3, :3] @ getattr(truth[each], what) for frame, each in zip(frames, sensors, strict=True)])
        for what in ("force", "torque")
    )
    bearing = int(np.argmax(forces[:, 2]))
    sole = robot.surface(SOLES[bearing])
    frame = simulation.link_to_world(sole.link) @ sole.at.matrix
    levers = np.array([each[:3, 3] for each in frames]) - frame[:3, 3]
    force = forces.sum(axis=0) @ frame[:3, :3]
    torque = (torques + np.cross(levers, forces)).sum(axis=0) @ frame[:3, :3]
    if force[2] < TOUCHING * 9.81 * robot.mass:
        return None
    return SIDES[bearing], np.array([-torque[1], torque[0]]) / force[2]


HEAD = (
    "stabilizer | stand | ZMP measured off command/mm | true off plan/mm | velocity/(m/s) | impact/weights | tilt/° |"
)


def main(seeds: int = 20) -> None:
    """Print the table and write it."""
    rows = (
        (walk, stabilizer, [run(stabilizer, step_time, steps, seed) for seed in range(seeds)])
        for walk, (step_time, steps) in WALKS.items()
        for stabilizer in ARMS
    )
    write("walk", rows, "stabilizer_walk.md")


def on_dart(seeds: int = 3) -> None:
    """The same of the fast walk on the other engine."""
    walk, (step_time, steps) = next(iter(WALKS.items()))
    rows = (
        (f"{walk}, DART", stabilizer, [run(stabilizer, step_time, steps, seed, engine="dart") for seed in range(seeds)])
        for stabilizer in ("none", "none with legs", "dcm")
    )
    write("walk", rows, "stabilizer_walk_dart.md")


def write(what: str, rows: Iterable[tuple[str, str, list[Outcome]]], file: str) -> None:
    """Print each row as soon as its runs are over, and write all of them."""
    lines = [f"| {what} | {HEAD}", 8 * "|---" + "|"]
    print("\n".join(lines))
    for each in rows:
        lines.append(row(*each))
        print(lines[-1], flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / file).write_text("\n".join(lines) + "\n", encoding="utf-8")


def row(walk: str, stabilizer: str, runs: list[Outcome]) -> str:
    """Medians of those that stand; all, if none does."""
    stand = [each for each in runs if not each.fell]
    counted = stand or runs
    error, off_plan, velocity, impact, tilt = (
        float(np.median([getattr(each, what) for each in counted]))
        for what in ("zmp_error", "zmp_off_plan", "velocity", "impact", "tilt")
    )
    return (
        f"| {walk} | {stabilizer} | {len(stand)} of {len(runs)} | {1e3 * error:.0f} | {1e3 * off_plan:.0f} "
        f"| {velocity:.2f} | {impact:.2f} | {math.degrees(tilt):.1f} |"
    )


if __name__ == "__main__":
    engine, seeds = sys.argv[1:2] == ["dart"], [int(each) for each in sys.argv[1:] if each != "dart"]
    (on_dart if engine else main)(*seeds)
