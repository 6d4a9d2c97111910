"""Hubo-Ach, 5.3, Fig. 5.15: Hubo2+ is pushed down and squats as an over-damped spring would, beside stiff legs.

    python -m experiments.stabilizer_squat [SEEDS]

Two ways to push, both on the torso. A weight: 200 N for 2 s. A hand: it goes 6 cm down in half a second, stays for
another 1.5 s and lets go, and pushes with whatever force that needs. Sensors and masses are as in stabilizer_walk.
Prints medians over the seeds and writes `results/stabilizer_squat.md` and `results/stabilizer_squat.png`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from experiments.stabilizer_step import RESULTS, pyplot
from experiments.stabilizer_walk import heavier, mass_factor
from wholebody import robots
from wholebody.locomotion.walking.walker import Walker
from wholebody.simulation import SensorModel, Simulation

Array = np.ndarray

ARMS = {"stiff legs": "none", "active damping": "damping"}
TORSO = "Body_Torso"
BEGIN, END = 1.0, 3.0  # s, of the push
WEIGHT = 200.0  # N
DEPTH, DOWN = 0.06, 0.5  # m, s: how far the hand goes, and in which time
HAND_STIFFNESS, HAND_DAMPING = 5000.0, 100.0  # N/m, N·s/m
SECONDS = 5.0
PERIOD = 0.001  # s; at 5 ms a force sensor reads the same instant of every small jerk of the references


@dataclass(frozen=True)
class Squat:
    """What a push down did, period by period."""

    time: Array
    height: Array  # m, of the centre of mass
    push: Array  # N, downwards
    feet: Array  # N, of the ground on both feet
    weight: float  # N

    @property
    def depth(self) -> float:
        """How far the centre of mass went down, m."""
        return float(self._before - self.height.min())

    @property
    def left(self) -> float:
        """How far from where it was it is at the end, m."""
        return float(abs(self.height[-1] - self._before))

    @property
    def rebound(self) -> float:
        """How far above where it was it came, m: an over-damped spring does not."""
        return float(self.height[self.time > END].max() - self._before)

    @property
    def peak_push(self) -> float:
        """N."""
        return float(self.push.max())

    @property
    def peak_excess(self) -> float:
        """How much more than the weight the ground bore at most, N."""
        return float(self.feet[self.time > BEGIN].max() - self.weight)

    @property
    def _before(self) -> float:
        return float(self.height[self.time <= BEGIN][-1])


Push = Callable[[float, float, float], float]
"""Force downwards, N, from the time, and how far (m) and how fast (m/s) the torso went down."""


def by_weight(time: float, sunk: float, speed: float) -> float:
    """As much all the time."""
    return WEIGHT if BEGIN <= time < END else 0.0


def by_hand(time: float, sunk: float, speed: float) -> float:
    """A spring and a damper between the hand and the torso, that do not pull."""
    if not BEGIN <= time < END:
        return 0.0
    s = min((time - BEGIN) / DOWN, 1.0)
    there, moving = DEPTH * s * s * (3 - 2 * s), DEPTH * 6 * s * (1 - s) / DOWN
    return max(0.0, HAND_STIFFNESS * (there - sunk) + HAND_DAMPING * (moving - speed))


PUSHES: dict[str, Push] = {"a weight of 200 N": by_weight, "a hand, 6 cm": by_hand}


def run(stabilizer: str, push: Push, seed: int = 0) -> Squat:
    """Stand, be pushed down, be let go."""
    robot = robots.load("hubo2plus")
    walker = Walker(robot, stabilizer=stabilizer, period=PERIOD)
    real, rows = heavier(robot, mass_factor(seed)), []
    sensors, posture = SensorModel.realistic(), walker.stance()
    with Simulation(real, control_period=PERIOD, seed=seed, sensors=sensors, posture=posture) as world:
        state, reference = world.new_state(), world.new_reference()
        tall = before = float(world.link_to_world(TORSO)[2, 3])
        while world.time < SECONDS:
            world.read(state)
            walker.cycle(state, reference)
            world.write(reference)
            if world.time < BEGIN:
                tall = before
            now = float(world.link_to_world(TORSO)[2, 3])
            force = push(world.time, tall - now, (before - now) / world.period)
            before = now
            if force > 0:
                world.push(TORSO, (0.0, 0.0, -force), world.period)
            world.advance()
            rows.append((world.time, world.com_in_world[2], force, borne(world)))
        return Squat(*np.array(rows).T, weight=9.81 * real.mass)


def borne(world: Simulation) -> float:
    """The vertical force of the ground on the robot, N; links may touch each other too."""
    links = {link.name for link in world.robot.links}
    return float(sum(touch.force_in_world[2] for touch in world.touches if touch.other not in links))


def main(seeds: int = 10) -> None:
    """Print the table, write it, and draw the first seed."""
    lines = [
        "| push | legs | squat/mm | push at most/N | ground at most over the weight/N | end off/mm | rebound/mm |",
        7 * "|---" + "|",
    ]
    print("\n".join(lines))
    shown: dict[str, dict[str, Squat]] = {}
    for name, push in PUSHES.items():
        for arm, stabilizer in ARMS.items():
            runs = [run(stabilizer, push, seed) for seed in range(seeds)]
            shown.setdefault(name, {})[arm] = runs[0]
            lines.append(row(name, arm, runs))
            print(lines[-1], flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "stabilizer_squat.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    draw(shown)


def row(name: str, arm: str, runs: list[Squat]) -> str:
    """Medians."""
    depth, push, ground, left, rebound = (
        float(np.median([getattr(each, what) for each in runs]))
        for what in ("depth", "peak_push", "peak_excess", "left", "rebound")
    )
    forces = f"{push:.0f} | {ground:.0f}"
    return f"| {name} | {arm} | {1e3 * depth:.1f} | {forces} | {1e3 * left:.1f} | {1e3 * rebound:.1f} |"


def draw(shown: dict[str, dict[str, Squat]]) -> None:
    """Height, push and ground over time, a column for each push."""
    plt = pyplot()
    figure, grid = plt.subplots(2, len(shown), figsize=(12, 6), sharex=True, layout="constrained")
    for (above, below), (name, arms) in zip(grid.T, shown.items(), strict=True):
        for arm, each in arms.items():
            above.plot(each.time, 1e3 * (each.height - each.height[0]), label=arm)
            below.plot(each.time, each.push, label=arm)
        above.set(title=f"pushed down by {name}", ylabel="centre of mass [mm]")
        below.set(xlabel="time [s]", ylabel="push [N]")
        for axes in (above, below):
            axes.grid(alpha=0.3)
            axes.legend(fontsize=8)
    figure.suptitle("Hubo2+ is pushed down, as in Hubo-Ach, Fig. 5.15")
    figure.savefig(RESULTS / "stabilizer_squat.png", dpi=90)
    plt.close(figure)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
