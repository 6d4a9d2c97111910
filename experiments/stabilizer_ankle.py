"""Hubo-Ach, App. H: Hubo2+ on soft ankles is pushed, and its ankles calm it by the IMU, beside ankles that only hold.

    python -m experiments.stabilizer_ankle [SEEDS]

Springs of K = 753 N·m/rad and C = 18 N·m·s/rad under both ankles, which no encoder sees: all that there is to balance.
The push is one of 0.1 s ahead, at the chest. `none` and `ankle` know nothing of springs, `dcm` does. Sensors and masses
are as in stabilizer_walk. Prints medians over the seeds of how far the pelvis pitches from end to end in the second
after a push, and in the one after the next, and the largest impulse that the first seed survives; writes
`results/stabilizer_ankle.md`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from experiments.stabilizer_push import DURATION, largest
from experiments.stabilizer_walk import RESULTS, heavier, mass_factor
from wholebody import robots
from wholebody.estimation import AnkleSpring
from wholebody.locomotion.walking.walker import Walker
from wholebody.simulation import AnkleFlexibility, SensorModel, Simulation

ARMS = {"none": None, "ankle": None, "dcm": AnkleSpring()}
PUSH = 40.0  # N
PUSHED, END = 1.0, 4.1  # s
FALLEN = 0.8  # of the pelvis's upright axis, upwards


@dataclass(frozen=True)
class Swings:
    """How the pelvis pitched, from end to end, rad."""

    first: float
    last: float
    fell: bool


def stand(arm: str, force: float = PUSH, seed: int = 0) -> Swings:
    """Be pushed."""
    robot = robots.load("hubo2plus")
    walker = Walker(robot, stabilizer=arm, ankles=ARMS[arm])
    real, sensors, pitches = heavier(robot, mass_factor(seed)), SensorModel.realistic(), []
    with Simulation(real, seed=seed, sensors=sensors, ankles=AnkleFlexibility(), posture=walker.stance()) as world:
        state, reference = world.new_state(), world.new_reference()
        world.push("Body_Torso", (force, 0.0, 0.0), DURATION, start=PUSHED)
        while world.time < END:
            world.read(state)
            walker.cycle(state, reference)
            world.write(reference)
            world.advance()
            pitches.append((world.time - PUSHED - DURATION, np.arcsin(world.base_to_world[0, 2])))
            if world.base_to_world[2, 2] < FALLEN:
                return Swings(np.nan, np.nan, fell=True)
    time, pitch = np.array(pitches).T
    return Swings(float(np.ptp(pitch[(time > 0) & (time < 1)])), float(np.ptp(pitch[time > 2 - 1e-6])), fell=False)


def row(arm: str, seeds: int) -> str:
    """Of one arm."""
    runs = [stand(arm, seed=seed) for seed in range(seeds)]
    stands = [each for each in runs if not each.fell]
    first, last = (np.degrees(np.median([getattr(each, what) for each in stands])) for what in ("first", "last"))
    impulse = DURATION * largest(lambda force: not stand(arm, force).fell, 6.0, weakest=20.0)
    return f"| {arm} | {len(stands)} of {seeds} | {first:.2f} | {last:.2f} | {impulse:.1f} |"


def main(seeds: int = 5) -> None:
    """Print the table and write it."""
    lines = [
        "| stabilizer | stand | first swing/° | two seconds later/° | largest push/(N s) |",
        5 * "|---" + "|",
    ]
    print("\n".join(lines))
    for arm in ARMS:
        lines.append(row(arm, seeds))
        print(lines[-1], flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "stabilizer_ankle.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
