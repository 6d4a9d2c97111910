"""Client: RCP from Python.

with Client("127.0.0.1") as robot:
    robot.connect("operator")
    robot.take_control()
    robot.do("MOVE WALKING FORWARD 3 STEPS")      # returns when it is COMPLETED
"""

from __future__ import annotations

import re
import socket
import ssl
import time
from collections import deque
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from wholebody.errors import BadCommand, Refused
from wholebody.operator.rcp.commands import Cancel, Command, Direct, Order, SelectStrategy, Stop, UseStrategy
from wholebody.operator.rcp.grammar import parse
from wholebody.operator.rcp.server import PORT

Choose = Callable[[Sequence[str]], str]
"""Decides among strategies."""
A_WORD_EVERY = 5.0
"""s"""
CHUNK = 65_536
_NEWS = re.compile(r"(OK|KO) COMMAND (\d+) (QUEUED|STARTED|COMPLETED|FAILED|INTERRUPTEDBY)\s*(.*)")


class Client:
    """One connection. What the robot says unasked is in `heard`: notifications, and strategies to choose among.

    News of orders are kept until somebody waits for the order.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = PORT, tls: ssl.SSLContext | None = None) -> None:
        self._socket = socket.create_connection((host, port), timeout=10.0)
        if tls is not None:
            self._socket = tls.wrap_socket(self._socket, server_hostname=host)
        self._rest, self._said = b"", 0.0
        self.heard: deque[str] = deque(maxlen=1000)
        self._news: deque[tuple[int, str]] = deque(maxlen=1000)  # of orders, by number, that nobody has waited for yet
        self._newest = 0  # order that was heard of

    def send(self, line: str) -> None:
        """Send a line, as it is."""
        self._said = time.monotonic()
        self._socket.sendall(f"{line}\n".encode())

    def hear(self, timeout: float | None = 10.0) -> str:
        """The next line; TimeoutError if none comes."""
        until = None if timeout is None else time.monotonic() + timeout
        while b"\n" not in self._rest:
            self._socket.settimeout(None if until is None else max(0.001, until - time.monotonic()))
            if not (data := self._socket.recv(CHUNK)):
                raise ConnectionResetError("the robot has closed the connection")
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode(errors="replace")

    def ask(self, line: str, timeout: float = 10.0) -> str:
        """Send a line that is answered at once; the answer without its OK. Refused with the reason if it is KO."""
        command = parse(line)
        self.send(line)
        while True:
            answer = self.hear(timeout)
            news = _NEWS.fullmatch(answer)
            if (news is None or not _answers(command, news, self._newest)) and self._put_aside(answer):
                continue
            if news is not None:
                self._newest = max(self._newest, int(news[2]))
            if isinstance(command, Cancel | UseStrategy):
                self._put_aside(answer)  # who waits for that order wants to know, too
            if answer.startswith("KO"):
                raise Refused(news[4] if news else answer[3:])
            return answer[3:]

    def connect(self, profile: str, user: str = "", secret: str = "") -> str:
        """Say who one is; the answer."""
        return self.ask(" ".join(word for word in ("CONNECT", profile, user, secret) if word))

    def take_control(self) -> None:
        """Ask for the robot."""
        self.ask("CONTROL BEGIN")

    def give_control_back(self) -> None:
        """Let others have it."""
        self.ask("CONTROL END")

    def begin(self, line: str) -> int:
        """Give an order; its number, once it is queued (a stop: started)."""
        match = _NEWS.fullmatch("OK " + self.ask(line))
        if match is None:
            raise BadCommand(f"'{line}' is no order")
        return int(match[2])

    def wait(self, number: int, timeout: float = 60.0, choose: Choose | None = None) -> str:
        """Until an order has come to its end: COMPLETED, or INTERRUPTEDBY and by what; Refused if it FAILED.

        If the robot asks which way to do it, `choose` is asked, with all that there is to choose among. A word now and
        then meanwhile keeps control.
        """
        until = time.monotonic() + timeout
        while True:
            line = self._news_of(number, until)
            match = _NEWS.fullmatch(line)
            if match is None:
                if choose is not None:
                    self._choose(line, number, choose)
            elif match[3] == "FAILED":
                raise Refused(match[4])
            elif match[3] in ("COMPLETED", "INTERRUPTEDBY"):
                return f"{match[3]} {match[4]}".rstrip()

    def do(self, line: str, timeout: float = 60.0, choose: Choose | None = None) -> str:
        """Give an order and wait for its end."""
        return self.wait(self.begin(line), timeout, choose)

    def _news_of(self, number: int, until: float) -> str:
        """The next line about an order, of those that are kept or that come."""
        while True:
            for kept in self._news:
                if kept[0] == number:
                    self._news.remove(kept)
                    return kept[1]
            line = self._hear_or_live(until)
            if not self._put_aside(line):
                self.heard.append(line)

    def _put_aside(self, line: str) -> bool:
        """Keep a line that answers nothing, for whoever wants to know later; whether it is one."""
        if match := _NEWS.fullmatch(line):
            self._newest = max(self._newest, int(match[2]))
            self._news.append((int(match[2]), line))
            return True
        if line.startswith("SELECT ") and isinstance(asked := parse(line), SelectStrategy):
            self._news.append((asked.order, line))
        if line.startswith(("SELECT ", "NOTIFY ")):
            self.heard.append(line)
            return True
        return False

    def _hear_or_live(self, until: float) -> str:
        while True:
            if time.monotonic() >= self._said + A_WORD_EVERY:
                self.send("OK")
            try:
                return self.hear(max(0.001, min(A_WORD_EVERY, until - time.monotonic())))
            except TimeoutError:
                if time.monotonic() >= until:
                    raise

    def _choose(self, line: str, number: int, choose: Choose) -> None:
        asked = parse(line)
        if isinstance(asked, SelectStrategy) and asked.order == number:
            self.send(str(UseStrategy(number, choose(asked.strategies))))

    def close(self) -> None:
        """Hang up; a robot that was in this client's control stops."""
        self._socket.close()

    def __enter__(self) -> Self:
        """Return the client."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Hang up."""
        self.close()


def _answers(command: Command, news: re.Match[str], newest: int) -> bool:
    """Whether news of an order are the answer to a command: those of a new order, or of the one that is spoken of."""
    number, stage = int(news[2]), news[3]
    command = command.command if isinstance(command, Direct) else command
    if isinstance(command, Cancel | UseStrategy):
        return number == command.order
    first = "STARTED" if isinstance(command, Stop) else "QUEUED"
    return isinstance(command, Order) and number > newest and stage in (first, "FAILED")
