"""wholebody robots, wholebody drivers: which robots there are and what is known of them, and what can move them."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Annotated

import numpy as np
import numpy.typing as npt
import typer
from rich.color import Color
from rich.columns import Columns
from rich.console import Console
from rich.markup import escape
from rich.status import Status
from rich.style import Style
from rich.table import Table
from rich.text import Text

from wholebody import robots
from wholebody.cli import options
from wholebody.drivers import catalog
from wholebody.errors import BadRobot, WholebodyError
from wholebody.realtime import when_told
from wholebody.robots import geometry, packages
from wholebody.robots.formats.mjcf_writer import write_mjcf
from wholebody.robots.formats.urdf import write_urdf
from wholebody.robots.packages import PACKAGED

console = Console(highlight=False, soft_wrap=True)
app = typer.Typer(help="Which robots there are.", invoke_without_command=True)


@app.callback()
def listing(
    context: typer.Context,
    pictures: Annotated[
        bool, typer.Option("--pictures", help="Show what they look like, here in the terminal.")
    ] = False,
) -> None:
    """List the robots that are installed."""
    if context.invoked_subcommand is not None:
        return
    if pictures:
        _show_pictures(Console())
        return
    table = Table("name", "robot", "joints", "mass", "height", box=None, pad_edge=False)
    for name in robots.names():
        try:
            robot = robots.load(name)
        except BadRobot as error:
            table.add_row(name, f"[red]{error}[/red]")
            continue
        size = f"{geometry.height(robot):.2f} m"
        table.add_row(name, robot.title, str(len(robot.moving)), f"{robot.mass:.1f} kg", size)
    console = Console()
    console.print(table)
    console.print("\n[dim]wholebody robots add: robots of today, by other packages[/dim]")
    console.print("[dim]wholebody robots show NAME: joints, sensors, source and gaps of one[/dim]")
    console.print("[dim]wholebody robots --pictures, wholebody robots picture: what they look like[/dim]")


def _show_pictures(console: Console) -> None:
    """Draw each robot in its stance, in colour, with two dots of the picture to a character."""
    from wholebody.simulation.film import portrait

    width, height = 26, 44
    cells = []
    with console.status("drawing"):
        for name in robots.names():
            image = portrait(robots.load(name), ("stand",), 8 * width, 8 * height)
            small = image.reshape(height, 8, width, 8, 3).mean(axis=(1, 3)).astype(int)
            text = Text(no_wrap=True)
            for above, below in zip(small[::2], small[1::2], strict=True):
                for top, bottom in zip(above, below, strict=True):
                    text.append("▀", Style(color=_colour(top), bgcolor=_colour(bottom)))
                text.append("\n")
            cells.append(text.append(name, "bold"))
    console.print(Columns(cells, padding=(1, 1)))


def _colour(rgb: npt.NDArray[np.int_]) -> Color:
    red, green, blue = (int(value) for value in rgb)
    return Color.from_rgb(red, green, blue)


@app.command()
def picture(
    names: Annotated[
        list[str] | None, typer.Argument(help="Names or paths; without any, all that are installed.")
    ] = None,
    out: Annotated[Path, options.Out] = Path("robots.png"),
    posture: Annotated[str, options.Posture] = "stand",
) -> None:
    """Draw robots in a posture into one picture."""
    from wholebody.simulation.film import portrait, side_by_side, write_png

    with Console(stderr=True).status("drawing"):
        images = [portrait(robots.load(name), (posture,)) for name in names or robots.names()]
    write_png(out, side_by_side(images, columns=min(len(images), 4)))
    print(f"written: {out}")


@app.command()
def show(name: options.Which, repair: options.Repair = False) -> None:
    """Show all that is known of a robot, and what is missing, estimated or chosen."""
    with _reading(name):
        robot = robots.load(name, repair=repair)
    console = Console()
    console.print(f"[bold]{robot.title or robot.name}[/bold]", highlight=False)
    console.print(_summary(robot), highlight=False)
    console.print(_joints(robot))
    for group, members in robot.groups.items():
        console.print(f"[bold]{group}[/bold]  {' '.join(members)}", highlight=False)
    _parts(console, robot)
    for coupling in robot.couplings:
        console.print(
            f"[bold]coupled[/bold]  {coupling.slave} = {coupling.ratio:g} × {coupling.master}", highlight=False
        )
    for joint in robot.joints:
        if joint.mimic is not None:
            text = f"{joint.name} = {joint.mimic.ratio:g} × {joint.mimic.of} + {joint.mimic.offset:g}"
            console.print(f"[bold]follows[/bold]  {text}", highlight=False)
    console.print(f"[bold]postures[/bold]  {' '.join(robot.postures) or 'none'}", highlight=False)
    console.print(f"[bold]source[/bold]  {robot.source or 'not said'}", highlight=False)
    if robot.inferred:
        console.print("[bold]inferred[/bold]")
        console.print(_inferred(robot))
    if robot.gaps:
        console.print("[bold]missing, estimated or chosen[/bold]")
        for gap in robot.gaps:
            console.print(f"  - {gap}", highlight=False)


@app.command()
def adopt(
    file: Annotated[Path, typer.Argument(help="A URDF or MJCF of any humanoid.")],
    out: Annotated[Path | None, options.Out] = None,
    repair: options.Repair = False,
    force: options.Force = False,
) -> None:
    """Say what a robot's file does not say and was inferred, draw it, and write a YAML to change what is wrong."""
    from wholebody.robots.adoption import adopted
    from wholebody.simulation.film import portrait, write_png

    out = file.with_suffix(".yaml") if out is None else out
    if out.exists() and not force:
        raise BadRobot(f"{out} is there already: change that, name another (--out), or write over it (--force)")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*lacks what is dangerous to lack")
        robot = robots.load(file, repair=repair)
    if not robot.inferred:
        raise BadRobot(f"{file} is no URDF and no MJCF; nothing is inferred of other files")
    console = Console(soft_wrap=True)
    console.print(f"[bold]{robot.title or robot.name}[/bold]: {_summary(robot)}", highlight=False)
    console.print(_inferred(robot))
    for each in robots.findings(file, repair=repair):
        if each.danger:
            console.print(f"[yellow]{each}[/]", highlight=False)
    try:
        out.write_text(adopted(robot, file, out, repair), encoding="utf-8")
        write_png(out.with_suffix(".png"), portrait(robot, ("stand",)))
    except OSError as error:
        raise BadRobot(f"{out} cannot be written: {error.strerror}") from error
    console.print(f"written: {out}, {out.with_suffix('.png')}", highlight=False)
    lost = next((each.reason for each in robot.inferred if each.what == "legs"), "")
    end = f"[yellow]it cannot walk: {lost}[/]" if lost else f"[dim]wholebody walk {out}[/dim]"
    console.print(end, highlight=False)


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="g1, t1, h1, talos …; without it, all are listed.")] = "",
    out: Annotated[Path | None, options.Out] = None,
    force: options.Force = False,
) -> None:
    """Use a robot of today whose file another package brings, or say which to install; nothing is copied.

    Writes NAME.yaml on top of that file, to be read and changed, as `adopt` does.
    """
    if name:
        adopt(packages.file_of(name), Path(f"{name}.yaml") if out is None else out, PACKAGED[name].repair, force)
        console.print(f"[dim]wholebody walk {name} takes the file as it is, in any folder[/]")
        return
    table = Table("name", "robot", "file", box=None, pad_edge=False)
    for each, robot in PACKAGED.items():
        there = f"[green]installed with {robot.package}[/]" if robot.file else robot.command
        table.add_row(each, robot.title, there)
    console.print(table)


