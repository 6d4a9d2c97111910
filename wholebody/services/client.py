"""Client: how any process asks a server for something, and hears what becomes of it.

with Client("robot.gripper") as gripper:
    gripper.ask(Close(force=5.0))                # waits until it is done
    number = gripper.send(Open())                # returns at once
    gripper.reports(number)                      # what became of it so far
    gripper.wait(number)
"""

from __future__ import annotations

import contextlib
import itertools
import secrets
import time
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from wholebody.channels import Channel, Reader, Writer, directory
from wholebody.channels.owned import Opened
from wholebody.errors import ChannelNotFound, GoalNotDone, LayoutMismatch, NoServer
from wholebody.messages import labels
from wholebody.services.records import (
    CLIENT_BITS,
    COUNT_BITS,
    field_names,
    format_of,
    kind_name,
    read_report,
)
from wholebody.services.server import Cancel
from wholebody.services.stage import Report, Stage

SLICE = 0.1
"""s. How long it waits before it looks whether the server still lives."""
AGAIN = 0.25
"""s after which the oldest request that nobody acknowledged is sent again."""
KEEP_SENDING = 2.0
"""s for which it is, unless told otherwise: a robot does not begin to move because of what was told long ago."""
REMEMBERED = 256
"""Requests of which it knows what became of them; a stream of velocities has many."""


@dataclass
class _Sent:
    """A request of which nothing was heard yet."""

    raw: npt.NDArray[np.uint8]
    until: float


