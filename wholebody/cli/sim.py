"""wholebody sim: a robot in a simulated world, faster than real time, with a film."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from wholebody import robots
from wholebody.cli import options
from wholebody.errors import BadSimulation
from wholebody.robots.robot import Array
from wholebody.simulation import AnkleFlexibility, SensorModel, Simulation
from wholebody.simulation.film import Recording

FALLEN_TILT = math.radians(30)
FALLEN_HEIGHT = 0.6
"""Of the height that the centre of mass had at the start."""


@dataclass
class Summary:
    """How a run went."""

    com_at_start: Array
    axes_at_start: Array
    wall_seconds: float = 0.0
    drift: float = 0.0  # m, the greatest so far
    tilt: float = 0.0  # rad, the greatest so far
    lowest_com: float = math.inf  # m
    collisions: dict[tuple[str, str], float] = field(default_factory=dict)

    @classmethod
    def begin(cls, simulation: Simulation) -> Summary:
        """Note how the robot stands before it moves."""
        return cls(simulation.com_in_world, simulation.base_to_world[:3, :3])

    def look(self, simulation: Simulation) -> None:
        """Take another moment into account."""
        com = simulation.com_in_world
        self.drift = max(self.drift, float(np.linalg.norm(com - self.com_at_start)))
        up, up_at_start = simulation.base_to_world[:3, 2], self.axes_at_start[:, 2]
        self.tilt = max(self.tilt, math.acos(min(1.0, float(up @ up_at_start))))
        self.lowest_com = min(self.lowest_com, float(com[2]))
        if not simulation.physics:
            for each in simulation.collisions:
                pair = (each.link, each.other)
                self.collisions[pair] = max(self.collisions.get(pair, 0.0), each.depth)

    @property
    def fell(self) -> bool:
        """Whether the robot tipped over or sank down."""
        return self.tilt > FALLEN_TILT or self.lowest_com < FALLEN_HEIGHT * float(self.com_at_start[2])


def sim(
    robot: options.Which,
    physics: Annotated[bool, options.Physics] = True,
    engine: options.Engine = "mujoco",
    scene: options.Scene = "flat",
    posture: Annotated[str | None, options.Posture] = None,
    self_collision: options.SelfCollision = "usual",
    seconds: options.Seconds = 10.0,
    seed: options.Seed = 0,
    noise: options.Noise = False,
    flexible_ankles: Annotated[
        bool, typer.Option("--flexible-ankles", help="Springs between ankles and soles.")
    ] = False,
    push: Annotated[
        list[str] | None, typer.Option(help='"LINK FX FY FZ DURATION START": N in world axes, s; may be repeated.')
    ] = None,
    out: Annotated[Path | None, options.Out] = None,
) -> None:
    """Stand a robot up in a simulated world, faster than real time; --out makes a film (.mp4) or a filmstrip (.png)."""
    simulation = Simulation(
        robots.load(robot),
        scene,
        physics=physics,
        engine=engine,
        seed=seed,
        sensors=SensorModel.realistic() if noise else None,
        ankles=AnkleFlexibility() if flexible_ankles else None,
        posture=posture,
        self_collision=self_collision,
    )
    with simulation:
        for text in push or ():
            plan_push(simulation, text)
        summary = run(simulation, seconds, out)
        show(simulation, summary, out)


def plan_push(simulation: Simulation, text: str) -> None:
    """Read a push as it is typed: LINK FX FY FZ DURATION START."""
    link, *numbers = text.split() or [""]
    try:
        fx, fy, fz, duration, start = (float(number) for number in numbers)
    except ValueError:
        raise BadSimulation(
            f"'{text}' is no push; write it as LINK FX FY FZ DURATION START, "
            f"such as '{simulation.robot.root} 50 0 0 0.1 2'"
        ) from None
    simulation.push(link, (fx, fy, fz), duration, start=start)


def run(simulation: Simulation, seconds: float, record: Path | None) -> Summary:
    """Let simulated time go by, with a 200 Hz loop that reads the state and writes the posture."""
    state, reference = simulation.new_state(), simulation.new_reference()
    periods = max(1, round(seconds / simulation.period))
    summary = Summary.begin(simulation)
    begin = time.perf_counter()
    with ExitStack() as stack:
        recording = None if record is None else stack.enter_context(Recording(record, seconds))
        progress = stack.enter_context(_progress(simulation.robot.name, periods))
        if recording is not None:
            recording.look(simulation)
        for number in progress:
            simulation.advance()
            simulation.read(state)
            simulation.write(reference)
            if number % 4 == 0 or number == periods - 1:
                summary.look(simulation)
            if recording is not None:
                recording.look(simulation)
    summary.wall_seconds = time.perf_counter() - begin
    return summary


@contextmanager
def _progress(name: str, periods: int) -> Iterator[Iterator[int]]:
    """Count the periods; in a terminal a bar shows how far it is, and for how long still."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(name, total=periods)

        def count() -> Iterator[int]:
            for number in range(periods):
                yield number
                if number % 40 == 39:
                    bar.update(task, completed=number + 1)

        yield count()


def show(simulation: Simulation, summary: Summary, record: Path | None) -> None:
    """Print how it went."""
    robot, console = simulation.robot, Console(highlight=False)
    verdict = "[bold red]fell[/]" if summary.fell else "[bold green]stands[/]"
    if not simulation.physics:
        verdict = "[bold red]collides[/]" if summary.collisions else "[bold green]no collision[/]"
    console.print(f"[bold]{robot.title or robot.name}[/] {verdict} after {simulation.time:g} s")
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_row("speed", f"{simulation.time / summary.wall_seconds:.1f} × real time")
    table.add_row("centre of mass moved", f"{1000 * summary.drift:.1f} mm at most")
    table.add_row("tilt", f"{math.degrees(summary.tilt):.2f}° at most")
    if simulation.physics:
        forces: dict[tuple[str, str], float] = {}
        for touch in simulation.touches:
            pair = touch.link, touch.other
            forces[pair] = forces.get(pair, 0.0) + float(touch.force_in_world[2])
        for (link, other), force in sorted(forces.items()):
            table.add_row(f"{link} on {other}", f"{force:.1f} N upwards")
        table.add_row("weight", f"{robot.mass * 9.81:.1f} N")
    for (link, other), depth in sorted(summary.collisions.items(), key=lambda item: -item[1])[:8]:
        table.add_row(f"[red]{link} in {other}[/]", f"{1000 * depth:.1f} mm")
    console.print(table)
    if record is not None:
        console.print(f"written: {record} ({record.stat().st_size / 1024:.0f} KiB)")
