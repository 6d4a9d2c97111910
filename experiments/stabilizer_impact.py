"""Stabilizer, 3.9: Hubo2+ on flexible ankles steps twice as far as it does otherwise, Fig. 3.27–3.30.

    python -m experiments.stabilizer_impact [SEEDS]

Steps of 0.2 m are usual; this one is 0.4 m, in 0.6 s, and the other foot follows beside it. The ankles are springs of
K = 753 N·m/rad and C = 18 N·m·s/rad, which estimator and servos know of; sensors have noise and delay, masses are off
by up to 5 %, as in stabilizer_walk. Motor boards interpolate between references, as Hubo's do. In all arms the same
stabilizer balances; what differs is how the foot swings, one object after the other:

    standard   a cubic along the ground and two cubics up and down: at rest, but with acceleration, at both ends
    quintic    no acceleration at the ends either, highest at the time t_m of the least variation of the hip's torque
    inertia    and the reference of the zero moment point allows for the inertia of the legs
    gentle     and the last of the way down is slow, as the foot errs by some millimetres about the ground

Prints the peak of the vertical force on the foot that lands, in weights, its excess over the weight beside the
standard's, and the standard deviation of the pitch torque about the ankle that supports meanwhile, beside the thesis's;
writes `results/stabilizer_impact.md` and `results/stabilizer_impact.png`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from experiments.stabilizer_step import RESULTS, pyplot
from experiments.stabilizer_walk import forward, heavier, mass_factor
from wholebody import robots
from wholebody.estimation import AnkleSpring
from wholebody.locomotion.walking.footsteps import Place
from wholebody.locomotion.walking.gait import SOLES, Gait, gait_of, swing_share
from wholebody.locomotion.walking.gait_tuning import via_of
from wholebody.locomotion.walking.swing import FootPoint, Swing
from wholebody.locomotion.walking.walker import Walker
from wholebody.messages import Reference, State
from wholebody.model import Model
from wholebody.robots import Robot
from wholebody.simulation import AnkleFlexibility, SensorModel, Simulation
from wholebody.simulation.sensors import Sensors

Array = np.ndarray

LENGTH, STEP_TIME, LOWER = 0.4, 0.6, 0.88  # m, s, and how low the centre of mass is, so that legs reach so far
PHYSICS, PERIOD = 0.001, 0.005  # s: an impact is over in a few milliseconds
BEGIN = 1.0  # s, when it is told to step
EDGE = 0.03  # s at both ends of single support that are left out: the other foot may still touch
GENTLY = 0.15  # of the lift
THESIS = {"standard": (1200.0, 9.24), "gentle": (650.0, 6.05)}  # N on HRP-2 of 569 N, N·m


class CubicSwing(Swing):
    """From rest to rest by cubics, as standard patterns have it."""

    def at(self, time: float) -> FootPoint:
        """Where the foot is at a time."""
        there = self._state[0] + cubic(self.begin, self.end, time) * (self._goal - self._state[0])
        times, heights, _ = self._rise
        piece = 0 if time < times[1] else 1
        (low, high), rising = heights[piece : piece + 2], cubic(*times[piece : piece + 2], time)
        return FootPoint(Place(*there.tolist()), float(low + rising * (high - low)))

    def lead(self, time: float, goal: Place) -> None:
        """It goes where it was to go."""


def cubic(begin: float, end: float, time: float) -> float:
    """From 0 to 1, at rest at both ends."""
    share = min(max((time - begin) / (end - begin), 0.0), 1.0)
    return share * share * (3.0 - 2.0 * share)


@dataclass(frozen=True)
class Arm:
    """How the foot swings."""

    swing: type[Swing] = Swing
    best_via: bool = True
    inertia: bool = False
    gently: float = 0.0


ARMS = {
    "standard": Arm(CubicSwing, best_via=False),
    "quintic": Arm(),
    "inertia": Arm(inertia=True),
    "gentle": Arm(inertia=True, gently=GENTLY),
}


@dataclass(frozen=True)
class Landing:
    """What was measured of one step, millisecond by millisecond."""

    time: Array  # s, from when the foot is to land
    force: Array  # n × 2, vertical, on the left and the right foot, N
    torque: Array  # about the left ankle, pitch, N·m
    height: Array  # of the middle of the right sole, m
    tilt: Array  # pitch of the pelvis, rad
    single_support: float  # s
    weight: float  # N
    fell: bool

    @property
    def peak(self) -> float:
        """Of the force on the foot that lands, until the other one is in the middle of its swing; in weights."""
        return float(self.force[self.time > -0.5 * self.single_support, 1].max() / self.weight)

    @property
    def excess(self) -> float:
        """Over the weight, which it must bear anyway; in weights."""
        return self.peak - 1.0

    @property
    def deviation(self) -> float:
        """Of the torque about the ankle that supports, N·m."""
        alone = (self.time > EDGE - self.single_support) & (self.time < -EDGE)
        return float(self.torque[alone].std())


def walker_of(robot: Robot, arm: Arm) -> Walker:
    """A walker that makes such steps, on ankles that it knows."""
    model = Model(robot)
    gait = replace(impact_gait(model), swing_share=swing_share(model) if arm.inertia else 0.0, gently=arm.gently)
    if arm.best_via:
        gait = replace(gait, via=via_of(model, gait, LENGTH))
    walker = Walker(robot, gait, "dcm", AnkleSpring())
    walker.pattern.swing = arm.swing
    return walker


def impact_gait(model: Model) -> Gait:
    """Deep knees and long steps."""
    gait = gait_of(model, STEP_TIME)
    limits = replace(gait.limits, length=1.05 * LENGTH, in_need=1.1 * LENGTH)
    return replace(gait, height=LOWER * gait.height, limits=limits)


def land(arm: Arm, seed: int) -> Landing:
    """Step, and close the feet."""
    robot = robots.load("hubo2plus")
    walker = walker_of(robot, arm)
    walker.stance()
    straight = walker.legs.joints.copy()  # as springs begin straight
    real = heavier(robot, mass_factor(seed))
    with Simulation(real, seed=seed, ankles=AnkleFlexibility(), posture=straight, control_period=PHYSICS) as world:
        rows = list(steps_of(world, walker, seed))
    gait, fell = walker.gait, rows[-1][-1] < 0.7
    touch = BEGIN + gait.begin + gait.single_support
    table = np.array(rows)
    during = (table[:, 0] > touch - gait.step_time) & (
        table[:, 0] < touch + gait.double_support + gait.single_support / 2
    )
    time, left, right, torque, height, tilt, _ = table[during].T
    weight = 9.81 * walker.model.total_mass * mass_factor(seed)
    return Landing(
        time - touch, np.stack([left, right], axis=1), torque, height, tilt, gait.single_support, weight, bool(fell)
    )


def steps_of(world: Simulation, walker: Walker, seed: int) -> Iterator[tuple[float, ...]]:
    """Walk, and say at each step of the physics what is true."""
    robot, ratio = walker.robot, round(PERIOD / PHYSICS)
    state, reference = world.new_state(), world.new_reference()
    sensors = Sensors(SensorModel.realistic(), state.dtype, PERIOD, seed)
    sensors.restart(world.truth)
    names = [sensor.name for sensor in robot.sensors_of("force_torque")]
    left, right, sole = names.index("left_foot"), names.index("right_foot"), robot.surface(SOLES[1])
    before = now = np.zeros(0)
    begun = False
    while not begun or not walker.pattern.settled:
        tick = round(world.time / PHYSICS)
        if tick % ratio == 0:
            if not begun and world.time >= BEGIN:
                walker.pattern.follow(forward(LENGTH, 1)(walker.pattern.feet, walker.gait), world.time)
                begun = True
            take(walker, sensors, world, state, reference)
            before, now = now if len(now) else reference.position.copy(), reference.position.copy()
        reference.position[:] = before + (now - before) * (tick % ratio + 1) / ratio
        world.write(reference)
        world.advance()
        truth, base = world.truth.force_torque, world.base_to_world
        height = float((world.link_to_world(sole.link) @ sole.at.matrix)[2, 3])
        forces = (float(truth[left].force[2]), float(truth[right].force[2]), float(truth[left].torque[1]))
        yield world.time, *forces, height, -float(np.arcsin(base[2, 0])), float(base[2, 2])
        if base[2, 2] < 0.7:
            return


def take(walker: Walker, sensors: Sensors, world: Simulation, state: State, reference: Reference) -> None:
    """One cycle of the controller."""
    if world.time > 0.0:
        sensors.measure(world.truth)
    sensors.deliver(state)
    walker.cycle(state, reference)


def table_of(runs: dict[str, list[Landing]]) -> list[str]:
    """Means over the seeds, and the thesis's."""
    lines = [
        "| swing | peak/Mg | worst | excess of standard's | torque deviation/N·m | of standard's | fell | thesis |"
    ]
    lines.append(8 * "|---" + "|")
    excess, deviation = mean(runs["standard"], "excess"), mean(runs["standard"], "deviation")
    for name, landings in runs.items():
        worst, fell = max(each.peak for each in landings), sum(each.fell for each in landings)
        theirs = "{:.0f} N of 569 N, {:.2f} N·m".format(*THESIS[name]) if name in THESIS else ""
        now, torque = mean(landings, "excess"), mean(landings, "deviation")
        lines.append(
            f"| {name} | {1.0 + now:.2f} | {worst:.2f} | {now / excess:.0%} | {torque:.2f} | {torque / deviation:.0%} "
            f"| {fell} of {len(landings)} | {theirs} |"
        )
    return lines


