"""Stabilizer, 5.4–5.8: HOAP-3 stands on its right foot and is disturbed; each controller beside none, Fig. 5.2–5.27.

    python -m experiments.stabilizer_one_foot [SEEDS]

The left sole is 3 cm above the ground, the centre of mass above the middle of the right one. All the time a random
force (normal, drawn anew in each period) pushes the trunk. What comes on top is what each controller is for: ground
that is not level, for attitude; somebody who leans against the trunk, for static balance; and for dynamic balance and
the switch between both, two blows of 10 ms at 2.112 and 2.258 s. Sensors have noise, resolution, bias and one cycle of
delay; masses are wrong by up to 5 %. The zero moment point is the centre of the ground's true forces. Prints a table
and writes `results/stabilizer_one_foot.md` and `results/stabilizer_one_foot*.png`.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace

import numpy as np

from experiments.stabilizer_step import LIMBS, RESULTS, pyplot
from experiments.stabilizer_walk import heavier, mass_factor
from wholebody import robots
from wholebody.estimation import SupportNoise
from wholebody.locomotion.balance.region_stabilizer import RegionGains, RegionStabilizer, share_of
from wholebody.locomotion.balance.stabilizers import Command, Stabilizer, as_planned
from wholebody.locomotion.balance.support_area import Soles
from wholebody.locomotion.walking.pattern import Target
from wholebody.locomotion.walking.swing import FootPoint
from wholebody.locomotion.walking.walker import Walker
from wholebody.simulation import SensorModel, Simulation

Array = np.ndarray

ARMS: dict[str, frozenset[str] | None] = {
    "no control": None,
    "attitude (5.4)": frozenset({"attitude"}),
    "static (5.5)": frozenset({"static"}),
    "dynamic without arms": frozenset({"dynamic"}),
    "dynamic (5.6)": frozenset({"dynamic"}),
    "switched (5.8)": frozenset({"attitude", "static", "dynamic"}),
}
GAINS = RegionGains(attitude=2.0)  # more than walking, where feet that land tilt the robot all the time
LIFT = 0.03  # m, of the left foot
NOISE = 0.5  # N, of the random force along x and along y
BLOWS = ((2.112, (1.0, 0.3)), (2.258, (-0.6, 0.5)))  # s, and the direction of an impulse
BLOW = 0.010  # s
LEANS = (1.0, (0.7, 0.7))  # s, and the direction of who leans against the trunk
SECONDS = 4.0
FALLEN = math.radians(30)


@dataclass(frozen=True)
class Trouble:
    """What disturbs the robot beside the noise."""

    slope: float = 0.0  # rad, of the ground, upwards ahead
    lean: float = 0.0  # N
    impulse: float = 0.0  # N·s, of each blow


TROUBLES = {
    "ground off by 0.03 rad": Trouble(slope=0.03),
    "leant on with 10 N": Trouble(lean=10.0),
    "blows of 2.2 N·s": Trouble(impulse=2.2),
}


@dataclass(frozen=True)
class Stand:
    """What happened, period by period."""

    time: Array
    zmp: Array  # x, y from the middle of the right sole, m
    share: Array  # of the sole, scaled about its middle, that just holds the zero moment point
    tilt: Array  # roll and pitch of the waist, rad
    q: Array
    torque: Array
    fell: bool

    @property
    def hit(self) -> Array:
        """From the first blow on."""
        return self.time >= BLOWS[0][0]

    @property
    def attitude_error(self) -> float:
        """Root mean square of roll and pitch from the first blow on, rad."""
        return float(np.sqrt(np.mean(self.tilt[self.hit] ** 2)))

    @property
    def zmp_error(self) -> float:
        """Root mean square from the first blow on, m."""
        return float(np.sqrt(np.mean(np.sum(self.zmp[self.hit] ** 2, axis=1))))

    @property
    def at_limit(self) -> float:
        """For how long from the first blow on a motor gave all it can, s."""
        full = (np.abs(self.torque[self.hit]) > 0.999 * torque_limits()).any(axis=1)
        return float(full.sum() * (self.time[1] - self.time[0]))


class Stance:
    """On the right foot: the target that is always the same, and the walker's parts that bring it about."""

    def __init__(self, modes: frozenset[str] | None, arms: bool = True) -> None:
        self.walker = walker = Walker(robots.load("hoap3"), stabilizer="none", noise=SupportNoise(level=0.05))
        self.control: Stabilizer | None = None
        if modes is not None:
            gains = GAINS if arms else replace(GAINS, arms=0.0)
            self.control = RegionStabilizer(walker.model, gains, steps=False, modes=modes)
        standing, feet = walker.pattern.at(0.0), walker.pattern.feet
        middle = Soles(walker.robot).area("right", *feet).mean(axis=0)
        self.target = Target(
            0.0, "right", FootPoint(feet.left, LIFT), FootPoint(feet.right, 0.0), middle, middle, middle, np.zeros(2),
            standing.height, standing.omega, 0.0, math.inf, None, standing.dcm_shift,
        )  # fmt: skip

    def posture(self) -> Array:
        """The joints to begin with, under their load."""
        command = as_planned(self.target)
        for _ in range(20):
            self.walker.joints(command, self.target, self.walker.period)
        command.feed_forward = True
        return self.walker.joints(command, self.target, self.walker.period).copy()

    def joints(self, state: np.void) -> Array:
        """One cycle."""
        walker = self.walker
        balance = walker.sense(state, self.target)
        command: Command = as_planned(self.target)
        command.feed_forward = True
        if self.control is not None:
            command = self.control.correct(self.target, balance, walker.period)
        return walker.joints(command, self.target, walker.period)


