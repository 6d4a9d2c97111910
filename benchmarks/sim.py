"""The simulation against real time: with physics, without, and what a camera's picture costs.

A robot swings its arms under a 200 Hz loop in Python that reads the state and writes a reference, as controllers do;
the physics step is 1 ms. One sample is the mean over 20 control periods. A share of real time is wall-clock seconds per
simulated second: an eighth is eight times real time. Yardsticks, in turns with ours: `mujoco_alone` is five steps of
MuJoCo on the same model, `kinematics_alone` its kinematics, `render_alone` a picture of the same size by its renderer.
"""

from __future__ import annotations

import copy
import math
from functools import partial
from itertools import repeat

from benchmarks.report import Progress, Report, Section, Timing, no_garbage_collection, part, timed
from wholebody import robots
from wholebody.simulation import Simulation

MAIN = "hubo2plus"
OTHERS = ("minihubo", "atlas", "atlas_v5", "valkyrie", "hoap3", "hrp2", "teo", "dreamer")
PERIODS = 20
STEPS = 5  # of physics in a control period
WIDTH, HEIGHT = 320, 240


def run(quick: bool, progress: Progress) -> Report:
    """Measure Hubo2+ thoroughly and in turns, so that a busy moment hits all alike; the others with physics only."""
    report, rounds, samples = Report(), 4 if quick else 10, 15 if quick else 30
    physics, kinematic = f"{MAIN}, a period of 5 ms with physics", f"{MAIN}, a period of 5 ms without physics"
    found: dict[str, list[float]] = {physics: [], kinematic: [], "mujoco_alone": [], "kinematics_alone": []}
    with Simulation(robots.load(MAIN)) as real, Simulation(robots.load(MAIN), physics=False) as unreal:
        for turn in range(rounds):
            progress("control periods", 0.5 * turn / rounds)
            found[physics] += loop(real, samples)
            found[kinematic] += loop(unreal, samples)
            found["mujoco_alone"] += alone(real, samples, "mj_step", STEPS)
            found["kinematics_alone"] += alone(real, samples, "mj_kinematics", 1)
        main = {name: Timing.of(times) for name, times in found.items()}
        report.sections.append(Section("control periods", dict(main)))
        progress("pictures", 0.5)
        report.sections.append(Section(f"pictures of {WIDTH} × {HEIGHT}", dict(pictures(real, samples))))
    others, speeds = part(progress, 0.6, 1.0), {}
    for number, name in enumerate(() if quick else OTHERS):
        others(name, number / len(OTHERS))
        with Simulation(robots.load(name)) as simulation:
            speeds[f"{name}, times real time"] = round(1 / share(Timing.of(loop(simulation, samples))), 1)
    for name, timing in ((f"{MAIN}, times real time", main[physics]), (f"{MAIN}, without physics", main[kinematic])):
        speeds[name] = round(1 / share(timing), 1)
    report.sections.append(Section("speed", dict(speeds)))
    report.limit_ratio(physics, "mujoco_alone", 1.6)
    report.limit_ratio(kinematic, "kinematics_alone", 30.0)
    report.limit_ratio("colour", "render_alone", 1.6)
    report.notes += [note for name, timing in main.items() if (note := busy(name, timing))]
    return report


def busy(name: str, timing: Timing) -> str:
    """What to say of a machine that had other objects to do: the quietest batch tells what it can."""
    if timing.median < 1.3 * timing.min:
        return ""
    return f"the machine was busy; {name}: the quietest batch ran {5000 / timing.min:.1f} times real time"


def share(timing: Timing) -> float:
    """Wall-clock seconds per simulated second, by the median."""
    return round(timing.median * 1e-6 / 0.005, 5)


def loop(simulation: Simulation, samples: int) -> list[float]:
    """Control periods of a robot that swings its arms, advance, read, write: microseconds each, means over a batch."""
    simulation.reset()
    state, reference = simulation.new_state(), simulation.new_reference()
    robot = simulation.robot
    swung = [index for group in robot.groups if "arm" in group for index in robot.group(group)]
    start = reference.position[swung].copy()

    def period() -> None:
        reference.position[swung] = start + 0.05 * math.sin(6.0 * simulation.time)
        simulation.write(reference)
        simulation.advance()
        simulation.read(state)

    with no_garbage_collection():
        for _ in repeat(None, PERIODS):
            period()
        return [timed(period, PERIODS) for _ in range(samples)]


def alone(simulation: Simulation, samples: int, name: str, count: int) -> list[float]:
    """So many calls of MuJoCo for each control period, on a copy of the simulation's state: µs, means over a batch."""
    import mujoco  # by now wholebody.simulation has chosen how it draws

    call, world = getattr(mujoco, name), simulation._engine.world
    model, data = world.model, copy.copy(world.data)

    def period() -> None:
        for _ in repeat(None, count):
            call(model, data)

    with no_garbage_collection():
        return [timed(period, PERIODS) for _ in range(samples)]


def pictures(simulation: Simulation, samples: int) -> dict[str, Timing]:
    """Colour and depth of the camera that follows the robot, on the processor alone if there is no graphics card."""
    import mujoco

    found = {}
    with no_garbage_collection():
        for name, look in (("colour", simulation.image), ("depth", simulation.depth)):
            look("tracking", WIDTH, HEIGHT)
            found[name] = Timing.of([timed(partial(look, "tracking", WIDTH, HEIGHT), 1) for _ in range(samples)])
        world = simulation._engine.world
        with mujoco.Renderer(world.model, HEIGHT, WIDTH) as renderer:

            def draw() -> None:
                renderer.update_scene(world.data)
                renderer.render()

            draw()
            found["render_alone"] = Timing.of([timed(draw, 1) for _ in range(samples)])
    return found