def mean(landings: list[Landing], what: str) -> float:
    """Of a figure of all landings."""
    return float(np.mean([getattr(each, what) for each in landings]))


def draw(runs: dict[str, list[Landing]]) -> None:
    """Fig. 3.27–3.30: forces, height of the foot, tilt and torque, the standard beside ours."""
    plt = pyplot()
    shown = ("standard", "gentle")
    figure, grid = plt.subplots(4, 2, figsize=(13, 12), sharex=True, sharey="row", layout="constrained")
    curves: tuple[tuple[str, Callable[[Landing], Array]], ...] = (
        ("vertical force on both feet [Mg]", lambda each: each.force / each.weight),
        ("height of the foot that lands [mm]", lambda each: 1e3 * each.height),
        ("pitch of the pelvis [°]", lambda each: np.degrees(each.tilt)),
        ("torque about the supporting ankle [N·m]", lambda each: each.torque),
    )
    for column, name in zip(grid.T, shown, strict=True):
        for axes, (label, values) in zip(column, curves, strict=True):
            for number, each in enumerate(runs[name]):
                axes.plot(each.time, values(each), linewidth=0.8, alpha=1.0 if number == 0 else 0.25)
                axes.set_prop_cycle(None)
            axes.set_ylabel(label, fontsize=9)
            axes.grid(alpha=0.3)
            axes.margins(x=0)
        column[0].set_title(f"{name}: {mean(runs[name], 'peak'):.2f} Mg, {mean(runs[name], 'deviation'):.2f} N·m")
        column[-1].set_xlabel("time from the planned landing [s]")
    figure.suptitle("Hubo2+ steps 0.4 m on flexible ankles, as in Fig. 3.27–3.30")
    figure.savefig(RESULTS / "stabilizer_impact.png", dpi=90)
    plt.close(figure)


def main(seeds: int = 6) -> None:
    """Print the table, write it, and draw; seeds 0 and 1, on which the swing's numbers were chosen, are left out."""
    RESULTS.mkdir(exist_ok=True)
    runs = {name: [land(arm, seed) for seed in range(2, 2 + seeds)] for name, arm in ARMS.items()}
    lines = table_of(runs)
    print("\n".join(lines))
    (RESULTS / "stabilizer_impact.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    draw(runs)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