def run(arm: str, trouble: Trouble, seed: int = 0) -> Stand:
    """Stand on the right foot, and be disturbed."""
    stance, random, rows = Stance(ARMS[arm], "without arms" not in arm), np.random.default_rng(seed), []
    robot = stance.walker.robot
    trunk = max(robot.links, key=lambda link: link.mass).name
    real, sensors = heavier(robot, mass_factor(seed)), SensorModel.realistic()
    scene = f"slope:angle={trouble.slope}" if trouble.slope else "flat"
    with Simulation(real, scene, seed=seed, sensors=sensors, posture=stance.posture()) as world:
        state, reference = world.new_state(), world.new_reference()
        sole = robot.surface("right_sole")
        outline = np.array(sole.outline)
        disturb(world, trunk, trouble)
        while world.time < SECONDS:
            world.read(state)
            reference.position[:] = stance.joints(state)
            world.write(reference)
            x, y = random.normal(0.0, NOISE, 2)
            world.push(trunk, (float(x), float(y), 0.0), world.period)
            world.advance()
            sole_to_world = world.link_to_world(sole.link) @ sole.at.matrix
            zmp = pressed(world, sole_to_world)
            up = world.base_to_world[:3, 2]
            truth = world.truth
            rows.append((world.time, zmp, share_of(outline, zmp + outline.mean(axis=0)), (-up[1], up[0]),
                         truth.position.copy(), truth.effort.copy()))  # fmt: skip
            if up[2] < math.cos(FALLEN):
                break
        return Stand(*(np.array(column) for column in zip(*rows, strict=True)), fell=bool(up[2] < math.cos(FALLEN)))


def disturb(world: Simulation, trunk: str, trouble: Trouble) -> None:
    """All pushes that are to come, but for the noise."""
    pushes = [(start, way, trouble.impulse / BLOW, BLOW) for start, way in BLOWS]
    pushes.append((*LEANS, trouble.lean, SECONDS))
    for start, (x, y), force, duration in pushes:
        if force > 0:
            size = force / math.hypot(x, y)
            world.push(trunk, (size * x, size * y, 0.0), duration, start=start)


def pressed(world: Simulation, sole_to_world: Array) -> Array:
    """The zero moment point in the sole, from its middle, by the true forces of the ground; the middle without any."""
    links = {link.name for link in world.robot.links}
    touches = [each for each in world.touches if each.other not in links]
    total = sum(float(each.force_in_world[2]) for each in touches)
    if total <= 1.0:
        return np.zeros(2)
    point = sum(float(each.force_in_world[2]) * each.point_in_world for each in touches) / total
    return np.asarray(sole_to_world[:3, :2].T @ (point - sole_to_world[:3, 3]))