class Client(Opened):
    """The requests of one process to the server of a name. All times are real seconds, but for those of reports.

    timeout   how long to wait for a server that is just being started
    patience  how long a server may be away meanwhile, because somebody starts it again
    answer    the dataclass of its answers, if it answers with numbers
    """

    missing: ClassVar[type[NoServer]] = NoServer

    def __init__(self, name: str, timeout: float = 10.0, patience: float = 0.0, answer: type | None = None) -> None:
        super().__init__()
        self.name, self.patience, self._answer = name, patience, answer
        self._number = (secrets.randbits(CLIENT_BITS) or 1) << COUNT_BITS
        self._sent: dict[int, _Sent] = {}
        self._again = 0.0
        self._server = 0  # the process that answered last: another one does not know what was asked before it began
        self._told: dict[int, list[Report]] = {}
        until = time.monotonic() + timeout
        while not self.alive:
            if time.monotonic() > until:
                raise self.missing(f"{self} does not run{self.remedy}")
            time.sleep(0.02)
        self._connect()

    def send(self, request: Any, keep: float = KEEP_SENDING) -> int:
        """Ask; the number by which to hear of it.

        Until somebody acknowledges it, it is sent again for that long, s; with 0 never, and nothing waits for it.
        """
        self._hear()
        self._number = number = self._number + 1
        self._told[number] = []
        if len(self._told) > REMEMBERED:
            del self._told[next(iter(self._told))]
        message, kind = self._requests.message, kind_name(type(request))
        kinds = labels(self._requests_dtype, "kinds")
        if kind not in kinds:
            self._told[number] = [
                Report(number, Stage.REJECTED, f"{self} knows no '{kind}'; it knows {', '.join(kinds)}")
            ]
            return number
        message["number"], message["after"] = number, next(reversed(self._sent), 0)
        message["kind"] = kinds.index(kind)
        of_request: Any = type(request)
        if field_names(of_request):
            form = format_of(of_request)
            if message[kind].dtype != form.dtype:
                raise LayoutMismatch(f"{self} has another '{kind}'; it runs in another version, so start it again")
            message[kind] = form.pack(request)
        if keep > 0.0:
            self._again = self._again if self._sent else time.monotonic() + AGAIN
            self._sent[number] = _Sent(self._requests.raw.copy(), time.monotonic() + keep)
        self._requests.put()
        return number

    def ask(self, request: Any, timeout: float = 5.0, spin: float = 0.0) -> Report:
        """Ask, and wait until it is done; GoalNotDone if it is not, and why."""
        number = self.send(request, timeout)
        try:
            return self.wait(number, timeout, spin=spin)
        finally:
            self._sent.pop(number, None)

    def cancel(self, number: int) -> int:
        """Ask to give up a goal."""
        return self.send(Cancel(number))

    def wait(self, number: int, timeout: float = 120.0, until: Stage = Stage.SUCCEEDED, spin: float = 0.0) -> Report:
        """Wait for a stage of a request; GoalNotDone if it comes to another end, an error if nobody answers."""
        end, alive = time.monotonic() + timeout, time.monotonic()
        while True:
            for report in self.reports(number):
                if report.stage is until:
                    return report
                if report.stage.final:
                    raise GoalNotDone(report.stage.name.lower(), report.text)
            if self._replies.wait(SLICE, mode="next", spin=spin):
                self._keep()
            elif self.alive:
                alive = time.monotonic()
                self._follow()
            elif time.monotonic() > alive + self.patience:
                raise self.missing(f"{self} has ended")
            if time.monotonic() > end:
                raise self.missing(f"{self} did not come to '{until.name.lower()}' within {timeout:g} s")

    def reports(self, number: int) -> tuple[Report, ...]:
        """What became of a request of this client so far; it does not wait. Progress is told in the newest only."""
        self._hear()
        return tuple(self._told.get(number, ()))

    @property
    def alive(self) -> bool:
        """Whether the server runs."""
        return is_alive(self.name)

    @property
    def remedy(self) -> str:
        """How the server is started, to be said after what is wrong."""
        return ""

    def __str__(self) -> str:
        """Who is at the other end."""
        return f"'{self.name}'"

    def _connect(self) -> None:
        """Open the channels, once there is a server."""
        requests = self._opened.enter_context(Channel(f"{self.name}.requests"))
        replies = self._opened.enter_context(Channel(f"{self.name}.replies"))
        self._file, self._requests_dtype = directory.identity(replies.name), requests.dtype
        self._replies: Reader = self._opened.enter_context(replies.reader())
        self._replies.latest()
        self._requests: Writer = self._opened.enter_context(requests.writer())
        with contextlib.suppress(ChannelNotFound):
            self._doing: Reader = self._opened.enter_context(Channel(f"{self.name}.doing").reader())

    def _follow(self) -> None:
        """Open the channels again, if others have taken their place."""
        if directory.identity(f"{self.name}.replies") == self._file:
            return
        self._opened.close()
        self._connect()
        self._again = 0.0  # at once

    def _hear(self) -> None:
        while self._replies.next():
            self._keep()
        if self._sent and time.monotonic() >= self._again:
            self._send_again(1)

    def _send_again(self, count: int) -> None:
        """The oldest requests that were not acknowledged, in their order.

        One shows whether the server has lost it or is only slow, which more of them would make worse.
        """
        now, before = time.monotonic(), 0
        self._again = now + AGAIN
        self._sent = {number: each for number, each in self._sent.items() if now < each.until}
        for number, each in itertools.islice(self._sent.items(), count):
            self._requests.raw[:] = each.raw
            self._requests.message["after"], before = before, number
            self._requests.put()

    def _keep(self) -> None:
        message = self._replies.message
        number = int(message["number"])
        self._sent.pop(number, None)
        if self._replies.process != self._server:
            started_again, self._server = bool(self._server), self._replies.process
            if started_again:
                self._send_again(len(self._sent))
        told = self._told.get(number)
        if told is None:
            return
        report = read_report(message, self._answer)
        if told and told[-1].stage is report.stage:
            told[-1] = report
        elif not (told and told[-1].stage.final):
            told.append(report)


def is_alive(name: str) -> bool:
    """Whether a process serves this name."""
    return bool(directory.writers(f"{name}.replies"))
