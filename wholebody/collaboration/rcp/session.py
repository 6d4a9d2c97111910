"""Session: one connection to the desk, and the answer that it waits for."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from wholebody.collaboration.rcp.users import Role


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
