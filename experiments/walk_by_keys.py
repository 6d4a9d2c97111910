"""A robot walked by keys of the operator page, as people press them: how often it falls, and when its body moves.

    python -m experiments.walk_by_keys [SEEDS [FIRST [ROBOT]]]

Keys are held for 1 to 8 s, a quarter of them tapped, alone and in pairs, at the page's own speeds, and let go again.
MuJoCo with noise, resolution, bias and delay in all sensors, masses off by up to 5 %, references a period late.
Prints how many of the runs of a minute stand, and the robot's time from a key until its body has moved by a centimetre.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, field

import numpy as np

from experiments.stabilizer_walk import heavier, mass_factor
from wholebody import robots
from wholebody.behaviors import Walking
from wholebody.errors import VelocityClamped
from wholebody.operator.robot.settings import BodySettings
from wholebody.simulation import SensorModel, Simulation

FORWARD, ASIDE = (1, 0, 0), (0, 1, 0)
KEYS = (
    FORWARD,
    FORWARD,
    FORWARD,
    (1, 0, 1),
    (1, 0, -1),
    (-1, 0, 0),
    ASIDE,
    (0, -1, 0),
    (0, 0, 1),
    (1, 1, 0),
    (0, 0, 0),
)
UP, AGAIN, MOVED = 4.5, 0.15, 0.01
"""s until it stands; s after which the page says a velocity again; m by which a body has moved that one sees move."""


@dataclass
class Drive:
    """What became of a run."""

    fell: float | None = None  # s
    moved: list[float] = field(default_factory=list)  # s after each key that was pressed while it stood


def drive(seed: int, seconds: float = 60.0, name: str = "hubo2plus") -> Drive:
    """Walk by keys for a while."""
    robot, chance, found = robots.load(name), np.random.default_rng(seed), Drive()
    walking, speeds = Walking(robot), BodySettings.of(robot).walking
    real, more = heavier(robot, mass_factor(seed)), {"posture": walking.walker.stance()}
    with (
        warnings.catch_warnings(),
        Simulation(real, "flat", seed=seed, sensors=SensorModel.realistic(), **more) as simulation,
    ):
        warnings.simplefilter("ignore", VelocityClamped)  # aside it goes as fast as it can, which is slower
        state, reference = simulation.new_state(), simulation.new_reference()
        late = [walking.walker.stance()]
        key, until, again, pressed = (0, 0, 0), UP, 0.0, None
        walking.stand()
        while simulation.time < seconds:
            simulation.read(state)
            time, here = simulation.time, simulation.com_in_world[:2]
            if time >= until:
                key = KEYS[chance.integers(len(KEYS))]
                until = time + (chance.uniform(0.15, 0.6) if chance.random() < 0.25 else chance.uniform(1.0, 8.0))
                again, pressed = time, (time, here) if any(key) and walking.standing else None
            if any(key) and time >= again:
                forward, aside, turn = key
                walking.walk(velocity=(speeds.speed * forward, speeds.speed / 3 * aside, speeds.turn * turn))
                again = time + AGAIN
            elif not any(key) and walking.velocity is not None:
                walking.stop()
            if pressed is not None and np.hypot(*(here - pressed[1])) > MOVED:
                found.moved.append(time - pressed[0])
                pressed = None
            walking.cycle(state, reference)
            late.append(reference.position.copy())
            reference.position[:] = late.pop(0)
            simulation.write(reference)
            simulation.advance()
            if simulation.base_to_world[2, 2] < 0.7:
                found.fell = time
                break
    return found


def main(seeds: int = 10, first: int = 0, name: str = "hubo2plus") -> None:
    """Print how it went."""
    runs = [drive(seed, name=name) for seed in range(first, first + seeds)]
    moved = [each for run in runs for each in run.moved]
    stand = sum(run.fell is None for run in runs)
    print(f"{name}: {stand} of {seeds} stand; moved {np.median(moved):.2f} s after a key, at most {max(moved):.2f} s")


if __name__ == "__main__":
    main(*(int(each) if each.isdecimal() else each for each in sys.argv[1:]))  # type: ignore[arg-type]
