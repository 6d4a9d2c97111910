"""wholebody status, read: how a robot and its controllers are doing, at a glance or joint by joint."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from wholebody.channels import directory
from wholebody.cli import options
from wholebody.drivers.names import Names
from wholebody.errors import MissingExtra, NoRobot
from wholebody.operator.monitor.status_view import Picture, seconds
from wholebody.operator.monitor.tables import (
    controller_table,
    event_table,
    headline,
    joint_table,
    refusal_table,
    sensor_table,
    stage_table,
    whole_body_table,
    whole_body_views,
    wide_console,
)
from wholebody.operator.monitor.watcher import Watcher
from wholebody.processes import lifecycle
from wholebody.processes.registry import GUARD, OWNERS, nothing_runs, plan_of, process_of, running


def status(
    name: options.Name = "",
    as_json: options.Json = False,
) -> None:
    """Say how the robot's daemon is doing: ticks, missed cycles, controllers, what was refused, how long it all takes.

    And how controllers do that `wholebody run` has started, with a daemon or without. Exit code 1 if nothing runs.
    """
    watcher = Watcher(name)
    loops = whole_body_views(watcher.names.robot)
    try:
        picture = watcher.look()
    except NoRobot:
        if as_json:
            print(json.dumps({"name": watcher.names.robot, "running": False, "whole_body": [asdict(x) for x in loops]}))
        elif loops:
            wide_console().print(whole_body_table(loops))
        if as_json or loops:
            raise typer.Exit(0 if loops else 1) from None
        raise
    processes = {role.name: process_of(role, picture.name) for role in OWNERS}
    processes |= {each.role: each.process for each in running(picture.name)}
    if as_json:
        print(json.dumps({**as_object(picture, processes), "whole_body": [asdict(each) for each in loops]}))
    else:
        show_status(picture, processes)
        if loops:
            wide_console().print(whole_body_table(loops))
    if picture.process is None and not loops:
        raise typer.Exit(1)


def as_object(picture: Picture, processes: dict[str, int | None]) -> dict[str, object]:
    """The daemon's part of a picture, as JSON has it."""
    whole = asdict(picture)
    parts = {key: value for key, value in whole.items() if key not in ("joints", "sensors")}
    return {"running": picture.process is not None, "processes": processes, "faults": dict(picture.faults), **parts}


def show_status(picture: Picture, processes: dict[str, int | None]) -> None:
    """Print it."""
    console = wide_console()
    if picture.process is None:
        console.print(f"{nothing_runs(picture.name)}\n(its last state came {seconds(picture.silent)} ago)")
        if picture.events:
            console.print("", event_table(picture.events))
        return
    console.print(headline(picture))
    table = Table(box=None, show_header=False, pad_edge=False)
    if picture.fallen:
        table.add_row("fallen", picture.fallen.removeprefix("the robot has fallen: "))
    table.add_row("name", picture.name)
    table.add_row("behind it", picture.behind)
    for role, process in processes.items():
        if process is not None:
            table.add_row(role, f"process {process}")
    plan = plan_of(picture.name)
    if plan is not None and plan.guarded and processes.get(GUARD.name) is None:
        table.add_row(GUARD.name, "none: nothing stops the device if the daemon hangs; start the robot again")
    if buttons := directory.writers(Names(picture.name).stop):
        table.add_row("stopped by", ", ".join(f"process {each}" for each in buttons))
    table.add_row("up", seconds(picture.uptime))
    table.add_row("ticks", f"{picture.tick}, every {1000 * picture.period:g} ms, {picture.missed} missed")
    for number, each in enumerate(picture.troubles):
        table.add_row("" if number else "trouble", Text(each, style="bold red"))
    table.add_row("faults", ", ".join(f"{joint} ({what})" for joint, what in picture.faults) or "none")
    lost = lifecycle.is_log_lost(picture.name)
    log = f"{lifecycle.log_file(picture.name)}{', but its disk is full: what is said now is lost' if lost else ''}"
    table.add_row("log", Text(log, style="bold red" if lost else ""))
    console.print(table)
    for title, part, some in _parts(picture):
        console.print()
        console.print(part if some else f"{title}: none")


def _parts(picture: Picture) -> Iterator[tuple[str, Table, bool]]:
    """Tables of what controllers do, each with its title and whether anything is in it."""
    yield "controllers", controller_table(picture.controllers), bool(picture.controllers)
    yield "refused", refusal_table(picture.refusals), any(picture.refusals.values())
    yield "events", event_table(picture.events), bool(picture.events)
    yield "stages", stage_table(picture.stages), bool(picture.stages)


def read(
    name: options.Name = "",
    once: options.Once = False,
    as_json: options.Json = False,
    group: Annotated[
        str, typer.Option("--joints", metavar="GROUP", help="Only the joints of this group, such as right_arm.")
    ] = "",
) -> None:
    """Watch a robot: every joint, sensor and fault, who moves what, and how long the daemon's cycle takes.

    --json goes with --once. Into a file or a pipe it prints once, too.
    """
    watcher = Watcher(name)
    if as_json and not once:
        raise typer.BadParameter("--json goes with --once; to follow the state: wholebody channels echo robot.state")
    if as_json:
        picture = watcher.look()
        print(json.dumps({**asdict(picture), "condition": picture.condition}))
    elif once or not sys.stdout.isatty():
        show(watcher, group)
    else:
        try:
            from wholebody.operator.monitor.screen import Screen
        except ModuleNotFoundError as error:
            if not (error.name or "").startswith("textual"):
                raise
            raise MissingExtra("textual", "screen") from error
        os.nice(10)  # who watches must not slow down what is watched
        Screen(watcher, group).run()


def show(watcher: Watcher, group: str) -> None:
    """Print everything once."""
    picture, console = watcher.look(), wide_console()
    console.print(headline(picture))
    console.print(joint_table(joint for joint in picture.joints if group in ("", joint.group)))
    for kind in ("imu", "force_torque"):
        if any(sensor.kind == kind for sensor in picture.sensors):
            console.print("", sensor_table(picture.sensors, kind))
    for joint, faults in picture.faults:
        console.print(f"[red]{joint}: {faults}[/]")
    for _, part, some in _parts(picture):
        if some:
            console.print("", part)
