"""wholebody page: the running robot in a browser, to look at and to command."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import ssl
from typing import TYPE_CHECKING, Annotated

import typer
from rich import print as show

from wholebody import robots
from wholebody.cli import people
from wholebody.cli.desk_place import DeskPlace
from wholebody.cli.page_sight import PageSight
from wholebody.cli.walking_body import WalkingBody
from wholebody.collaboration.rcp.desk import Desk
from wholebody.collaboration.rcp.server import LOCAL, Server
from wholebody.collaboration.rcp.users import Role, User, Users

if TYPE_CHECKING:
    from wholebody.collaboration.page.server import PageServer

PORT = 8080
WHO = "operator"
"""The user that the address with the token is for."""


def page(
    name: people.NameOption = "",
    host: people.HostOption = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 for any that is free.")] = PORT,
    rcp: Annotated[int | None, typer.Option(help="Take lines of text there too (docs/rcp.md); 0 for any port.")] = None,
    users: people.UsersOption = None,
    map: people.MapOption = None,
    certificate: people.CertificateOption = None,
    key: people.KeyOption = None,
    walk: people.WalkOption = True,
    camera: people.CameraOption = True,
    robot: people.RobotOption = "",
) -> None:
    """Show the robot in a browser: where it is, what it sees and does; and command it.

    The address that is printed has a token, with which one may take control; without it one may look, and stop.
    """
    which = people.robot_of(name, robot)
    body = WalkingBody(robots.load(which), name, people.map_of(name, map))
    token = secrets.token_urlsafe(16)
    known = Users([User.new(WHO, Role.OPERATOR, token), *people.users_of(users)])
    desk, tls = Desk(body, known), people.encryption(certificate, key)
    with (
        DeskPlace(name) as place,
        people.controllers(name, which, walk),
        people.camera(name, camera),
        contextlib.closing(body),
        contextlib.suppress(KeyboardInterrupt),
    ):
        asyncio.run(_serve(PageSight(body, robots.load(which)), desk, (host, port, rcp), tls, token, place))


async def _serve(
    sight: PageSight,
    desk: Desk,
    where: tuple[str, int, int | None],
    tls: ssl.SSLContext | None,
    token: str,
    place: DeskPlace,
) -> None:
    from wholebody.collaboration.page.server import PageServer

    host, port, rcp = where
    async with contextlib.AsyncExitStack() as stack:
        server = await stack.enter_async_context(PageServer(sight, desk, host, port, tls))
        place.announce(f"the page at {server.address}")
        show(f"the page of '{sight.name}' is at {server.address}#token={token}", flush=True)
        if rcp is not None:
            lines = await stack.enter_async_context(Server(desk, host, rcp, tls))
            show(f"RCP is at {host}:{lines.port}: CONNECT operator {WHO} {token}", flush=True)
        _warn(server, host, tls)
        await server.serve()


def _warn(server: PageServer, host: str, tls: ssl.SSLContext | None) -> None:
    if host not in LOCAL:
        plain = "" if tls else "; what they say is not encrypted (--certificate)"
        show(f"[yellow]others on the network can look at {server.address}, and stop the robot{plain}[/]", flush=True)
    show("Ctrl-C ends it", flush=True)
