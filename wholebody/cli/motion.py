"""wholebody motion: check, draw, resample and play motions in files, of key frames or of a row per period."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from wholebody import messages, robots
from wholebody.cli import options
from wholebody.cli.captured import capture, gait, imitate, show_rests, support
from wholebody.cli.sim import Summary
from wholebody.drivers import connect
from wholebody.errors import BadMotionFile, LimitsExceeded, WrongRecord
from wholebody.kinematics import Collisions
from wholebody.motion import JointTable, KeyFrames, Limits, Plan, Trajectory, files, plan, play, plot
from wholebody.motion.files import writable
from wholebody.motion.playback import Played, posture_of
from wholebody.robots import Robot
from wholebody.simulation import Simulation
from wholebody.simulation.film import Recording

app = typer.Typer(
    no_args_is_help=True,
    help="Check, draw, resample and play motion files, such as examples/wave.yaml; imitate captured motions.",
)
app.command()(capture)
app.command()(imitate)
app.command()(gait)
app.command()(support)

Motion = Annotated[Path, typer.Argument(help="Key frames (.yaml), or a trajectory: one row per period.")]


@app.command()
def check(
    file: Motion,
    robot: options.Robot = "",
    rest: options.Rest = "",
    period: Annotated[float | None, options.Period] = None,
    acceleration: options.Acceleration = np.inf,
    collisions: options.Collisions = True,
) -> None:
    """Say whether a robot can do a motion: limits of joints, self-collision, rest on what bears. If not, exit with 1.

    wholebody motion check examples/wave.yaml
    """
    motion, machine = opened(file, robot, rest, period)
    limits = Limits.of(machine, acceleration=acceleration)
    with waiting("checking"):
        found = motion.violations(limits, Collisions(machine) if collisions else None)
    if found:
        raise LimitsExceeded(str(file), found)
    show(motion, machine, limits)
    if isinstance(motion, KeyFrames):
        show_rests(motion)
    Console(highlight=False).print("[bold green]playable[/]" + ("" if collisions else " (collisions not looked at)"))


@app.command("plot")
def draw(
    file: Motion,
    out: Annotated[Path, options.Out] = Path("motion.png"),
    robot: options.Robot = "",
    rest: options.Rest = "",
    period: Annotated[float | None, options.Period] = None,
    joints: Annotated[list[str] | None, typer.Option("--joint", help="Which; may be repeated. All that move.")] = None,
) -> None:
    """Draw positions and velocities over time, beside their limits.

    wholebody motion plot examples/wave.yaml -o wave.png
    """
    motion, machine = opened(file, robot, rest, period)
    shown = motion if isinstance(motion, JointTable) else motion.trajectory()
    writable(out)
    with waiting("drawing"):
        plot(shown, Limits.of(machine), out, joints=joints, title=f"{machine.title or machine.name}: {file.name}")
    print(f"written: {out}")


@app.command()
def resample(
    file: Motion,
    output: Annotated[Path, typer.Argument(help="Trajectory file to write.")],
    rate: Annotated[float, options.Rate] = 200.0,
    robot: options.Robot = "",
    rest: options.Rest = "",
    period: Annotated[float | None, options.Period] = None,
) -> None:
    """Write a motion as a trajectory file: key frames as rows, or rows at another rate.

    wholebody motion resample examples/wave.yaml wave.traj --rate 200
    """
    motion, machine = opened(file, robot, rest, period)
    if output.suffix.lower() in files.KEY_FRAMES:
        raise BadMotionFile(f"{output} would be taken for key frames; name a trajectory file otherwise, as wave.traj")
    writable(output)
    if isinstance(motion, JointTable):
        table = motion.resampled(1 / rate)
    else:
        table = JointTable.of(motion.trajectory(), machine.joint_names, 1 / rate, machine.name)
    table.write(output)
    print(f"written: {output}: {len(table.positions)} rows of {len(table.names)} joints, {table.duration:g} s")


@app.command("play")
def play_file(
    file: Motion,
    robot: options.Robot = "",
    rest: options.Rest = "",
    period: Annotated[float | None, options.Period] = None,
    physics: Annotated[bool, options.Physics] = True,
    posture: Annotated[str | None, options.Posture] = None,
    out: Annotated[Path | None, options.Out] = None,
    acceleration: options.Acceleration = np.inf,
    collisions: options.Collisions = True,
    live: Annotated[bool, typer.Option("--live", help="On the robot that runs (wholebody start), not here.")] = False,
    name: options.Name = "",
) -> None:
    """Play a motion, in a simulator of its own or live, from wherever the robot is; what it cannot do is refused.

    It begins in --posture; --out makes a film (.mp4) or a filmstrip (.png).

    wholebody motion play examples/wave.yaml --out wave.mp4

    wholebody motion play examples/wave.yaml --live
    """
    motion, machine = opened(file, robot, rest, period)
    limits = Limits.of(machine, acceleration=acceleration)
    with waiting("checking"):
        checker = Collisions(machine) if collisions else None
        found = motion.violations(limits, checker)
    if found:
        raise LimitsExceeded(str(file), found)
    if live:
        played = play_live(motion.trajectory(), machine, limits, checker, name)
        tell(file, machine, played, "[bold green]holds its end[/]")
        return
    with Simulation(machine, physics=physics, posture=posture) as simulation:
        state, reference = simulation.new_state(), simulation.new_reference()
        simulation.read(state)
        whole = plan(motion.trajectory(), posture_of(state), limits, simulation.period)
        with watched(simulation, whole, out) as clock:
            played = play(motion.trajectory(), simulation, clock, state, reference, limits, checker=checker)
    fell = physics and clock.summary.fell
    moved = f"{1000 * clock.summary.drift:.0f} mm at most"
    tell(file, machine, played, "[bold red]fell[/]" if fell else "[bold green]holds its end[/]", moved)
    if out is not None:
        print(f"written: {out} ({out.stat().st_size / 1024:.0f} KiB)")
    if fell:
        raise typer.Exit(1)


def play_live(trajectory: Trajectory, machine: Robot, limits: Limits, checker: Collisions | None, name: str) -> Played:
    """Play through the daemon."""
    with connect("play", name) as robot:
        if robot.joints != machine.joint_names:
            raise WrongRecord(f"this motion is for {machine.name}, and the robot that runs has other joints")
        state, reference = messages.new(machine.state_dtype()), messages.new(machine.reference_dtype())
        with waiting("playing"):
            return play(trajectory, robot, robot, state, reference, limits, checker=checker)


def tell(file: Path, machine: Robot, played: Played, verdict: str, moved: str = "") -> None:
    """Print how it went."""
    console = Console(highlight=False)
    console.print(f"[bold]{machine.title or machine.name}[/] played {file}, and {verdict}")
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_row("to where it begins", f"{played.approach:.2f} s")
    table.add_row("motion", f"{played.motion:.2f} s")
    table.add_row("behind its reference", f"{played.worst_error:.3f} rad at most, joint {played.worst_joint}")
    table.add_row("at the end", f"{played.final_error:.3f} rad")
    if moved:
        table.add_row("centre of mass moved", moved)
    console.print(table)


class Watched:
    """The simulation's clock, which looks at each beat how it goes, films it and shows how far it is."""

    def __init__(self, simulation: Simulation, recording: Recording | None, bar: Progress, task: TaskID) -> None:
        self._simulation, self._recording, self._bar, self._task = simulation, recording, bar, task
        self.summary = Summary.begin(simulation)

    @property
    def period(self) -> float:
        """Seconds from one beat to the next."""
        return self._simulation.period

    @property
    def missed(self) -> int:
        """None: simulated time waits."""
        return self._simulation.missed

    def tick(self) -> float:
        """Let one control period go by."""
        now = self._simulation.tick()
        if self._recording is not None:
            self._recording.look(self._simulation)
        beat = round(now / self.period)
        if beat % 4 == 0:
            self.summary.look(self._simulation)
        if beat % 40 == 0:
            self._bar.update(self._task, completed=now)
        return now


