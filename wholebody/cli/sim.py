"""wholebody sim, walk: a robot stands in a simulated world, or walks there through its daemon; film and report."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from wholebody import plugins, robots
from wholebody.behaviors import Walking
from wholebody.behaviors.walking_goals import WalkingClient
from wholebody.cli import options
from wholebody.errors import BadSimulation, RobotTaken
from wholebody.locomotion.walking.legs import trouble_on_one_leg
from wholebody.operator.recordings.film import Film
from wholebody.operator.recordings.report import write_report
from wholebody.operator.recordings.script import Process, follow
from wholebody.operator.recordings.world import WalkedWorld
from wholebody.processes import HELP, lifecycle
from wholebody.processes.launch_plan import LaunchPlan
from wholebody.processes.registry import DAEMON, WALK, process_of
from wholebody.robots.robot import Array
from wholebody.simulation import AnkleFlexibility, Pace, SensorModel, Simulation, join
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
