"""A service that counts what it was asked to do, and processes that ask it: python counting_service.py ROLE …"""

from __future__ import annotations

import signal
import sys
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from wholebody.channels.bridge.gateway import Gateway
from wholebody.services import AtMost, Client, Server, Stage

NAME = "robot.counting"


class Corner(NamedTuple):
    """A pair of numbers."""

    x: float
    y: float


@dataclass(frozen=True)
class Add:
    """Count something that one client numbers."""

    client: int
    number: int


@dataclass(frozen=True)
class Draw:
    """All that a request may consist of."""

    corners: Annotated[tuple[Corner, ...], AtMost(3)]
    size: tuple[float, float]
    colour: Literal["red", "green"] = "red"
    name: str = ""
    filled: bool = False


@dataclass(frozen=True)
class Reset:
    """Forget what was counted; nothing to be said about it."""


@dataclass(frozen=True)
class Counted:
    """How many were counted, and whose this is."""

    count: int
    client: int
    number: int


class Counting(Server):
    """Counts; another life goes on where the one before was killed."""

    def __init__(self) -> None:
        super().__init__(NAME, (Add, Draw, Reset), Counted, kept=8192)
        self.count = 0 if self.last is None else self.last.answer.count

    def serve(self, timeout: float = 0.0) -> None:
        """Do the next, if there is one."""
        asked = self.wait(timeout)
        if asked is not None:
            self.count += 1
            add = asked.request
            self.reply(asked.number, Stage.SUCCEEDED, answer=Counted(self.count, add.client, add.number))


def serve() -> None:
    """Count until killed."""
    with Counting() as counting:
        while True:
            counting.serve(1.0)


AT_ONCE = 25
"""Requests that a client has made before it waits for the first."""


def gateway(listen: str) -> None:
    """Let other machines ask until killed."""
    with Gateway(listen):
        signal.pause()


def ask(client: int, requests: int, file: str, connect: str = "", at_once: int = AT_ONCE) -> None:
    """Ask so many times, and write down the counts; the server is killed and started again meanwhile."""
    with Client(NAME, 60.0, 60.0, Counted, connect) as service, open(file, "w") as told:
        for first in range(0, requests, at_once):
            adds = [Add(client, number) for number in range(first, min(first + at_once, requests))]
            numbers = [service.send(add, keep=60.0) for add in adds]
            answers = [service.wait(number, 60.0).answer for number in numbers]
            assert [(each.client, each.number) for each in answers] == [(each.client, each.number) for each in adds]
            counts = [each.count for each in answers]
            assert counts == sorted(counts), "they were done in another order"
            print(*counts, file=told, flush=True)


if __name__ == "__main__":
    role, *more = sys.argv[1:]
    if role == "serve":
        serve()
    elif role == "gateway":
        gateway(more[0])
    else:
        ask(int(more[0]), int(more[1]), *more[2:4], *map(int, more[4:]))
