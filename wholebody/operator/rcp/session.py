"""Session: one connection to the command server; Negotiation: which has control; Notifications: what they hear."""

from __future__ import annotations

import contextlib
import math
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from wholebody.errors import Refused
from wholebody.operator.rcp.body import Body, Progress
from wholebody.operator.rcp.orders import SERVER, Machine, Numbered, unforeseen
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


class Negotiation:
    """Who has control, one session at a time, and where the machine of that is (Stabilizer, Fig. 6.9).

    It is asked for, given back and lost; what the robot does then is the command server's business.
    """

    def __init__(self) -> None:
        self.machine = Machine(SERVER)
        self.holder: Session | None = None
        self._direct = 0  # the order that goes past the queue

    def must_be_free_for(self, session: Session, now: float) -> None:
        """Refuse those who may not have control, or not before somebody else."""
        if session.role < Role.OPERATOR:
            raise Refused("an observer cannot take control; CONNECT operator <user> <secret>")
        holder = self.holder
        if holder is not None and holder is not session and session.role <= holder.role:
            left = max(0.0, holder.timeout - (now - holder.heard))
            raise Refused(f"{holder.user} has control; without a word it ends in {left:.0f} s")

    def must_have(self, session: Session) -> None:
        """Refuse those without control."""
        if session is not self.holder:
            raise Refused("CONTROL BEGIN comes first")

    def begin(self, session: Session) -> None:
        """A session has control now."""
        self.holder = session
        self.machine.become("controlled")

    def end(self) -> None:
        """Nobody has it."""
        self.holder = None
        self.machine.become("free")

    def goes_past(self, order: int) -> None:
        """An order does not wait in the queue; those of people without control are not the machine's business."""
        if self.holder is not None:
            self._direct = order
            self.machine.become("direct")

    def goes_on(self, order: int) -> None:
        """The order that goes on now, 0 if none does: if it is another, the direct one is done."""
        if self.machine.state == "direct" and order != self._direct:
            self.machine.become("controlled")

    def silent(self, now: float) -> Session | None:
        """Who has had control and said nothing for too long."""
        holder = self.holder
        return holder if holder is not None and now - holder.heard > holder.timeout else None


TOPICS = ("control", "progress", "event", "warning")
UNDERWAY_EVERY = 1.0
"""s between two words on how far an order has come."""


class Notifications:
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
        """Say something to one."""
        if session in self._sessions:
            self._sessions[session].outbox.append(text)

    def ask(self, session: int, text: str) -> None:
        """Ask one something; what the body has noticed is told before, as it may help to answer."""
        with self.goes_on():
            self.remarks()
        self.tell(session, text)

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
