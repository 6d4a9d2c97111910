"""Standing with limits that hold: Hubo2+ and Valkyrie sway, squat, lift a foot and are pushed, disturbed in every way.

    python -m experiments.limited_standing                     # ten seeds of each; long
    python -m experiments.limited_standing hubo2plus squat 3   # one robot, one motion, three seeds

The controller with inequalities drives the robots by efforts at 1 kHz. It does not know that all masses are 5 % more or
less (by the seed), its joint angles are noisy, in steps, and old by `DELAY` ms. Beside it, disturbed in the same way:
WBOSC, which knows no limits; and, where nothing moves by itself, the robot whose joints are stiff. A push gives the
robot 0.2 m/s within 0.1 s.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

import numpy as np

from examples.balance import PLANS, Balance, Plan
from experiments.stabilizer_walk import heavier
from experiments.standing_pushes import BEGIN, SPEED, model_of, stiffly
from wholebody import robots
from wholebody.control import WBOSC, QuadraticController, Servo
from wholebody.model import Model
from wholebody.simulation import SensorModel, Simulation

ROBOTS = ("hubo2plus", "valkyrie")
MOTIONS = ("sway", "squat", "one foot", "push")
WAYS = ("limits", "wbosc", "stiff")
SEEDS = 10
DELAY = 2  # ms
SENSORS = replace(SensorModel.realistic(), base_known=True, encoder_delay=DELAY)
PUSHED = 2.5  # s, how long a robot is watched that is pushed


@dataclass(frozen=True)
class Stood:
    """What became of a run."""

    stands: bool
    off: float  # m, that the centre of mass truly is from where it is asked to be, at most
    back: float  # m, in the end
    effort: float  # of the motor that works hardest, as a share of what it can
    faults: int


def stand(name: str, motion: str, seed: int, way: str = "limits", *, seconds: float | None = None) -> Stood:
    """One motion of one robot in one of the ways; stiff, its joints hold the positions they begin with."""
    robot, model = robots.load(name), model_of(name)
    rng = np.random.default_rng(seed)
    direction = rng.uniform(0, 2 * np.pi)
    plan = Plan() if motion == "push" else PLANS[motion](model)
    seconds = seconds or (PUSHED if plan.com is None else plan.com.duration + 0.3)
    true = heavier(robot, float(rng.choice((0.95, 1.05))))
    with Simulation(true, control_period=0.001, sensors=SENSORS, seed=seed) as simulation:
        if motion == "push":
            force = 10 * true.mass * SPEED * np.array([np.cos(direction), np.sin(direction), 0.0])
            simulation.push(robot.root, tuple(float(each) for each in force), 0.1, start=BEGIN)
        return _watched(simulation, model, plan, seconds, way)


def _watched(simulation: Simulation, model: Model, plan: Plan, seconds: float, way: str) -> Stood:
    start, begun = np.array(simulation.com_in_world), simulation.time
    strongest = np.array([each.effort for each in simulation.robot.moving])
    off, effort, faults = [], [], 0

    def look(servo: Servo | None = None) -> None:
        asked = start if plan.com is None else start + plan.com.at(simulation.time - begun).position
        off.append(float(np.linalg.norm(simulation.com_in_world - asked)))
        effort.append(float(np.max(np.abs(simulation.truth.effort) / strongest)))

    if way == "stiff":
        stiffly(simulation, look, seconds)
    else:
        controller = QuadraticController(model, inset=0.01) if way == "limits" else WBOSC(model)
        behavior = Balance(model, plan)
        servo = Servo(simulation, simulation, controller, behavior, description=simulation.robot, publish=[look])
        servo.run(seconds)
        faults = servo.counters.faults
    return Stood(bool(simulation.com_in_world[2] > 0.85 * start[2]), max(off), off[-1], max(effort), faults)


def main(*chosen: str) -> None:
    names = chosen[:1] or ROBOTS
    motions = chosen[1:2] or MOTIONS
    seeds = range(int(chosen[2]) if len(chosen) > 2 else SEEDS)
    print(f"{'':<12}{'':<10}{'':<8}{'stands':>8}{'off, mm':>18}{'in the end, mm':>16}{'effort':>9}{'faults':>8}")
    for name in names:
        for motion in motions:
            for way in WAYS if motion == "push" else WAYS[:2]:
                runs = [stand(name, motion, seed, way) for seed in seeds]
                off, back = (1e3 * np.array([getattr(each, what) for each in runs]) for what in ("off", "back"))
                print(
                    f"{name:<12}{motion:<10}{way:<8}"
                    f"{sum(each.stands for each in runs):>4} /{len(runs):>2}"
                    f"{np.mean(off):9.1f}, ≤{np.max(off):6.1f}{np.max(back):16.1f}"
                    f"{max(each.effort for each in runs):9.2f}{sum(each.faults for each in runs):>8}",
                    flush=True,
                )


if __name__ == "__main__":
    main(*sys.argv[1:])
