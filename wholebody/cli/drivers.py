"""`wholebody drivers`: what can move a robot, with which options, and whether a driver keeps the laws of drivers."""

from __future__ import annotations

import signal
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from wholebody import robots
from wholebody.drivers import catalog
from wholebody.errors import WholebodyError

app = typer.Typer(help="What moves a robot: drivers, and whether one keeps their laws.", invoke_without_command=True)
console = Console(highlight=False, soft_wrap=True)


@app.callback()
def listing(context: typer.Context) -> None:
    """List the drivers that are installed: name, what it is, where it comes from, options with units."""
    if context.invoked_subcommand is not None:
        return
    for name in catalog.names():
        try:
            show(catalog.find(name))
        except (WholebodyError, ImportError) as error:
            console.print(f"[bold]{name}[/]  [red]{escape(str(error))}[/]")
    console.print("\n[bold]path/to/file.py:Class[/]  a driver of your own: docs/robot_layer.md")
    console.print("\ntiers, which are names for drivers in a robot's description:")
    for name in robots.names():
        tiers = robots.load(name).drivers
        console.print(f"  {name}: {', '.join(f'{tier} = {driver}' for tier, driver in tiers.items())}", markup=False)


def show(driver: catalog.Driver) -> None:
    """Print one."""
    console.print(f"[bold]{driver.name}[/]  {escape(driver.what)}  [dim]({escape(driver.source)})[/]")
    for option in driver.options.values():
        console.print(f"    {option!s:<28}{option.meaning}", markup=False)


@app.command()
def check(
    driver: Annotated[str, typer.Argument(metavar="NAME[:OPTION=VALUE,…]", help="A driver, or FILE.py:Class.")],
    robot: Annotated[str, typer.Option(help="By name or file; the driver's usual one, if left out.")] = "",
    move: Annotated[
        list[str] | None, typer.Option(metavar="JOINT,…", help="Move these joints by up to 0.05 rad, one by one.")
    ] = None,
    period: Annotated[float, typer.Option(min=0.0001, max=1.0, help="Of the loop, in seconds.")] = 0.005,
    seconds: Annotated[float, typer.Option(min=0.1, help="How long to hold still and look.")] = 1.0,
    name: Annotated[str, typer.Option(help="Of a running robot, for the driver daemon.")] = "",
) -> None:
    """Take a robot by a driver, and say of each law of drivers whether it is kept. Exit code 1 if one is not.

    Without --move a real robot is read, and what was measured is written back. A simulated device moves.
    """
    from wholebody.processes.driver_check import check_driver

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # let the robot go in order
    joints = [joint for each in move or () for joint in each.replace(",", " ").split()]
    kept = broken = 0
    for verdict in check_driver(driver, robot, period=period, joints=joints, seconds=seconds, name=name):
        word = "[green]passed[/]" if verdict.passed else "[red]failed[/]"
        console.print(f"{word}  {escape(f'{verdict.law:<14}')}  {escape(verdict.figure)}")
        if not verdict.passed:
            console.print(f"        {escape(verdict.remedy)}")
        kept, broken = kept + verdict.passed, broken + (not verdict.passed)
    console.print(f"{kept} laws kept, {broken} broken")
    if broken:
        raise typer.Exit(1)
