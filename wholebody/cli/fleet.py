"""wholebody fleet: the robots of several machines in one table and on one page, and STOP ALL."""

from __future__ import annotations

import contextlib
import sys
import threading
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

from wholebody.cli import options
from wholebody.operator.fleet import Fleet, page
from wholebody.realtime import when_told

EVERY = 0.5


def fleet(
    hosts: Annotated[
        list[str] | None, typer.Argument(metavar="[HOST …]", help="Machines on which `wholebody process host` runs.")
    ] = None,
    stop: Annotated[bool, typer.Option("--stop", help="STOP ALL: stop every robot at once, and end.")] = False,
    once: options.Once = False,
    port: options.Port = 0,
) -> None:
    """Show the robots of this machine and of others in one table, and on one page; stop them all at once.

    \b
      wholebody fleet robot1.lab robot2.lab --port 8088
      wholebody fleet robot1.lab robot2.lab --stop

    Their machines are mirrored as by `wholebody remote`. A robot whose machine does not answer is shown as lost; the
    others go on. Exit code 1 if a robot could not be stopped.
    """
    ended = threading.Event()
    with when_told(ended.set), Fleet(hosts or []) as robots, contextlib.ExitStack() as stack:
        robots.until_heard()
        if stop:
            raise typer.Exit(stop_all(robots))
        if once:
            Console().print(table(robots))
            return
        print(f"the fleet's page: http://127.0.0.1:{stack.enter_context(page(robots, port))}", flush=True)
        with Live(table(robots), console=Console(), auto_refresh=False) as live:
            while not ended.wait(EVERY):
                live.update(table(robots), refresh=True)


def stop_all(robots: Fleet) -> int:
    """Stop them, a line each; 1 if one was not reached."""
    reached = robots.stop_all()
    for name, done in reached.items():
        print(f"{name}: {'stopped' if done else 'NOT REACHED'}")
    for where in robots.silent:
        print(f"no word from {where}: its robots were NOT REACHED", file=sys.stderr)
    return 0 if all(reached.values()) and not robots.silent else 1


def table(robots: Fleet) -> Table:
    """The fleet, a row each."""
    rows = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for title in ("robot", "where", "condition", "Hz", "missed", "dropped", "controllers"):
        rows.add_column(title, justify="right" if title in ("Hz", "missed", "dropped") else "left", no_wrap=True)
    for each in robots.members():
        colour = "green" if each.well else "red"
        numbers = (f"{each.rate:.0f}", str(each.missed), str(each.dropped))
        rows.add_row(
            each.name, each.where, f"[{colour}]{each.condition}[/]", *numbers, " ".join(each.controllers) or "–"
        )
    for where in robots.silent:
        rows.add_row("?", where, "[red]no word[/]")
    for why in robots.refused:
        rows.add_row("?", why)
    return rows