@contextmanager
def watched(simulation: Simulation, whole: Plan, film: Path | None) -> Iterator[Watched]:
    """A clock for a motion; in a terminal, a bar shows how far it is."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with ExitStack() as stack:
        recording = None if film is None else stack.enter_context(Recording(film, whole.duration))
        bar = stack.enter_context(Progress(*columns, console=console, transient=True, disable=not console.is_terminal))
        yield Watched(simulation, recording, bar, bar.add_task("playing", total=whole.duration))


def opened(file: Path, robot: str, rest: str, period: float | None) -> tuple[KeyFrames | JointTable, Robot]:
    """The motion in a file, and the robot it is for."""
    machine = robots.load(robot or files.robot_named_in(file))
    return files.read(file, machine, rest, period), machine


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Say what takes a while, as long as it does; nothing where nobody looks."""
    with Console(stderr=True).status(what):
        yield


def show(motion: KeyFrames | JointTable, robot: Robot, limits: Limits) -> None:
    """Print what a motion does, and what it uses of the robot's limits."""
    rows = len(motion.positions) if isinstance(motion, JointTable) else len(motion.frames)
    what = "rows" if isinstance(motion, JointTable) else "key frames"
    console = Console(highlight=False)
    if rows < 2:
        console.print(f"[bold]{motion.source}[/] is one posture of {robot.title or robot.name}")
        return
    trajectory = motion.trajectory()
    now = trajectory.sample(np.linspace(0.0, trajectory.duration, 1000))
    console.print(
        f"[bold]{motion.source}[/] moves {robot.title or robot.name} for {trajectory.duration:g} s: {rows} {what}"
    )
    table = Table("joint", "from … to", "fastest", "of its limit", box=None, pad_edge=False)
    for joint in np.flatnonzero(np.ptp(now.position, axis=0) > 1e-6):
        speed = float(np.abs(now.velocity[:, joint]).max())
        low, high = now.position[:, joint].min(), now.position[:, joint].max()
        table.add_row(
            robot.joint_names[joint],
            f"{low:.3f} … {high:.3f}",
            f"{speed:.2f} /s",
            f"{speed / limits.velocity[joint]:.0%}",
        )
    console.print(table)
