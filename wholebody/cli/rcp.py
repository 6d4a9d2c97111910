"""wholebody rcp: talk to the running robot in lines of text, from any program, or with nc."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import sys
from typing import Annotated

import typer
from rich import print as show

from wholebody import robots
from wholebody.operator.rcp.command_server import Desk, Rules
from wholebody.operator.rcp.server import LOCAL, PORT, Server
from wholebody.operator.rcp.users import Users
from wholebody.operator.robot import options
from wholebody.operator.robot.options import DeskPlace
from wholebody.operator.robot.robot import WalkingBody
from wholebody.processes.registry import robot_of
from wholebody.realtime import cancel_when_told


def rcp(
    name: options.NameOption = "",
    host: options.HostOption = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 for any that is free.")] = PORT,
    users: options.UsersOption = None,
    map: options.MapOption = None,
    certificate: options.CertificateOption = None,
    key: options.KeyOption = None,
    walk: options.WalkOption = True,
    camera: options.CameraOption = True,
    control_timeout: Annotated[
        float, typer.Option(min=0.5, help="Seconds of silence after which control is lost, and the robot stops.")
    ] = 30.0,
    robot: options.RobotOption = "",
    new_user: Annotated[str, typer.Option(metavar="USER", help="Print a line for the file of users, and end.")] = "",
    role: Annotated[str, typer.Option(help="Of the new user: observer, operator, administrator.")] = "operator",
) -> None:
    """Let people and programs command the running robot, one line one command; docs/rcp.md has all of them.

    \b
      $ wholebody start
      $ wholebody rcp &
      $ nc 127.0.0.1 7878
      CONNECT operator
      CONTROL BEGIN
      MOVE WALKING FORWARD 3 STEPS

    Without a file of users, whoever connects from this machine may control the robot, and nobody else.
    """
    if new_user:
        line, secret = options.new_user(new_user, role)
        print(line)
        print(f"the secret of {new_user}, which is kept nowhere: {secret}", file=sys.stderr)
        return
    which = robot or robot_of(name)
    body = WalkingBody(robots.load(which), name, options.map_of(name, map))
    desk = Desk(body, Users(options.users_of(users)), Rules(control_timeout=control_timeout))
    tls = options.encryption(certificate, key)
    with (
        DeskPlace(name) as place,
        options.controllers(name, which, walk),
        options.camera(name, camera, pictures=False),
        contextlib.closing(body),
        contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError),
    ):
        asyncio.run(_serve(desk, host, port, tls, place))


async def _serve(desk: Desk, host: str, port: int, tls: ssl.SSLContext | None, place: DeskPlace) -> None:
    cancel_when_told()
    async with Server(desk, host, port, tls) as server:
        place.announce(f"RCP at {host}:{server.port}")
        show(f"RCP is at {host}:{server.port}{', encrypted' if tls else ''}; Ctrl-C ends it", flush=True)
        if host not in LOCAL and not tls:
            show("[yellow]others on the network can connect, and what they say is not encrypted[/]", flush=True)
        await server.serve()