def main(seeds: int = 5) -> None:
    """Print the table, write it, and draw the first seed."""
    lines = [
        "| disturbed by | controller | stand | ZMP/mm | sole used | roll, pitch/° | largest torque/limit | at it/s |",
        8 * "|---" + "|",
    ]
    print("\n".join(lines))
    RESULTS.mkdir(exist_ok=True)
    for number, (name, trouble) in enumerate(TROUBLES.items()):
        shown = {}
        for arm in ARMS:
            runs = [run(arm, trouble, seed) for seed in range(seeds)]
            shown[arm] = runs[0]
            lines.append(f"| {name} {row(arm, runs)}")
            print(lines[-1], flush=True)
        draw_balance(name, number, shown)
    (RESULTS / "stabilizer_one_foot.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for arm, each in shown.items():
        draw_joints(arm, each)


def torque_limits() -> Array:
    """Of the joints, N·m; an estimate, as the robot's description says."""
    return np.array([joint.effort for joint in robots.load("hoap3").moving])


def row(arm: str, runs: list[Stand]) -> str:
    """Medians of those that stand; all, if none does."""
    stand = [each for each in runs if not each.fell]
    counted = stand or runs
    zmp, tilt, share, load, long = (
        float(np.median(values))
        for values in (
            [each.zmp_error for each in counted],
            [each.attitude_error for each in counted],
            [np.quantile(each.share[each.hit], 0.99) for each in counted],
            [(np.abs(each.torque[each.hit]) / torque_limits()).max() for each in counted],
            [each.at_limit for each in counted],
        )
    )
    balance = f"{1e3 * zmp:.1f} | {share:.2f} | {math.degrees(tilt):.2f}"
    return f"| {arm} | {len(stand)} of {len(runs)} | {balance} | {load:.2f} | {long:.2f} |"


def draw_balance(name: str, number: int, shown: dict[str, Stand]) -> None:
    """Fig. 5.2, 5.5, 5.10, 5.19–5.21: zero moment point and attitude, each beside no control."""
    plt = pyplot()
    figure, grid = plt.subplots(len(shown), 3, figsize=(14, 2.4 * len(shown)), sharex=True, layout="constrained")
    for axes, (arm, each) in zip(grid, shown.items(), strict=True):
        axes[0].plot(each.time, 1e3 * each.zmp, label=("x", "y"), linewidth=0.7)
        axes[1].plot(each.time, each.share, "C3", linewidth=0.7)
        axes[2].plot(each.time, np.degrees(each.tilt), label=("roll", "pitch"))
        for scale in (0.5, 0.8, 1.0):
            axes[1].axhline(scale, color="0.6", linewidth=0.6)
        axes[0].set(title=arm, ylabel="ZMP [mm]")
        axes[1].set(ylabel="share of the sole", ylim=(0, 1.2))
        axes[2].set(ylabel="attitude [°]")
        for panel in axes:
            for start, _ in BLOWS:
                panel.axvline(start, color="0.8", linewidth=0.8)
    for panel in grid[0, ::2]:
        panel.legend(fontsize=8)
    for panel in grid[-1]:
        panel.set_xlabel("time [s]")
    figure.suptitle(f"HOAP-3 on its right foot, {name}; regions at 0.5 and 0.8 of the sole")
    figure.savefig(RESULTS / f"stabilizer_one_foot_{number + 1}.png", dpi=80)
    plt.close(figure)


def draw_joints(arm: str, each: Stand) -> None:
    """Fig. 5.3–5.4, 5.6–5.9, 5.11–5.12, 5.22–5.27: angles, and torques beside their limits."""
    plt = pyplot()
    robot, limits = robots.load("hoap3"), torque_limits()
    limbs = [limb for limb in LIMBS if limb != "left_leg"]
    figure, grid = plt.subplots(2, len(limbs), figsize=(4 * len(limbs), 6), sharex=True, layout="constrained")
    for (above, below), limb in zip(grid.T, limbs, strict=True):
        joints = list(robot.group(limb))
        names = [robot.moving[joint].name for joint in joints]
        above.plot(each.time, np.degrees(each.q[:, joints]), label=names, linewidth=0.8)
        below.plot(each.time, each.torque[:, joints], linewidth=0.8)
        for sign in (-1, 1):
            below.axhline(sign * limits[joints].min(), color="k", linestyle="--", linewidth=0.8)
        above.set(title=limb.replace("_", " "), ylabel="[°]")
        below.set(xlabel="time [s]", ylabel="[N·m]")
        above.legend(fontsize=7, ncols=2)
    figure.suptitle(f"HOAP-3 on its right foot, {arm}: joint angles and torques (dashed: limits, estimated)")
    name = arm.partition(" (")[0].replace(" ", "_")
    figure.savefig(RESULTS / f"stabilizer_one_foot_{name}.png", dpi=80)
    plt.close(figure)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
