"""wholebody walk: a virtual robot stands, walks, turns, is pushed, stops, live through its daemon; film and report."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from wholebody import robots
from wholebody.channels import directory
from wholebody.cli import life
from wholebody.cli.plan import Plan
from wholebody.cli.walk_report import write_report
from wholebody.cli.walk_world import WalkedWorld
from wholebody.errors import HardwareError, RobotTaken, UnknownName
from wholebody.hardware import Names
from wholebody.locomotion.stabilizers import NAMES
from wholebody.simulation import Pace, SensorModel, join
from wholebody.simulation.film import Recording

NAME = "walk_demo"
console = Console(highlight=False, soft_wrap=True)


def walk(
    robot: Annotated[str, typer.Argument(help="Which robot; see `wholebody robots`.")] = "hubo2plus",
    distance: Annotated[float, typer.Option(help="How far forward, m.")] = 2.0,
    turn: Annotated[float, typer.Option(help="How far to turn then, degrees.")] = 90.0,
    push: Annotated[
        float | None, typer.Option(min=0.0, help="How hard to push it then, N for 0.1 s, from four sides.")
    ] = None,
    stabilizer: Annotated[str, typer.Option(help=f"One of {', '.join(NAMES)}.")] = "dcm",
    noise: Annotated[bool, typer.Option(help="Sensors with noise, resolution and delay.")] = True,
    seed: Annotated[int, typer.Option(min=0, help="Of the noise.")] = 0,
    out: Annotated[Path, typer.Option(help="Where to put film, plot and report.")] = Path("out/walk"),
    film: Annotated[bool, typer.Option(help="Whether to film it.")] = True,
    fast: Annotated[bool, typer.Option("--fast", help="As fast as the machine can, not in real time.")] = False,
) -> None:
    """See a virtual robot stand, walk, turn, be pushed and stop; its controller is a process of its own."""
    if stabilizer not in NAMES:
        raise UnknownName("stabilizer", stabilizer, NAMES)
    loaded = robots.load(robot)
    if life.process_of(life.DAEMON, NAME) is not None:
        raise RobotTaken(f"another walk runs on this machine as '{NAME}'; wait until it ends")
    out.mkdir(parents=True, exist_ok=True)
    force = 0.15 * 9.81 * loaded.mass if push is None else push
    lines = ["stand", f"walk {distance:g}", f"turn {turn:g}", "push", "step 4", "stop"]
    with ExitStack() as stack:
        sensors = SensorModel.realistic() if noise else None
        world = stack.enter_context(WalkedWorld(loaded, NAME, lines, force, seed=seed, sensors=sensors))
        if film:
            world.recording = stack.enter_context(Recording(out / "walk.mp4", 60.0))
        controller = _start(stack, robot, stabilizer)
        console.print(f"[bold]{loaded.title or robot}[/]: {', '.join(lines)}; pushed with {force:.0f} N for 0.1 s")
        began = time.monotonic()
        join(world, NAME, None if fast else 1.0, lambda: _goes_on(world, controller), _tell(world))
    seconds = time.monotonic() - began
    write_report(out, loaded, world, stabilizer, seconds)
    console.print(world.summary(seconds))
    console.print(f"written: {', '.join(str(path) for path in sorted(out.iterdir()))}")
    if world.fallen or world.script.trouble:
        raise typer.Exit(1)


def _start(stack: ExitStack, robot: str, stabilizer: str) -> subprocess.Popen[bytes]:
    """Begin daemon and controller; both end, and their channels go, when the stack closes."""
    plan = Plan.make(NAME, robot, "virtual")
    life.sweep(NAME, robots.load(robot))
    children: list[subprocess.Popen[bytes]] = []

    def end() -> None:
        for child in reversed(children):
            if child.poll() is None:
                child.terminate()
                child.wait()
        for each in directory.names():
            if each.startswith(f"{Names(NAME).robot}."):
                directory.remove(each, force=True)

    stack.callback(end)
    children.append(life.begin(life.DAEMON, plan, None))
    command = [sys.executable, "-m", "wholebody.cli.walk_process", NAME, robot, stabilizer]
    children.append(subprocess.Popen(command))
    return children[1]


def _goes_on(world: WalkedWorld, controller: subprocess.Popen[bytes]) -> bool:
    if controller.poll() not in (None, 0):
        raise HardwareError(f"the controller ended with exit code {controller.returncode}")
    return not (world.script.over or world.fallen)


def _tell(world: WalkedWorld) -> Callable[[Pace], None]:
    return lambda pace: console.print(
        f"{pace.simulated:6.1f} s  {world.script.now or 'starts':<10} {pace.recent:.1f} × real time, {world.where()}"
    )