def _inferred(robot: robots.Robot) -> Table:
    """What was inferred, from what, and how sure that is."""
    table = Table("what", "found", "sure", "from", box=None, pad_edge=False)
    for each in robot.inferred:
        colour = "green" if each.confidence >= 0.8 else "yellow" if each.confidence >= 0.5 else "red"
        table.add_row(each.what, escape(each.found), f"[{colour}]{100 * each.confidence:.0f} %[/]", escape(each.reason))
    return table


@app.command("check")
def check_robot(
    name: options.Which,
    repair: options.Repair = False,
    samples: Annotated[int, typer.Option(help="Postures in which to look for links that jam on each other.")] = 500,
) -> None:
    """Say what a robot's file lacks or says wrongly, what is assumed instead, and the remedy; exit 1 on danger."""
    from wholebody.simulation.jamming import jams

    console = Console(soft_wrap=True)
    with _reading(name) as status, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*lacks what is dangerous to lack")
        found = list(robots.findings(name, repair=repair))
        robot = robots.load(name, repair=repair)
        status.update("looking for links that jam")
        found += [jam.finding for jam in jams(robot, samples)]
    table = Table("", "what", box=None, pad_edge=False)
    for heading in ("where", "assumed", "remedy"):
        table.add_column(heading, overflow="fold")
    for each in found:
        word = "[red]danger[/]" if each.danger else "[dim]note[/]"
        table.add_row(word, each.what, _where(each.where), each.assumed, each.remedy)
    if found:
        console.print(table)
    dangers = sum(each.danger for each in found)
    console.print(f"{robot.name}: {dangers} dangers, {len(found) - dangers} notes", highlight=False)
    if dangers:
        raise typer.Exit(1)


