"""Session: one connection to the command server, and the answer that it waits for."""

from __future__ import annotations

import contextlib
import math
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from wholebody.operator.rcp.body import Body, Progress
from wholebody.operator.rcp.orders import Numbered, unforeseen
from wholebody.operator.rcp.users import Role


@dataclass(frozen=True)
class Awaited:
    """An answer that others have to be asked for."""

    done: Future[Any]
    answer: Callable[[], str]  # what is said once it is done; it raises what any answer may


@dataclass
class Session:
    """Who it is, what it wants to hear, and what is to be sent to it."""

    number: int
    local: bool
    timeout: float  # s of silence after which it has no control any more
    address: str = ""  # from where it comes
    opened: float = 0.0
    user: str = ""
    role: Role = Role.OBSERVER
    connected: bool = False
    topics: tuple[str, ...] = ()
    warned: tuple[str, ...] = ()  # of what is wrong
    heard: float = 0.0
    spared: bool = False  # whether a busy server has let this silence last longer already
    allowance: float = 0.0
    wrong_secrets: int = 0
    strange: int = 0  # lines before it was connected that were no commands
    closing: bool = False
    outbox: list[str] = field(default_factory=list)
    awaited: Awaited | None = None
    held: deque[str] = field(default_factory=deque)  # lines that came since then: answers keep their order


TOPICS = ("control", "progress", "event", "warning")
UNDERWAY_EVERY = 1.0
"""s between two words on how far an order has come."""


class Telling:
    """To all sessions, by number, of what a body does."""

    def __init__(self, body: Body, sessions: dict[int, Session]) -> None:
        self._body, self._sessions = body, sessions
        self.wrong: tuple[str, ...] = ()  # as it was last looked at
        self._broken = ""  # what a body raised last that nobody foresaw
        self._underway = ("", -math.inf)  # what was told of the order that goes on, and when

    def notify(self, topic: str, text: str) -> None:
        """Tell whoever wants to hear of a topic."""
        for session in self._sessions.values():
            if topic in session.topics:
                session.outbox.append(f"NOTIFY {topic} {text}")

    def tell(self, session: int, text: str) -> None:
        """Say something to one; what the body noticed before it is told before it."""
        with self.goes_on():
            self.remarks()
        if session in self._sessions:
            self._sessions[session].outbox.append(text)

    def progress(self, news: Progress) -> None:
        """What became of an order."""
        self.notify("progress", f"{news.order} {news.stage.value} {news.text}".rstrip())

    def remarks(self) -> None:
        """What the body has noticed."""
        for remark in self._body.remarks():
            self.notify("event", remark)

    def troubles(self) -> None:
        """What has begun to be wrong, or to somebody who has just asked, what is."""
        self.wrong = troubles = tuple(self._body.troubles())
        for session in self._sessions.values():
            if "warning" in session.topics:
                session.outbox += [f"NOTIFY warning {each}" for each in troubles if each not in session.warned]
                session.warned = troubles

    def underway(self, current: Numbered | None, now: float) -> None:
        """How far an order has come that the body does: when it begins another part of it, and every second."""
        underway = None if current is None else self._body.underway()
        if current is None or underway is None:
            self._underway = ("", -math.inf)
            return
        what = f"{current.number} {underway.what}"
        if what != self._underway[0] or now >= self._underway[1] + UNDERWAY_EVERY:
            self._underway = (what, now)
            self.notify("progress", f"{current.number} UNDERWAY {underway}")

    @contextlib.contextmanager
    def goes_on(self) -> Iterator[None]:
        """Whatever a body raises, the command server goes on; it is told once, not in every tick."""
        try:
            yield
        except Exception as error:
            if repr(error) != self._broken:
                self._broken = repr(error)
                self.notify("warning", unforeseen(error))
