"""Viewer: one open page, a session of the command server; lines are sent in order, of all else the newest."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import struct
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from aiohttp import web

from wholebody.operator.rcp.command_server import CommandServer
from wholebody.operator.rcp.orders import QUEUE, SERVER, Machine
from wholebody.operator.rcp.server import MOST_UNSENT
from wholebody.operator.rcp.session import Session


class Kind(IntEnum):
    """What the first four bytes of a binary message say: what the rest of it is."""

    POSES = 1
    PICTURE = 2


SLACK = 0.5
"""s by which what is on its way to a page may be later than at the fastest: then the line is full, and more waits here,
where the newest of it counts, and not in the network, where it would come late."""
MOST_UNDER_WAY = 65_536
"""Bytes, whatever the line can take."""
GOOD_BYE = 1.0
"""s that a page has to take its last lines."""


@dataclass
class Seen:
    """What a page has seen of a panel that it has open: its state, and the last sample of its plot."""

    version: int = -1
    sample: int = 0


class Viewer:
    """Sends by itself, one message after the other: a slow page gets fewer poses and pictures, and holds nobody up.

    One that takes no lines any more is cut off, as RCP does it.
    """

    def __init__(
        self,
        socket: web.WebSocketResponse,
        session: Session,
        transport: asyncio.Transport | None = None,
        acknowledges: bool = False,
    ) -> None:
        """`acknowledges`: whether the page says how many messages it has got."""
        self._acknowledges, self._acknowledged = acknowledges, 0
        self._under_way: deque[tuple[float, int]] = deque()  # when each was sent, and how long it is
        self._fastest = 1.0  # s there and back
        self.round_trip: float | None = None  # s, of the message that the page has got last; None if it does not say
        self.socket, self.session, self._transport = socket, session, transport
        self.lines: list[str] = []
        self._unsent = 0
        self.panels: dict[str, Seen] = {}  # that it has open
        self._newest: dict[str, str | bytes | Callable[[], str | None]] = {}
        self._something = asyncio.Event()
        self._task = asyncio.create_task(self._send())
        self._ending: asyncio.Task[None] | None = None

    def tell(self) -> None:
        """Send what the command server has for it."""
        if self.session.outbox:
            self.lines += self.session.outbox
            self._unsent += sum(map(len, self.session.outbox))
            self.session.outbox.clear()
            self._something.set()
        if self._unsent > MOST_UNSENT:
            self._cut()
        if self.session.closing:
            self._end()

    def show(self, what: str, message: str | bytes | Callable[[], str | None]) -> None:
        """Send this instead of what of the same is not sent yet; a function says what, if anything, once it can go."""
        self._newest[what] = message
        self._something.set()

    def got(self, count: int) -> None:
        """The page has got so many messages by now; a number that cannot be counts for nothing."""
        fresh = min(count - self._acknowledged, len(self._under_way))
        for _ in range(fresh):
            sent, _ = self._under_way.popleft()
            took = time.monotonic() - sent
            self._fastest = min(self._fastest, took) if self._acknowledged else took
            self._acknowledged += 1
            self.round_trip = took
        self._something.set()

    @property
    def _has_room(self) -> bool:
        """Whether the line takes more without what is sent coming late."""
        way = self._under_way
        in_time = not way or time.monotonic() < way[0][0] + self._fastest + SLACK
        return in_time and sum(size for _, size in way) < MOST_UNDER_WAY

    def show_binary(self, kind: Kind, data: bytes) -> None:
        """The same, of numbers and pictures."""
        self.show(kind.name, struct.pack("<I", kind) + data)

    async def close(self) -> None:
        """Send what is left of the lines, and end."""
        await self._end()

    def _end(self) -> asyncio.Task[None]:
        """The same, while nobody waits for it; the command server may have it closed."""
        self._ending = self._ending or asyncio.create_task(self._say_good_bye())
        return self._ending

    async def _say_good_bye(self) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        with contextlib.suppress(ConnectionError, RuntimeError, TimeoutError):
            async with asyncio.timeout(GOOD_BYE):
                if self.lines and not self.socket.closed:
                    await self.socket.send_str("\n".join(self.lines))
                await self.socket.close(code=1001)
            return
        self._cut()

    def _cut(self) -> None:
        """As a network does that fails: what waits for it is let go."""
        self.lines, self._unsent = [], 0
        if self._transport is not None:
            self._transport.abort()

    async def _send(self) -> None:
        """Lines at once; of all else one after the other, as long as there is room on the way."""
        with contextlib.suppress(ConnectionError, RuntimeError):
            while True:
                await self._something.wait()
                self._something.clear()
                while self.lines or (self._newest and self._has_room):
                    if self.lines:
                        lines, self.lines, self._unsent = self.lines, [], 0
                        await self._put("\n".join(lines))
                        continue
                    message = self._newest.pop(next(iter(self._newest)))
                    if (now := message() if callable(message) else message) is not None:
                        await self._put(now)

    async def _put(self, message: str | bytes) -> None:
        if self._acknowledges:
            self._under_way.append((time.monotonic(), len(message)))
        if isinstance(message, bytes):
            await self.socket.send_bytes(message)
        else:
            await self.socket.send_str(message)


def command_news(commands: CommandServer) -> dict[str, Any]:
    """As JSON; the newest order first."""
    orders = commands.orders
    return {
        "holder": commands.holder.user if commands.holder else "",
        "holder_session": commands.holder.number if commands.holder else 0,
        "viewers": len(commands.sessions),
        "state": orders.machine.state,
        "server": commands.machine.state,
        "current": orders.current.number if orders.current else 0,
        "choices": orders.choices,
        "troubles": commands.troubles,
        "waiting": [{"number": each.number, "line": str(each.order)} for each in orders.waiting],
        "log": [
            {"number": each.number, "line": each.line, "stage": each.stage, "text": each.text}
            for each in reversed(orders.log)
        ],
    }


def machines() -> dict[str, Any]:
    """The machines of control and of orders, to be drawn."""
    tables = {"server": SERVER, "queue": QUEUE}
    return {name: {"states": Machine(table).states, "transitions": table} for name, table in tables.items()}


def as_json(news: Any) -> str:
    """JSON as browsers read it, which know no NaN and no infinity: null is what nobody knows."""
    try:
        return json.dumps(news, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(news), allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