def _reading(name: str) -> Status:
    """What is to be seen while a file is read, which takes seconds if it has large meshes."""
    return Console(stderr=True).status(f"reading {name}")


def _where(names: tuple[str, ...]) -> str:
    """Names of joints or links, of many the first few."""
    return ", ".join(names) if len(names) < 6 else f"{len(names)}: {', '.join(names[:3])} …"


@app.command()
def export(
    name: options.Which,
    urdf: Annotated[Path | None, typer.Option(help="Write a URDF to this file.")] = None,
    mjcf: Annotated[Path | None, typer.Option(help="Write an MJCF, as MuJoCo reads it, to this file.")] = None,
    repair: options.Repair = False,
) -> None:
    """Write a robot as URDF or MJCF, for other tools."""
    if urdf is None and mjcf is None:
        raise BadRobot("say what to write: --urdf FILE, --mjcf FILE, or both")
    with _reading(name):
        robot = robots.load(name, repair=repair)
    for path, write in ((urdf, write_urdf), (mjcf, write_mjcf)):
        if path is not None:
            path.write_text(write(robot))
            print(f"wrote {path}")


def _summary(robot: robots.Robot) -> str:
    published = f" (published: {robot.published_mass:g} kg)" if robot.published_mass else ""
    actuated = sum(joint.actuated for joint in robot.moving)
    motors = "" if actuated == len(robot.moving) else f", {actuated} of them actuated"
    base = "floating base" if robot.floating else "bolted to the world"
    mass, height = f"{robot.mass:.2f} kg{published}", f"{geometry.height(robot):.2f} m"
    return f"{len(robot.moving)} joints{motors}; {len(robot.links)} links; {mass}; {height}; {base}"


def _joints(robot: robots.Robot) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("joint", no_wrap=True)
    for heading in ("range", "speed", "effort", "rotor", "kp", "kd"):
        table.add_column(heading, justify="right")
    for joint in robot.moving:
        turning = joint.kind != "prismatic"
        low, high = (math.degrees(value) if turning else value for value in (joint.lower, joint.upper))
        reach = "no limits" if math.isinf(low) else f"{low:.4g} … {high:.4g} {'°' if turning else 'm'}"
        gain = robot.gains.get(joint.name)
        table.add_row(
            joint.name,
            reach,
            _limit(joint.velocity, "rad/s" if turning else "m/s"),
            _limit(joint.effort, "N·m" if turning else "N") if joint.actuated else "no motor",
            f"{joint.rotor_inertia:.2g} {'kg·m²' if turning else 'kg'}",
            *(("", "") if gain is None else (f"{gain.stiffness:g}", f"{gain.damping:g}")),
        )
    return table


