"""wholebody walk: a virtual robot stands, walks, turns, is pushed, stops, live through its daemon; film and report."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from wholebody import plugins, robots
from wholebody.behaviors import Walking
from wholebody.behaviors.walking_goals import WalkingClient
from wholebody.cli import options
from wholebody.errors import RobotTaken
from wholebody.locomotion.walking.legs import trouble_on_one_leg
from wholebody.operator.recordings.film import Film
from wholebody.operator.recordings.report import write_report
from wholebody.operator.recordings.script import Process, follow
from wholebody.operator.recordings.world import WalkedWorld
from wholebody.processes import HELP, lifecycle
from wholebody.processes.launch_plan import LaunchPlan
from wholebody.processes.registry import DAEMON, WALK, process_of
from wholebody.simulation import Pace, SensorModel, join

NAME = "walk_demo"
SAY_EVERY = 2.0
"""s of simulated time from one line to the next, if nothing new happens."""
console = Console(highlight=False, soft_wrap=True)


def walk(
    robot: options.Which = "",
    distance: Annotated[float | None, options.Distance] = None,
    turn: options.Turn = 90.0,
    push_force: Annotated[
        float | None, typer.Option(min=0.0, help="How hard to push it then, N for 0.1 s, from four sides.")
    ] = None,
    order: options.Orders = None,
    name: options.Name = "",
    stabilizer: Annotated[
        str, typer.Option(help=f"{HELP['stabilizer']} There are {', '.join(plugins.names('stabilizers'))}.")
    ] = "dcm",
    scene: options.Scene = "flat",
    self_collision: options.SelfCollision = "usual",
    engine: options.Engine = "mujoco",
    noise: options.Noise = True,
    seed: options.Seed = 0,
    out: Annotated[Path, options.Out] = Path("out/walk"),
    film: options.Film = True,
    fast: options.Fast = False,
) -> None:
    """See a virtual robot stand, walk, turn, be pushed and stop; its controller is a process of its own.

    Orders are stand, walk, aside, turn, step, stop and wait, with a number (m, degrees, steps, s), push, and the
    verbs of the console. --name of a robot that runs lets that one walk, and otherwise names this one.

    \b
      wholebody walk                             Hubo2+, as far as suits its size
      wholebody walk hoap3 --order stand --order 'walk 1' --order 'turn 90'
      wholebody walk --name robot --order stand  the one of `wholebody start`
    """
    plugins.load("stabilizers", stabilizer)  # or say now that there is none
    if name and not (robot and process_of(DAEMON, name) is None):
        follow(name, order or ["stand"], Process(WalkingClient, WALK, {"stabilizer": stabilizer}), console)
        return
    robot, name = robot or "hubo2plus", name or NAME
    loaded = robots.load(robot)
    walking = Walking(loaded, stabilizer=stabilizer)  # says what of it cannot walk before anything begins
    trouble = trouble_on_one_leg(walking.walker.model, walking.gait)
    if trouble:
        console.print(f"[yellow]{loaded.title or robot} will fall when it lifts a foot: {trouble}[/]")
    far = round(min(2.0, 2.0 * loaded.mass / 40.0 + 0.3), 1) if distance is None else distance
    lines = order or ["stand", f"walk {far:g}", f"turn {turn:g}", "push", "stop"]
    force = 0.15 * 9.81 * loaded.mass if push_force is None else push_force
    with ExitStack() as stack:
        sensors = SensorModel.realistic() if noise else None
        more = {"engine": engine, "seed": seed, "sensors": sensors, "self_collision": self_collision}
        world = stack.enter_context(WalkedWorld(loaded, name, lines, force, scene, **more))
        world.script.rehearse(walking.walker.pattern.feet, walking.gait.limits)
        see(world, robot, out, stabilizer, film, fast)
    if world.fallen or world.script.trouble:
        raise typer.Exit(1)


def see(
    world: WalkedWorld, robot: str, out: Path, stabilizer: str = "dcm", film: bool = True, fast: bool = False
) -> None:
    """Have the world's script done by a daemon and a controller that are begun for it; write film and report."""
    name = world.name
    if process_of(DAEMON, name) is not None:
        raise RobotTaken(f"another walk runs on this machine as '{name}'; wait until it ends, or give a name (--name)")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise typer.BadParameter(f"{out} cannot be made: {error.strerror}", param_hint="--out") from error
    before = _written(out)
    log = out / "processes.log"
    with ExitStack() as stack:
        controller = start(stack, world, robot, stabilizer, log)
        if film:
            world.film = stack.enter_context(Film(world.robot, name, out, robot, world.scene))
        console.print(f"[bold]{world.robot.title or robot}[/]: {', '.join(world.script.lines)}")
        began = time.monotonic()
        join(world, name, None if fast else 1.0, lambda: _goes_on(world, controller), teller(world))
        seconds = time.monotonic() - began
        write_report(out, world.robot, world, stabilizer, seconds)
        console.print(world.summary(seconds))
        if film:
            console.print("the film is being finished")
    written = (path for path, when in sorted(_written(out).items()) if before.get(path) != when)
    console.print(f"written: {', '.join(str(path) for path in written)}")


def _written(folder: Path) -> dict[Path, int]:
    """The files in a folder, and when each was written last."""
    return {path: path.stat().st_mtime_ns for path in folder.iterdir()}


def start(stack: ExitStack, world: WalkedWorld, robot: str, stabilizer: str, log: Path) -> lifecycle.Child:
    """Begin daemon and controller, and return that; both end, and their channels go, when the stack closes."""
    plan = LaunchPlan.make(world.name, robot)
    lifecycle.sweep(world.name, world.robot)
    stack.callback(lifecycle.remove_channels, world.name, force=True)
    log.unlink(missing_ok=True)
    stack.enter_context(lifecycle.beside(DAEMON, log=log, plan=plan))
    more = {"name": world.name, "robot": robot, "stabilizer": stabilizer}
    return stack.enter_context(lifecycle.beside(WALK, log=log, **more))


def _goes_on(world: WalkedWorld, controller: lifecycle.Child) -> bool:
    controller.look()
    return not (world.script.over or world.fallen)


def teller(world: WalkedWorld) -> Callable[[Pace], None]:
    """Print a line whenever something new is done, and now and then."""
    said, again = "", 0.0

    def tell(pace: Pace) -> None:
        nonlocal said, again
        doing = world.script.now or "starts"
        if doing == said and pace.simulated < again:
            return
        said, again = doing, pace.simulated + SAY_EVERY
        console.print(f"{pace.simulated:6.1f} s  {doing:<10} {pace.recent:.1f} × real time, {world.where()}")

    return tell
