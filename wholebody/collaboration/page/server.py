"""PageServer: the page, and a line to each of its viewers. Nothing of it is in a control loop."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self
from urllib.parse import urlsplit

from wholebody.errors import MissingExtra, WholebodyError

try:
    from aiohttp import WSMsgType, web
except ImportError as error:
    raise MissingExtra("aiohttp", "page") from error

PORT = 8080
STATIC = Path(__file__).parent / "static"
POSES_PER_SECOND = 30.0
NEWS_EVERY = 0.5
"""s"""
LONGEST = 4096
"""Bytes of what a page says."""
TYPES = {"index.html": "text/html", "page.js": "text/javascript", "page.css": "text/css"}
SAFE = {
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Sight(Protocol):
    """What a page shows, and the little that it can do by itself."""

    def drawing(self) -> dict[str, Any]:
        """The robot, to be drawn."""

    def poses(self) -> bytes | None:
        """Where it is and was told to be; None if nothing is new."""

    def news(self) -> dict[str, Any]:
        """How it is, as JSON."""

    def stop(self) -> None:
        """Stop it."""

    def resume(self) -> str:
        """Let it go on; the answer in words."""


@dataclass(eq=False)
class Viewer:
    """One page that is open."""

    socket: web.WebSocketResponse
    operator: bool
    busy: bool = False  # with a message that it has not taken yet: newer ones are not sent to it


class PageServer:
    """Serves one robot. Whoever has the token may stop it; everybody else may look.

    async with PageServer(sight, port=8080) as server:
        print(server.address)
        await server.serve()
    """

    def __init__(self, sight: Sight, host: str = "127.0.0.1", port: int = PORT, token: str = "") -> None:
        self._sight, self._host, self._port = sight, host, port
        self.token = token or secrets.token_urlsafe(16)
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
        """Where an operator finds it; the part after # is never sent over the network."""
        return f"http://{self._host}:{self.port}/#token={self.token}"

    async def __aenter__(self) -> Self:
        """Listen."""
        if not (STATIC / "page.js").is_file():
            raise WholebodyError("the page has not been built: run make page (it needs npm)")
        app = web.Application(client_max_size=LONGEST)
        app.router.add_get("/", self._file("index.html"))
        for name in TYPES:
            app.router.add_get(f"/{name}", self._file(name))
        app.router.add_get("/robot.json", self._robot)
        app.router.add_get("/line", self._line)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, self._host, self._port).start()
        self._tasks = [asyncio.create_task(each) for each in (self._send_poses(), self._send_news())]
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
            await viewer.socket.close(code=1001)
        if self._runner is not None:
            await self._runner.cleanup()

    async def serve(self) -> None:
        """Go on until cancelled."""
        await asyncio.gather(*self._tasks)

    def _file(self, name: str) -> Callable[[web.Request], Any]:
        async def answer(request: web.Request) -> web.Response:
            return web.Response(body=(STATIC / name).read_bytes(), content_type=TYPES[name], headers=SAFE)

        return answer

    async def _robot(self, request: web.Request) -> web.Response:
        return web.json_response(self._sight.drawing(), headers=SAFE)

    async def _line(self, request: web.Request) -> web.StreamResponse:
        """A page's line, which only a page of ours may open."""
        origin = request.headers.get("Origin", "")
        if urlsplit(origin).netloc != request.host:
            raise web.HTTPForbidden(text="a page of another site cannot talk to the robot")
        socket = web.WebSocketResponse(max_msg_size=LONGEST, heartbeat=5.0)
        await socket.prepare(request)
        viewer = Viewer(socket, operator=False)
        try:
            async for message in socket:
                if message.type is not WSMsgType.TEXT:
                    break
                await self._answer(viewer, message.data)
        finally:
            self.viewers.discard(viewer)
        return socket

    async def _answer(self, viewer: Viewer, text: str) -> None:
        try:
            said = json.loads(text)
            asked = said.get("do", "")
            token = said.get("token")
        except (ValueError, AttributeError):
            await viewer.socket.send_json({"said": "not understood"})
            return
        if isinstance(token, str):
            viewer.operator = hmac.compare_digest(token.encode(), self.token.encode())
            self.viewers.add(viewer)
            await viewer.socket.send_json({"role": "operator" if viewer.operator else "viewer", **self._news()})
        elif not viewer.operator:
            await viewer.socket.send_json({"said": "only who has the token can do that"})
        elif asked == "stop":
            self._sight.stop()
            await viewer.socket.send_json({"said": "stopped"})
        elif asked == "resume":
            answer = await asyncio.get_running_loop().run_in_executor(None, self._sight.resume)
            await viewer.socket.send_json({"said": answer})
        else:
            await viewer.socket.send_json({"said": "there is no such thing to do"})

    async def _send_poses(self) -> None:
        while True:
            await asyncio.sleep(1 / POSES_PER_SECOND)
            if self.viewers and (poses := self._sight.poses()) is not None:
                for viewer in list(self.viewers):
                    self._offer(viewer, poses)

    async def _send_news(self) -> None:
        while True:
            await asyncio.sleep(NEWS_EVERY)
            news = json.dumps(self._news()) if self.viewers else ""
            for viewer in list(self.viewers):
                self._offer(viewer, news)

    def _news(self) -> dict[str, Any]:
        try:
            return self._sight.news()
        except WholebodyError as error:
            return {"said": str(error)}

    def _offer(self, viewer: Viewer, message: bytes | str) -> None:
        """Send something, unless the viewer has not taken the last one yet: it gets a newer one later."""
        if viewer.busy or viewer.socket.closed:
            return
        viewer.busy = True
        task = asyncio.create_task(self._send(viewer, message))
        task.add_done_callback(lambda _: setattr(viewer, "busy", False))

    async def _send(self, viewer: Viewer, message: bytes | str) -> None:
        with contextlib.suppress(ConnectionError, RuntimeError):
            if isinstance(message, bytes):
                await viewer.socket.send_bytes(message)
            else:
                await viewer.socket.send_str(message)
