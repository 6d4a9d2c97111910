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
from wholebody.cli.people import reception
from wholebody.cli.people.desk_place import DeskPlace
from wholebody.cli.people.walking_body import WalkingBody
from wholebody.collaboration.rcp.desk import Desk, Rules
from wholebody.collaboration.rcp.server import LOCAL, PORT, Server
from wholebody.collaboration.rcp.users import Users


def rcp(
    name: reception.NameOption = "",
    host: reception.HostOption = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 for any that is free.")] = PORT,
    users: reception.UsersOption = None,
    map: reception.MapOption = None,
    certificate: reception.CertificateOption = None,
    key: reception.KeyOption = None,
    walk: reception.WalkOption = True,
    camera: reception.CameraOption = True,
    control_timeout: Annotated[
        float, typer.Option(min=0.5, help="Seconds of silence after which control is lost, and the robot stops.")
    ] = 30.0,
    robot: reception.RobotOption = "",
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
        line, secret = reception.new_user(new_user, role)
        print(line)
        print(f"the secret of {new_user}, which is kept nowhere: {secret}", file=sys.stderr)
        return
    which = reception.robot_of(name, robot)
    body = WalkingBody(robots.load(which), name, reception.map_of(name, map))
    desk = Desk(body, Users(reception.users_of(users)), Rules(control_timeout=control_timeout))
    tls = reception.encryption(certificate, key)
    with (
        DeskPlace(name) as place,
        reception.controllers(name, which, walk),
        reception.camera(name, camera, pictures=False),
        contextlib.closing(body),
        contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError),
    ):
        asyncio.run(_serve(desk, host, port, tls, place))


async def _serve(desk: Desk, host: str, port: int, tls: ssl.SSLContext | None, place: DeskPlace) -> None:
    reception.end_when_told()
    async with Server(desk, host, port, tls) as server:
        place.announce(f"RCP at {host}:{server.port}")
        show(f"RCP is at {host}:{server.port}{', encrypted' if tls else ''}; Ctrl-C ends it", flush=True)
        if host not in LOCAL and not tls:
            show("[yellow]others on the network can connect, and what they say is not encrypted[/]", flush=True)
        await server.serve()