def _limit(value: float, unit: str) -> str:
    return "no limit" if math.isinf(value) else f"{value:.3g} {unit}"


def _parts(console: Console, robot: robots.Robot) -> None:
    table = Table("surface or sensor", "kind", "link", "place", "size", box=None, pad_edge=False)
    for surface in robot.surfaces:
        length, width = (max(side) - min(side) for side in zip(*surface.outline, strict=True))
        table.add_row(surface.name, "contact", surface.link, _place(surface.at), f"{length:.3g} × {width:.3g} m")
    for sensor in robot.sensors:
        table.add_row(sensor.name, sensor.kind, sensor.link, _place(sensor.at), "")
    if table.row_count:
        console.print(table)


def _place(at: robots.Placement) -> str:
    return ", ".join(f"{value:.3g}" for value in at.xyz) + " m"


drivers = typer.Typer(help="What moves robots, and whether a driver keeps the laws.", invoke_without_command=True)


@drivers.callback()
def list_drivers(context: typer.Context) -> None:
    """List the drivers that are installed: name, what it is, where it comes from, options with units."""
    if context.invoked_subcommand is not None:
        return
    for name in catalog.names():
        try:
            show_driver(catalog.find(name))
        except (WholebodyError, ImportError) as error:
            console.print(f"[bold]{name}[/]  [red]{escape(str(error))}[/]")
    console.print("\n[bold]path/to/file.py:Class[/]  a driver of your own: docs/robot_layer.md")
    console.print("\ntiers, which are names for drivers in a robot's description:")
    for name in robots.names():
        tiers = robots.load(name).drivers
        console.print(f"  {name}: {', '.join(f'{tier} = {driver}' for tier, driver in tiers.items())}", markup=False)


def show_driver(driver: catalog.Driver) -> None:
    """Print one."""
    console.print(f"[bold]{driver.name}[/]  {escape(driver.what)}  [dim]({escape(driver.source)})[/]")
    stops = driver.watchdog or "no watchdog of its own; `wholebody start` begins a guard that stops it"
    console.print(f"    without a daemon: {stops}", markup=False)
    for option in driver.options.values():
        console.print(f"    {option!s:<28}{option.meaning}", markup=False)


@drivers.command()
def check(
    driver: Annotated[str, typer.Argument(metavar="NAME[:OPTION=VALUE,…]", help="A driver, or FILE.py:Class.")],
    robot: options.Robot = "",
    move: Annotated[
        list[str] | None, typer.Option(metavar="JOINT,…", help="Move these joints by up to 0.05 rad, one by one.")
    ] = None,
    period: Annotated[float, options.Period] = 0.005,
    seconds: options.Seconds = 1.0,
    name: options.Name = "",
) -> None:
    """Take a robot by a driver, and say of each law of drivers whether it is kept. Exit code 1 if one is not.

    The robot is the driver's usual one unless another is given, --name that of a running one for the driver daemon.
    It is held still for --seconds. Without --move a real robot is read, and what was measured is written back. A
    simulated device moves.
    """
    from wholebody.processes.driver_check import check_driver

    def leave() -> None:
        raise KeyboardInterrupt  # and let the robot go in order

    joints = [joint for each in move or () for joint in each.replace(",", " ").split()]
    kept = broken = 0
    with when_told(leave):
        for verdict in check_driver(driver, robot, period=period, joints=joints, seconds=seconds, name=name):
            word = "[green]passed[/]" if verdict.passed else "[red]failed[/]"
            console.print(f"{word}  {escape(f'{verdict.law:<14}')}  {escape(verdict.figure)}")
            if not verdict.passed:
                console.print(f"        {escape(verdict.remedy)}")
            kept, broken = kept + verdict.passed, broken + (not verdict.passed)
    console.print(f"{kept} laws kept, {broken} broken")
    if broken:
        raise typer.Exit(1)
