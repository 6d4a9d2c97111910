"""wholebody page, wholebody rcp: the running robot in a browser, or in lines of text."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import ssl
import sys
import threading
import webbrowser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import print as show

from wholebody import robots, security
from wholebody.cli import options as cli
from wholebody.errors import BadConfiguration
from wholebody.operator import page as pages
from wholebody.operator.rcp import server as rcp_server
from wholebody.operator.rcp.command_server import CommandServer, Rules
from wholebody.operator.rcp.server import LOCAL, Server
from wholebody.operator.rcp.users import Role, User, Users
from wholebody.operator.robot import options
from wholebody.operator.robot.companions import Companions
from wholebody.operator.robot.options import CommandPlace
from wholebody.operator.robot.page_view import PageView
from wholebody.operator.robot.panels import panels
from wholebody.operator.robot.robot import WalkingBody
from wholebody.processes import lifecycle
from wholebody.processes.registry import robot_of
from wholebody.realtime import cancel_when_told

if TYPE_CHECKING:
    from wholebody.operator.page.panel import Panel
    from wholebody.operator.page.server import PageServer


WHO = "operator"
"""The user that the address with the token is for."""


def page(
    name: cli.Name = "",
    host: cli.Host = "127.0.0.1",
    port: cli.Port = pages.PORT,
    called: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A name of this machine that browsers may ask for.")
    ] = None,
    rcp: Annotated[int | None, typer.Option(help="Take lines of text there too (docs/rcp.md); 0 for any port.")] = None,
    users: cli.Users = None,
    map: cli.Map = None,
    certificate: cli.Certificate = None,
    key: cli.Key = None,
    silence: Annotated[
        float, typer.Option(min=0.8, help="Seconds without a word of the page in control until the robot stops.")
    ] = pages.SILENCE,
    walk: cli.Walk = True,
    camera: cli.Camera = True,
    robot: cli.Robot = "",
    panel: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE.py:Class", help="Show a panel of one's own; may be repeated (docs/page.md)."),
    ] = None,
    open: Annotated[
        bool | None,
        typer.Option("--open/--no-open", help="Open it in a browser; left out, if this is a terminal on a desktop."),
    ] = None,
    insecure: cli.Insecure = False,
) -> None:
    """Show the robot in a browser: where it is, what it sees and does; and command it.

    A walking controller moves nothing before it is told to. --robot is needed only if its daemon was not started by us.

    The address that is printed has a token, with which one may take control; without it one may look, and stop. Where
    nobody sits at a terminal it is not printed, but written into a file that only you can read.

    Beyond this machine (--host) it is encrypted, by --certificate or by the keys of `wholebody keys`.
    """
    tls = listening("the page", host, certificate, key, insecure)
    token = secrets.token_urlsafe(16)
    known = Users([User.new(WHO, Role.OPERATOR, token), *_others(users)])
    which, shown = robot or robot_of(name), panels(panel or ())
    companions = Companions(name)
    body = WalkingBody(robots.load(which), name, options.map_of(name, map), companions)
    commands = CommandServer(body, known)
    with (
        CommandPlace(name) as place,
        contextlib.closing(companions),
        contextlib.closing(body),
        contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError),
    ):
        options.begin_controllers(companions, which, walk)
        options.begin_camera(companions, name, camera)
        serving = Serving(host, port, rcp, tls, silence, tuple(called or ()), on_a_desktop() if open is None else open)
        view = PageView(body, robots.load(which), companions)
        asyncio.run(_serve_page(view, shown, commands, serving, token, place))


def _others(file: Path | None) -> list[User]:
    """The users of a file, none of whom may take the place of the one with the token."""
    found = options.users_of(file)
    if any(user.name == WHO for user in found):
        raise BadConfiguration(f"{file}: '{WHO}' is who has the address with the token; call that user something else")
    return found


@dataclass(frozen=True)
class Serving:
    """Where and how."""

    host: str
    port: int
    rcp: int | None
    tls: ssl.SSLContext | None
    silence: float
    called: tuple[str, ...]
    open: bool


def listening(
    what: str, host: str, certificate: Path | None, key: Path | None, insecure: bool, lacks: Sequence[str] = ()
) -> ssl.SSLContext | None:
    """TLS for a server; NotSecured if others could reach it without, or without what it lacks besides."""
    tls = options.encryption(certificate, key, host)
    security.check_listening(what, host, lacks=(*(() if tls else ("TLS",)), *lacks), insecure=insecure)
    return tls


def on_a_desktop() -> bool:
    """Whether somebody sits here who sees windows: a terminal, and a display."""
    displays = any(os.environ.get(each) for each in ("DISPLAY", "WAYLAND_DISPLAY")) or sys.platform == "darwin"
    return displays and sys.stdout.isatty() and not os.environ.get("CI")


def open_in_browser(address: str) -> None:
    """Have a browser open it, if there is one; nobody waits for that."""

    def opens() -> None:
        try:
            opened = webbrowser.open(address)
        except (webbrowser.Error, OSError):
            opened = False
        if not opened:
            show("[yellow]there is no browser here: open the address yourself[/]", flush=True)

    threading.Thread(target=opens, name="browser", daemon=True).start()


async def _serve_page(
    view: PageView,
    shown: Mapping[str, type[Panel]],
    commands: CommandServer,
    serving: Serving,
    token: str,
    place: CommandPlace,
) -> None:
    from wholebody.operator.page.panels import Panels
    from wholebody.operator.page.server import PageServer

    cancel_when_told()
    host, tls = serving.host, serving.tls
    async with contextlib.AsyncExitStack() as stack:
        running = Panels(shown, view.panel_context(), commands)
        page_server = PageServer(view, commands, host, serving.port, tls, serving.silence, serving.called, running)
        server = await stack.enter_async_context(page_server)
        place.announce(f"the page at {server.address}")
        address, file = f"{server.address}#token={token}", lifecycle.runtime_folder() / f"{view.name}.page.html"
        security.write_secret(file, f'<meta http-equiv="refresh" content="0; url={address}">\n')
        stack.callback(file.unlink, missing_ok=True)
        told = sys.stdout.isatty()
        show(f"the page of '{view.name}' is at {address if told else server.address}", flush=True)
        if serving.rcp is not None:
            lines = await stack.enter_async_context(Server(commands, host, serving.rcp, tls))
            show(f"RCP is at {host}:{lines.port}: CONNECT operator {WHO} {token if told else 'TOKEN'}", flush=True)
        if not told:
            print(f"the address with the token, with which one may take control, is in {file}", flush=True)
        _warn(server, host)
        if serving.open:
            open_in_browser(file.as_uri())  # not the address: others see the arguments of a browser
        await server.serve()


def _warn(server: PageServer, host: str) -> None:
    if host not in LOCAL:
        show(f"[yellow]others on the network can look at {server.address}, and stop the robot[/]", flush=True)
    show("Ctrl-C ends it", flush=True)


def rcp(
    name: cli.Name = "",
    host: cli.Host = "127.0.0.1",
    port: cli.Port = rcp_server.PORT,
    users: cli.Users = None,
    map: cli.Map = None,
    certificate: cli.Certificate = None,
    key: cli.Key = None,
    walk: cli.Walk = True,
    camera: cli.Camera = True,
    control_timeout: Annotated[
        float, typer.Option(min=0.5, help="Seconds of silence after which control is lost, and the robot stops.")
    ] = 30.0,
    robot: cli.Robot = "",
    insecure: cli.Insecure = False,
    new_user: Annotated[str, typer.Option(metavar="USER", help="Print a line for the file of users, and end.")] = "",
    role: Annotated[str, typer.Option(help="Of the new user: observer, operator, administrator.")] = "operator",
) -> None:
    """Let people and programs command the running robot, one line one command; docs/rcp.md has all of them.

    A walking controller moves nothing before it is told to. --robot is needed only if its daemon was not started by us.

    \b
      $ wholebody start
      $ wholebody rcp &
      $ nc 127.0.0.1 7878
      CONNECT operator
      CONTROL BEGIN
      MOVE WALKING FORWARD 3 STEPS

    Without a file of users, whoever connects from this machine may control the robot, and nobody else but who knows the
    token of `wholebody keys`: CONNECT operator operator TOKEN. Beyond this machine (--host) it is encrypted.
    """
    if new_user:
        line, secret = options.new_user(new_user, role)
        print(line)
        print(f"the secret of {new_user}, which is kept nowhere: {secret}", file=sys.stderr)
        return
    known = options.users_of(users)
    if not known and not security.is_loopback(host) and (word := security.token()):
        known = [User.new(WHO, Role.OPERATOR, word)]
    tls = listening("RCP", host, certificate, key, insecure, () if known else ("a token",))
    which = robot or robot_of(name)
    companions = Companions(name)
    body = WalkingBody(robots.load(which), name, options.map_of(name, map), companions)
    commands = CommandServer(body, Users(known), Rules(control_timeout=control_timeout))
    with (
        CommandPlace(name) as place,
        contextlib.closing(companions),
        contextlib.closing(body),
        contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError),
    ):
        options.begin_controllers(companions, which, walk)
        options.begin_camera(companions, name, camera, pictures=False)
        asyncio.run(_serve_rcp(commands, host, port, tls, place))


async def _serve_rcp(
    commands: CommandServer, host: str, port: int, tls: ssl.SSLContext | None, place: CommandPlace
) -> None:
    cancel_when_told()
    async with Server(commands, host, port, tls) as server:
        place.announce(f"RCP at {host}:{server.port}")
        show(f"RCP is at {host}:{server.port}{', encrypted' if tls else ''}; Ctrl-C ends it", flush=True)
        await server.serve()
