"""PageServer: the page, and a connection to each of its viewers. Nothing of it is in a control loop.

A page speaks RCP: it sends lines to the command server and gets its answers; besides, it gets poses and pictures as
bytes, and news as JSON. Forms of panels come as JSON, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import logging
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self
from urllib.parse import urlsplit

from aiohttp import WSMsgType, web

from wholebody.errors import WholebodyError
from wholebody.operator.page import PORT, SILENCE
from wholebody.operator.page.panels import SHOW_EVERY, Panels
from wholebody.operator.page.viewer import Kind, Viewer, as_json, command_news, machines
from wholebody.operator.rcp.command_server import CommandServer
from wholebody.operator.rcp.server import LOCAL, UPDATE_EVERY, listening_at

LOG = logging.getLogger(__name__)
STATIC = Path(__file__).parent / "static"
POSES_PER_SECOND = 30.0
PICTURES_PER_SECOND = 20.0
NEWS_EVERY = 0.2
"""s, of what the command server does; health comes every fifth time."""
MOST_VIEWERS = 50
LONGEST = 4096
"""Bytes of what a page says."""
TYPES = {
    "index.html": "text/html",
    "page.js": "text/javascript",
    "wire.js": "text/javascript",
    "page.css": "text/css",
}
SAFE = {
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class RobotView(Protocol):
    """What a page shows of a robot."""

    def drawing(self) -> dict[str, Any]:
        """The robot, its map and what it can do, to be drawn once."""

    def poses(self) -> bytes | None:
        """Where it is and was told to be; None if nothing is new."""

    def picture(self) -> bytes | None:
        """What its camera sees, as JPEG; None if nothing is new."""

    def situation(self) -> dict[str, Any]:
        """Where it is and where it looks, as JSON; five times a second."""

    def news(self) -> dict[str, Any]:
        """How it is, as JSON; once a second."""


class PageServer:
    """Serves one robot, to everybody who looks; who may do what is the command server's business.

    async with PageServer(view, commands, port=8080) as server:
        await server.serve()
    """

    def __init__(
        self,
        view: RobotView,
        commands: CommandServer,
        host: str = "127.0.0.1",
        port: int = PORT,
        tls: ssl.SSLContext | None = None,
        silence: float = SILENCE,
        called: Iterable[str] = (),
        panels: Panels | None = None,
    ) -> None:
        """`called` are names of this machine that browsers may ask for, besides its addresses and its own name."""
        self._panels = panels
        self._silence = silence
        self._called = {each.lower() for each in ("localhost", socket.gethostname(), host, *called)}
        self._view, self._commands, self._host, self._port, self._tls = view, commands, host, port, tls
        self.viewers: set[Viewer] = set()
        self._runner: web.AppRunner | None = None
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def port(self) -> int:
        """The port it listens on; another than asked for if that was 0."""
        addresses = self._runner.addresses if self._runner is not None else []
        return int(addresses[0][1]) if addresses else self._port

    @property
    def address(self) -> str:
        """Where people find it."""
        return f"{'https' if self._tls else 'http'}://{self._host}:{self.port}/"

    async def __aenter__(self) -> Self:
        """Listen."""
        if not (STATIC / "page.js").is_file():
            raise WholebodyError("the page has not been built: run make page (it needs npm)")
        app = web.Application(client_max_size=LONGEST, middlewares=[self._for_us])
        app.router.add_get("/", self._file("index.html"))
        for name in TYPES:
            app.router.add_get(f"/{name}", self._file(name))
        app.router.add_get("/robot.json", self._robot)
        app.router.add_get("/line", self._line)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        try:
            with listening_at(self._host, self._port):
                await web.TCPSite(self._runner, self._host, self._port, ssl_context=self._tls).start()
        except WholebodyError:
            await self._runner.cleanup()
            raise
        loops: list[Coroutine[Any, Any, None]] = [
            self._every(UPDATE_EVERY, self._update),
            self._every(1 / POSES_PER_SECOND, self._show_poses),
            self._every(1 / PICTURES_PER_SECOND, self._show_picture),
            self._every(NEWS_EVERY, self._show_news),
            self._every(5 * NEWS_EVERY, self._show_health),
            self._every(SHOW_EVERY, self._show_panels),
        ]
        self._tasks = [asyncio.create_task(each) for each in loops]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close every line."""
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        for viewer in list(self.viewers):
            await viewer.close()
        if self._panels is not None:
            self._panels.end()
        if self._runner is not None:
            await self._runner.cleanup()

    async def serve(self) -> None:
        """Go on until cancelled."""
        await asyncio.gather(*self._tasks)

    @web.middleware
    async def _for_us(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Answer those who ask for this machine: a name that another site points here lets none of its pages in."""
        name = urlsplit(f"//{request.host}").hostname or ""
        if name not in self._called and not _is_address(name):
            raise web.HTTPForbidden(text=f"the robot is not at '{name}'; start the page with --called, if it is")
        return await handler(request)

    def _file(self, name: str) -> Callable[[web.Request], Any]:
        async def answer(request: web.Request) -> web.Response:
            found = web.Response(body=(STATIC / name).read_bytes(), content_type=TYPES[name], headers=SAFE)
            found.enable_compression()  # half a megabyte takes 44 s at 100 kbit/s
            return found

        return answer

    async def _robot(self, request: web.Request) -> web.Response:
        panels = [] if self._panels is None else self._panels.described()
        described = {**self._view.drawing(), "machines": machines(), "panels": panels}
        return web.json_response(described, headers=SAFE, dumps=as_json)

    async def _line(self, request: web.Request) -> web.StreamResponse:
        """A page's line, which only a page of ours may open."""
        origin = request.headers.get("Origin", "")
        if urlsplit(origin).netloc != request.host:
            raise web.HTTPForbidden(text="a page of another site cannot talk to the robot")
        if len(self.viewers) >= MOST_VIEWERS:
            raise web.HTTPServiceUnavailable(text="too many pages are open")
        line = web.WebSocketResponse(max_msg_size=LONGEST, heartbeat=20.0)
        await line.prepare(request)
        session = self._commands.open(request.remote in LOCAL, time.monotonic(), self._silence, request.remote or "")
        viewer = Viewer(line, session, request.transport, "acknowledges" in request.query)
        self.viewers.add(viewer)
        viewer.show("session", json.dumps({"session": session.number}))
        try:
            async for message in line:
                if message.type is not WSMsgType.TEXT:
                    break
                if message.data.isdecimal():
                    viewer.got(int(message.data))
                    continue
                if message.data.startswith("{") and self._panels is not None:
                    self._panels.hear(viewer, message.data)
                else:
                    self._commands.line(session, message.data, time.monotonic())
                self._tell_all()
                if session.closing:
                    break
                await asyncio.sleep(0)  # others wait, too
        finally:
            self.viewers.discard(viewer)
            self._commands.close(session, time.monotonic())
            await viewer.close()
        return line

    async def _every(self, seconds: float, do: Callable[[], None]) -> None:
        """Do something again and again; what a robot that has gone cannot tell is told when it is back.

        What nobody foresaw is logged, once and not every time, and ends nothing: people need the rest of the page.
        """
        instant, broken = time.monotonic(), ""
        while True:
            instant = max(instant + seconds, time.monotonic())
            await asyncio.sleep(instant - time.monotonic())
            try:
                do()
            except WholebodyError:
                pass
            except Exception as error:
                if repr(error) != broken:
                    LOG.exception("unforeseen, while something was shown")
                broken = repr(error)

    def _update(self) -> None:
        self._commands.tick(time.monotonic())
        self._tell_all()

    def _tell_all(self) -> None:
        for viewer in self.viewers:
            viewer.tell()

    def _show_poses(self) -> None:
        if self.viewers and (poses := self._view.poses()) is not None:
            for viewer in self.viewers:
                viewer.show_binary(Kind.POSES, poses)

    def _show_picture(self) -> None:
        if self.viewers and (picture := self._view.picture()) is not None:
            for viewer in self.viewers:
                viewer.show_binary(Kind.PICTURE, picture)

    def _show_news(self) -> None:
        if self.viewers:
            self._show("commands", {"commands": command_news(self._commands), **self._view.situation()})

    def _show_health(self) -> None:
        if self.viewers:
            self._show("news", self._view.news())
        for viewer in self.viewers:
            if viewer.round_trip is not None:
                viewer.show("line", as_json({"round_trip": round(viewer.round_trip, 2)}))

    def _show_panels(self) -> None:
        if self._panels is not None:
            self._panels.show(self.viewers)

    def _show(self, what: str, news: dict[str, Any]) -> None:
        text = as_json(news)
        for viewer in self.viewers:
            viewer.show(what, text)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
