"""Client: how any process asks a server for something, and hears what becomes of it.

with Client("robot.gripper") as gripper:
    gripper.ask(Close(force=5.0))                # waits until it is done
    number = gripper.send(Open())                # returns at once
    gripper.reports(number)                      # what became of it so far
    gripper.wait(number)

With `connect` the server is on another machine (HOST:PORT of a Gateway there); everything else is the same.
"""

from __future__ import annotations

import contextlib
import itertools
import secrets
import time
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from wholebody.channels import Reader
from wholebody.channels.directory import Machine, machine
from wholebody.channels.owned import Opened
from wholebody.errors import ChannelNotFound, GoalNotDone, LayoutMismatch, NoServer, WholebodyError
from wholebody.messages import Record, labels
from wholebody.services.records import (
    CLIENT_BITS,
    COUNT_BITS,
    Format,
    Reply,
    Request,
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
SILENT = 2.0
"""s without a word of what a server does, after which it counts as silent."""
KEEP_SENDING = 2.0
"""s for which it is, unless told otherwise: a robot does not begin to move because of what was told long ago."""
REMEMBERED = 256
"""Requests of which it knows what became of them; a stream of velocities has many."""


@dataclass
class _Sent:
    """A request of which nothing was heard yet."""

    request: Any
    until: float


class Client(Opened):
    """The requests of one process to the server of a name. All times are real seconds, but for those of reports.

    timeout   how long to wait for a server that is just being started
    patience  how long a server may be away meanwhile, because somebody starts it again
    answer    the dataclass of its answers, if it answers with numbers
    connect   HOST:PORT of another machine, where the server is; the machine, if somebody is connected to it already
    """

    missing: ClassVar[type[NoServer]] = NoServer
    does: ClassVar[type[Record] | None] = None
    """The record of what the server does now, if it puts one."""

    def __init__(
        self,
        name: str,
        timeout: float = 10.0,
        patience: float = 0.0,
        answer: type | None = None,
        connect: str | Machine = "",
    ) -> None:
        super().__init__()
        self.name, self._answer = name, answer
        self._owns_machine = isinstance(connect, str)
        self._machine = machine(connect) if isinstance(connect, str) else connect
        self.patience = max(patience, self._machine.patience)
        self._number = (secrets.randbits(CLIENT_BITS) or 1) << COUNT_BITS
        self._sent: dict[int, _Sent] = {}
        self._again = 0.0
        self._server = 0  # the process that answered last: another one does not know what was asked before it began
        self._told: dict[int, list[Report]] = {}
        self._looked = 0.0
        until = time.monotonic() + timeout
        while not self.alive:
            if time.monotonic() > until:
                self.close()
                raise self._gone(f"does not run{self.remedy}")
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
        if (kind := kind_name(type(request))) not in self._kinds:
            self._told[number] = [
                Report(number, Stage.REJECTED, f"{self} knows no '{kind}'; it knows {', '.join(self._kinds)}")
            ]
            return number
        self._put(number, next(reversed(self._sent), 0), request)
        if keep > 0.0:
            self._again = self._again if self._sent else time.monotonic() + AGAIN
            self._sent[number] = _Sent(request, time.monotonic() + keep)
        return number

    def ask(self, request: Any, timeout: float = 5.0, spin: float = 0.0) -> Report:
        """Ask, and wait until it is done; GoalNotDone if it is not, and why."""
        number = self.send(request, timeout)
        try:
            return self.wait(number, timeout, spin=spin)
        finally:
            self.give_up(number)

    def give_up(self, number: int) -> None:
        """Send a request no more."""
        self._sent.pop(number, None)

    def cancel(self, number: int) -> int:
        """Ask to give up a goal."""
        return self.send(Cancel(number))

    def wait(self, number: int, timeout: float = 120.0, until: Stage = Stage.SUCCEEDED, spin: float = 0.0) -> Report:
        """Wait for a stage of a request; GoalNotDone if it comes to another end, an error if nobody answers."""
        end, alive = time.monotonic() + timeout, time.monotonic()
        while True:
            if self._sent and time.monotonic() >= self._again and self.alive:
                self.follow()  # before anything is sent again, to channels that others may stand in the place of
            for report in self.reports(number):
                if report.stage is until:
                    return report
                if report.stage.final:
                    raise GoalNotDone(report.stage.name.lower(), report.text)
            if self._replies.wait(SLICE, mode="next", spin=spin):
                self._keep()
            elif self.alive:
                alive = time.monotonic()
                self.follow()
            elif time.monotonic() > alive + self.patience:
                raise self._gone("has ended")
            if time.monotonic() > end:
                raise self._overdue(until, timeout)

    def reports(self, number: int) -> tuple[Report, ...]:
        """What became of a request of this client so far; it does not wait. Progress is told in the newest only."""
        self._hear()
        return tuple(self._told.get(number, ()))

    def followed(self, number: int) -> tuple[Report, ...]:
        """The same of a goal under way; an error if the server has ended, which it looks up now and then."""
        told, now = self.reports(number), time.monotonic()
        if now > self._looked + SLICE and not (told and told[-1].stage.final):
            self._looked = now
            if not self.alive:
                raise self._gone("has ended")
        return told

    def close(self) -> None:
        """Let go of the channels, and of the other machine, if it was connected to for this client."""
        super().close()
        if self._owns_machine:
            self._machine.close()

    @property
    def alive(self) -> bool:
        """Whether the server runs."""
        return is_alive(self.name, self._machine)

    @property
    def silent_for(self) -> float:
        """Seconds since the server has said what it does, if it says that; a live one that is silent hangs."""
        self._doing.latest()
        return max(0.0, time.monotonic() - self._doing.stamp) if self._doing.sequence else 0.0

    @property
    def remedy(self) -> str:
        """How the server is started, to be said after what is wrong."""
        return ""

    def __str__(self) -> str:
        """Who is at the other end."""
        return f"'{self.name}'"

    def _gone(self, what: str) -> WholebodyError:
        """The error if there is no server."""
        return self.missing(f"{self} {what}")

    def _overdue(self, until: Stage, timeout: float) -> WholebodyError:
        """The error if the server runs, and does not answer in time."""
        hush = f"; it has said nothing for {self.silent_for:.0f} s" if self._silent else ""
        return self.missing(f"{self} did not come to '{until.name.lower()}' within {timeout:g} s{hush}")

    def _connect(self) -> None:
        """Open the channels, once there is a server."""
        opened, there = self._opened, self._machine
        self._files = self._identity
        self._requests: Any = opened.enter_context(there.writer(f"{self.name}.requests", Request))
        self._replies: Reader[Reply] = opened.enter_context(there.reader(f"{self.name}.replies", Reply))
        layout = self._requests.message.dtype
        self._kinds, self._room = labels(layout, "kinds"), int(next(iter(labels(layout, "room")), 0))
        self.about = next(iter(labels(layout, "about")), "")
        self._answers: Format | None = None if self._answer is None else format_of(self._answer, self._room)
        self._doing: Any = None
        with contextlib.suppress(ChannelNotFound):
            self._doing = opened.enter_context(there.reader(f"{self.name}.doing", self.does, every=False))

    @property
    def _silent(self) -> bool:
        return self._doing is not None and self.silent_for > SILENT

    @property
    def _identity(self) -> list[tuple[int, int] | None]:
        return [self._machine.identity(f"{self.name}.{each}") for each in ("requests", "replies")]

    def follow(self) -> None:
        """Open the channels again, if others have taken their place: the server was started again, and changed."""
        if self._identity == self._files:
            return
        self._opened.close()
        self._connect()
        self._again = 0.0  # at once

    def _hear(self) -> None:
        while self._replies.next():
            self._keep()
        if self._sent and time.monotonic() >= self._again:
            self._send_again(1)

    def _put(self, number: int, after: int, request: Any) -> None:
        message, kind = self._requests.message, cast(Any, type(request))
        message.number, message.after, message.kind = number, after, self._kinds.index(kind_name(kind))
        if field_names(kind):
            form, name = format_of(kind, self._room), kind_name(kind)
            if message[name].dtype != form.dtype:
                raise LayoutMismatch(f"{self} has another '{name}'; it runs in another version, so start it again")
            message[name] = form.pack(request)
        self._requests.put()

    def _send_again(self, count: int) -> None:
        """The oldest requests that were not acknowledged, in their order.

        One shows whether the server has lost it or is only slow, which more of them would make worse.
        """
        now, before = time.monotonic(), 0
        self._again = now + AGAIN
        self._sent = {number: each for number, each in self._sent.items() if now < each.until}
        for number, each in itertools.islice(self._sent.items(), count):
            self._put(number, before, each.request)
            before = number

    def _keep(self) -> None:
        message = self._replies.message
        number = message.number
        self._sent.pop(number, None)
        if self._replies.process != self._server:
            started_again, self._server = bool(self._server), self._replies.process
            if started_again:
                self._send_again(len(self._sent))
        told = self._told.get(number)
        if told is None:
            return
        report = read_report(message, self._answers)
        if told and told[-1].stage is report.stage:
            told[-1] = report
        elif not (told and told[-1].stage.final):
            told.append(report)


def is_alive(name: str, there: Machine | None = None) -> bool:
    """Whether a process serves this name."""
    return bool((there or machine()).writers(f"{name}.replies"))
