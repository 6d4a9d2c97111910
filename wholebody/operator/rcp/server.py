"""Server: RCP over TCP. One line one command, many clients; a slow one harms nobody but itself.

async with Server(commands, port=7878) as server:
    await server.serve()
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import ssl
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from wholebody.errors import CommandsTaken
from wholebody.operator.rcp.command_server import CommandServer
from wholebody.operator.rcp.grammar import LONGEST
from wholebody.operator.rcp.session import Session

PORT = 7878
UPDATE_EVERY = 0.02
"""s"""
MOST_UNSENT = 1 << 20
"""Bytes that wait for a slow client before it is cut off."""
MOST_CLIENTS = 200
UNANSWERED = 3.0
"""s after which a client whose machine does not answer any more is gone."""
CHUNK = 8192
"""Bytes that are taken in at a time."""
AT_ONCE = 20
"""Lines of one client that are answered before others have their turn: a chunk may have thousands."""
LOCAL = ("127.0.0.1", "::1")


@contextlib.contextmanager
def listening_at(host: str, port: int) -> Iterator[None]:
    """Say in words why nobody can listen there, instead of by an OSError."""
    try:
        yield
    except OSError as error:
        why = "another program listens there" if error.errno == errno.EADDRINUSE else os.strerror(error.errno or 0)
        raise CommandsTaken(
            f"nobody can listen at {host}, port {port}: {why}; give another port, or 0 for any that is free"
        ) from error


class Server:
    """Listens on this machine only, unless told otherwise; encrypted if it is given a certificate."""

    def __init__(
        self, commands: CommandServer, host: str = "127.0.0.1", port: int = PORT, tls: ssl.SSLContext | None = None
    ) -> None:
        self.commands, self._host, self._port, self._tls = commands, host, port, tls
        self._writers: dict[int, asyncio.StreamWriter] = {}
        self._listening: asyncio.Server | None = None
        self._updating: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        """The port it listens on; another than asked for if that was 0."""
        if self._listening is None:
            return self._port
        port: int = self._listening.sockets[0].getsockname()[1]
        return port

    async def __aenter__(self) -> Self:
        """Listen."""
        with listening_at(self._host, self._port):
            self._listening = await asyncio.start_server(
                self._talk, self._host, self._port, limit=2 * LONGEST, ssl=self._tls
            )
        self._updating = asyncio.create_task(self._update())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Say good-bye to all."""
        if self._updating is not None:
            self._updating.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._updating
        if self._listening is not None:
            self._listening.close()
        for writer in list(self._writers.values()):
            writer.close()

    async def serve(self) -> None:
        """Go on until cancelled."""
        if self._updating is not None:
            await self._updating

    async def _update(self) -> None:
        while True:
            self.commands.tick(time.monotonic())
            self._send_all()
            await asyncio.sleep(UPDATE_EVERY)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client, from its first line to its last."""
        if len(self._writers) >= MOST_CLIENTS:
            writer.write(b"KO too many clients\n")
            writer.close()
            return
        _miss_soon(writer.get_extra_info("socket"))
        peer = writer.get_extra_info("peername")
        address = peer[0] if peer else ""
        session = self.commands.open(address in LOCAL, time.monotonic(), address=address)
        self._writers[session.number] = writer
        try:
            lines = Lines()
            while not session.closing and (data := await reader.read(CHUNK)):
                for number, line in enumerate(lines.take(data), 1):
                    self.commands.line(session, line, time.monotonic())
                    if session.closing:
                        break
                    if number % AT_ONCE == 0:
                        await self._give_way()
                await self._give_way()
        except (OSError, asyncio.CancelledError):
            pass  # a line that is cut by them, or by the end of the server, which needs no more of this task
        finally:
            self.commands.close(session, time.monotonic())
            self._send(session)
            del self._writers[session.number]
            writer.close()
            self._send_all()

    async def _give_way(self) -> None:
        """Others wait, too."""
        self._send_all()
        await asyncio.sleep(0)

    def _send_all(self) -> None:
        """Those who came by others than this server hear from them."""
        for number in list(self._writers):
            session = self.commands.sessions.get(number)
            if session is not None and session.outbox:
                self._send(session)
            if session is not None and session.closing:
                self._writers[number].close()

    def _send(self, session: Session) -> None:
        writer = self._writers.get(session.number)
        if writer is None or writer.is_closing():
            session.outbox.clear()
            return
        writer.write("".join(f"{line}\n" for line in session.outbox).encode())
        session.outbox.clear()
        if writer.transport.get_write_buffer_size() > MOST_UNSENT:
            writer.transport.abort()


def _miss_soon(connection: socket.socket) -> None:
    """Have the kernel ask whether the other side is still there: a network that is cut is a line that is cut."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL):
        connection.setsockopt(socket.IPPROTO_TCP, option, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 2)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(1000 * UNANSWERED))


class Lines:
    """Cuts what comes into lines; of one that is too long to be a command, no more is kept than shows that."""

    def __init__(self) -> None:
        self._rest = b""

    def take(self, data: bytes) -> list[str]:
        """The lines that are whole now."""
        *whole, rest = (self._rest + data).split(b"\n")
        self._rest = rest[: LONGEST + 1]
        return [each[: LONGEST + 2].rstrip(b"\r").decode(errors="replace") for each in whole]
