"""wholebody foxglove: the running robot live in Foxglove."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from wholebody import security
from wholebody.cli import options as cli
from wholebody.operator.foxglove.bridge import FoxgloveBridge, FoxgloveOptions, layout
from wholebody.operator.foxglove.link import PORT
from wholebody.operator.ros.velocity import TIMEOUT
from wholebody.realtime import until_told


def foxglove(
    name: cli.Name = "",
    host: cli.Host = "127.0.0.1",
    port: cli.Port = PORT,
    rate: cli.Transforms = 50.0,
    timeout: cli.VelocityTimeout = TIMEOUT,
    layout_file: Annotated[
        Path | None,
        typer.Option("--layout", metavar="FILE", help="Write a layout for it, to be imported there."),
    ] = None,
    robot: cli.Robot = "",
    insecure: cli.Insecure = False,
) -> None:
    """Show the robot live in Foxglove, and take velocities, trajectories and parameters from there.

    \b
      $ wholebody start
      $ wholebody foxglove --layout robot.json
      in Foxglove: Open connection, Foxglove WebSocket, ws://127.0.0.1:8765; Layouts, Import from file

    A log of `wholebody log` opens there as a file and shows the same.
    """
    security.check_listening("Foxglove's server", host, lacks=("TLS", "a token"), insecure=insecure, keys_help=False)
    console, goes_on = Console(highlight=False, soft_wrap=True), until_told()
    options = FoxgloveOptions(name, robot, host, port, rate, timeout)
    with FoxgloveBridge(options, lambda text: console.print(f"[yellow]{text}[/]")) as bridge:
        if layout_file is not None:
            layout_file.write_text(layout(bridge.robot.name))
            console.print(f"{layout_file}: a layout; in Foxglove: Layouts, Import from file")
        console.print(f"Foxglove finds '{bridge.robot.name}' at ws://{host}:{bridge.server.port}; Ctrl-C ends it")
        bridge.run(goes_on)
