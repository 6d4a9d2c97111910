"""wholebody read: watch every joint, sensor, fault and rate of a robot, live or once."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import Annotated

import typer

from wholebody.errors import MissingExtra
from wholebody.operator.monitor.tables import (
    controller_table,
    event_table,
    headline,
    joint_table,
    refusal_table,
    sensor_table,
    stage_table,
    wide_console,
)
from wholebody.operator.monitor.watcher import Watcher


def read(
    name: Annotated[str, typer.Option(help="The robot's name, if it is not 'robot'.")] = "",
    once: Annotated[bool, typer.Option("--once", help="Print how it is now, and end.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --once: as one JSON object.")] = False,
    group: Annotated[str, typer.Option(help="Only the joints of this group, such as right_arm.")] = "",
) -> None:
    """Watch a robot: every joint, sensor and fault, who moves what, and how long the daemon's cycle takes."""
    watcher = Watcher(name)
    if as_json and not once:
        raise typer.BadParameter("--json goes with --once; to follow the state: wholebody channels echo robot.state")
    if as_json:
        picture = watcher.look()
        print(json.dumps({**asdict(picture), "condition": picture.condition}))
    elif once:
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
    if picture.controllers:
        console.print("", controller_table(picture.controllers))
    if any(picture.refusals.values()):
        console.print("", refusal_table(picture.refusals))
    if picture.events:
        console.print("", event_table(picture.events))
    if picture.stages:
        console.print("", stage_table(picture.stages))
