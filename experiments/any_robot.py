"""Anybody's robots: what is inferred of each file, how it looks, and whether it stands, walks, turns and stops.

    python -m experiments.any_robot [FILE…] [--seeds 5]

Each walks 1 m and turns by 90° with realistic sensors, in lock step with its controller, and nothing else told. Prints
a row for each file and writes `results/any_robot.md`, with a picture of each beside it. Without a file it takes the
humanoids of the package example-robot-data.
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from collections import Counter, deque
from pathlib import Path
from typing import NamedTuple

import numpy as np

from experiments.stabilizer_walk import heavier
from wholebody import robots
from wholebody.behaviors import Walking
from wholebody.errors import WholebodyError
from wholebody.locomotion.walking.legs import trouble_on_one_leg
from wholebody.messages import Reference
from wholebody.robots import Robot
from wholebody.simulation import SensorModel, Simulation
from wholebody.simulation.film import portrait, write_png

DISTANCE, TURN, PATIENCE = 1.0, math.pi / 2, 120.0
UPRIGHT = math.cos(math.radians(45))
RESULTS = Path("results")
EXAMPLES = (
    "talos_data/robots/talos_reduced.urdf",
    "icub_description/robots/icub_reduced.urdf",
    "romeo_description/urdf/romeo.urdf",
    "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "alexander_description/urdf/alexander_v1.lowerBodyOnly.urdf",
)
HEAD = "| file | joints, mass | inferred | 1 m takes | stands at the end | why not |\n|---|---|---|---|---|---|"


class Run(NamedTuple):
    """How one walk went: until when it was on its feet, how long a metre took, and what it was doing when it fell."""

    stands: bool
    metre: float  # s
    where: str


def walk(robot: Robot, seed: int, late: int = 0, mass: float = 1.0) -> Run:
    """Stand, walk, turn, stop; references may act so many periods late, and links weigh more than the robot thinks."""
    walking = Walking(robot)
    todo = [
        ("standing up", walking.stand),
        ("walking", lambda: walking.walk(distance=DISTANCE)),
        ("turning", lambda: walking.turn(TURN)),
        ("stopping", walking.stop),
    ]
    doing, began, metre = "", 0.0, math.nan
    with Simulation(heavier(robot, mass), sensors=SensorModel.realistic(), seed=seed) as world:
        state, reference = world.new_state(), world.new_reference()
        under_way = deque[Reference]()
        while world.time < PATIENCE:
            if walking.standing:
                metre = world.time - began if doing == "walking" else metre
                if not todo:
                    return Run(True, metre, "")
                doing, act = todo.pop(0)
                began = world.time
                act()
            world.read(state)
            walking.cycle(state, reference)
            under_way.append(reference.copy())
            if len(under_way) > late:
                world.write(under_way.popleft())
            world.advance()
            if world.base_to_world[2, 2] < UPRIGHT or walking.trouble:
                return Run(False, metre, f"falls while {doing}")
    return Run(False, metre, f"never done {doing}")


def loaded(file: str) -> Robot:
    """A robot of a file, with inertias that no body has repaired."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return robots.load(file)
        except WholebodyError:
            return robots.load(file, repair=True)


def row(file: str, seeds: int, picture: Path) -> str:
    """A row of the table."""
    try:
        robot = loaded(file)
        write_png(picture, portrait(robot, ("stand",)))
        sure = {each.what: each.confidence for each in robot.inferred}
        lacks = next((each.reason for each in robot.inferred if each.what == "legs"), "")
        what = f"{len(robot.moving)}, {robot.mass:.1f} kg"
        if lacks:
            return f"| {Path(file).name} | {what} | no two legs | | | {lacks} |"
        walking = Walking(robot)
        weak = trouble_on_one_leg(walking.walker.model, walking.gait)
        runs = [walk(robot, seed) for seed in range(seeds)]
    except WholebodyError as error:
        return f"| {Path(file).name} | | | | | {error} |"
    doubts = (
        ", ".join(f"{name} {100 * value:.0f} %" for name, value in sure.items() if value < 0.6) or "nothing in doubt"
    )
    metres = [run.metre for run in runs if math.isfinite(run.metre)]
    metre = f"{np.mean(metres):.1f} s" if metres else ""
    why = "; ".join(f"{many} × {where}" for where, many in Counter(run.where for run in runs if run.where).items())
    stands = f"{sum(run.stands for run in runs)} of {seeds}"
    return f"| {Path(file).name} | {what} | {doubts} | {metre} | {stands} | {'; '.join(filter(None, (why, weak)))} |"


def examples() -> list[str]:
    """Humanoids of the package example-robot-data, as far as it is installed."""
    folders = (Path(each) / "cmeel.prefix/share/example-robot-data/robots" for each in sys.path)
    return [str(folder / file) for folder in folders for file in EXAMPLES if (folder / file).is_file()]


def main() -> None:
    """Print the table and write it."""
    parser = argparse.ArgumentParser(description="What is inferred of anybody's robots, and whether they walk.")
    parser.add_argument("files", nargs="*", default=examples())
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    lines = [HEAD]
    print(HEAD)
    for number, file in enumerate(arguments.files):
        lines.append(row(file, arguments.seeds, RESULTS / f"any_robot_{number}_{Path(file).stem}.png"))
        print(lines[-1], flush=True)
    (RESULTS / "any_robot.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
