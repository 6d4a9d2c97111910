"""Viewer: one open page, a session at the desk; lines are sent to it in order, of everything else the newest wins."""

from __future__ import annotations

import asyncio
import contextlib
import struct
from enum import IntEnum

from aiohttp import web

from wholebody.collaboration.rcp.session import Session


class Kind(IntEnum):
    """What the first four bytes of a binary message say: what the rest of it is."""

    POSES = 1
    PICTURE = 2


class Viewer:
    """Sends by itself, one message after the other: a slow page gets fewer poses and pictures, and holds nobody up."""

    def __init__(self, socket: web.WebSocketResponse, session: Session) -> None:
        self.socket, self.session = socket, session
        self.lines: list[str] = []
        self._newest: dict[str, str | bytes] = {}
        self._something = asyncio.Event()
        self._task = asyncio.create_task(self._send())

    def tell(self) -> None:
        """Send what the desk has for it."""
        if self.session.outbox:
            self.lines += self.session.outbox
            self.session.outbox.clear()
            self._something.set()

    def show(self, what: str, message: str | bytes) -> None:
        """Send this instead of what of the same is not sent yet."""
        self._newest[what] = message
        self._something.set()

    def show_binary(self, kind: Kind, data: bytes) -> None:
        """The same, of numbers and pictures."""
        self.show(kind.name, struct.pack("<I", kind) + data)

    async def close(self) -> None:
        """Send what is left of the lines, and end."""
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        with contextlib.suppress(ConnectionError, RuntimeError):
            if self.lines and not self.socket.closed:
                await self.socket.send_str("\n".join(self.lines))
            await self.socket.close(code=1001)

    async def _send(self) -> None:
        with contextlib.suppress(ConnectionError, RuntimeError):
            while True:
                await self._something.wait()
                self._something.clear()
                if self.lines:
                    lines, self.lines = self.lines, []
                    await self.socket.send_str("\n".join(lines))
                newest, self._newest = self._newest, {}
                for message in newest.values():
                    if isinstance(message, bytes):
                        await self.socket.send_bytes(message)
                    else:
                        await self.socket.send_str(message)
