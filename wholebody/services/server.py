"""Server: where other processes ask over channels; each request is done once, also across restarts. GoalServer: goals.

    with Server("robot.gripper", (Open, Close)) as server:
        while ...:
            if (asked := server.take()) is not None:        # in a loop: a look, unless somebody asked
                server.reply(asked.number, Stage.SUCCEEDED)

A client counts its requests and sends each again until it hears a reply. The server takes those of a client in their
order, and each but once. A reply carries the last number done of every client, so a server that was killed and is
started again finds in its newest reply all that it had done: what is done is done when its reply is put. What a request
changes should not leave the process before that.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from wholebody.channels import Channel, Reader, Writer, directory
from wholebody.channels.layout import Layout
from wholebody.channels.owned import Opened
from wholebody.errors import BadMessage, ChannelError, LayoutMismatch, NoServer, TooManyWriters, WholebodyError
from wholebody.messages import Dtype
from wholebody.services.records import (
    CLIENTS,
    Reply,
    Request,
    client_of,
    field_names,
    format_of,
    kind_name,
    read_report,
    reply_record,
    request_record,
)
from wholebody.services.stage import Report, Stage

KEPT = 256
"""Requests and replies that are not overwritten yet, unless a server says otherwise."""


@dataclass(frozen=True)
class Cancel:
    """Give up the goal of a number; every goal server knows it."""

    number: int


class Asked(NamedTuple):
    """A request that is to be done now."""

    number: int
    request: Any


class Server(Opened):
    """Takes requests of the given kinds, each a dataclass, and replies; only one process may serve a name.

    doing  the record of what it does now, put on NAME.doing as often as it likes
    kept   how many requests and replies are not overwritten yet; who is silent for longer does not hear how it went
    room   how many numbers an array of a request or an answer may have
    about  what can be asked, in words for who does not know its dataclasses (parameters/verbs.py)
    last   the newest reply of the life before; None if there was none
    """

    missing: ClassVar[type[NoServer]] = NoServer

    def __init__(
        self,
        name: str,
        kinds: tuple[type, ...],
        answer: type | None = None,
        doing: Dtype | None = None,
        kept: int = KEPT,
        room: int = 0,
        about: str = "",
    ) -> None:
        super().__init__()
        self.name, self._kept = name, kept
        self._kinds = tuple((each, kind_name(each) if field_names(each) else "") for each in kinds)
        self._room = room
        self._answer = None if answer is None else format_of(answer, room)
        record = request_record(kinds, room, about)
        if not directory.writers(f"{name}.replies"):
            _remove_other(f"{name}.requests", record)
        requests = self._channel(f"{name}.requests", record, kept, CLIENTS)
        self._requests: Reader[Request] = self._opened.enter_context(requests.reader())
        self._requests.latest()  # what was asked before is for another life; who still waits asks again
        self._next: Callable[[], bool] = self._requests.next
        try:
            if doing is not None:
                self._doing: Writer = self._writer(f"{name}.doing", doing, writers=1)
            replies = self._channel(f"{name}.replies", reply_record(answer, room), kept, writers=1)
            self._replies = self._opened.enter_context(replies.writer())  # from now on it is alive
        except (TooManyWriters, LayoutMismatch):
            self.close()
            raise self.missing(self.taken) from None
        self._past: Reader[Reply] = self._opened.enter_context(replies.reader())
        self._done = self._replies.message.done
        self._rows: dict[int, int] = {}  # of clients in `done`, the one that was silent for longest first
        self._taken: dict[int, int] = {}  # by client, its last number
        self._replied: dict[int, int] = {}  # by number, the sequence of the newest reply
        self.last: Report | None = None
        self._remember()

    @property
    def taken(self) -> str:
        """What to say if another process serves the name."""
        return f"'{self.name}' is served by another process already; stop it first"

    def take(self) -> Asked | None:
        """The next request, if there is one that was not done before."""
        return self._look_at(self._requests.message) if self._next() else None

    def wait(self, timeout: float) -> Asked | None:
        """The same, for a process that has nothing else to do: wait for it, s."""
        return self._look_at(self._requests.message) if self._requests.wait(timeout, mode="next") else None

    def reply(
        self,
        number: int,
        stage: Stage,
        time: float = 0.0,
        text: str = "",
        progress: float = math.nan,
        answer: Any = None,
    ) -> None:
        """Say what became of a request. The first reply to it makes it done, and is put in the order of requests."""
        message: Any = self._replies.message
        message.number, message.stage, message.time, message.progress = number, stage, time, progress
        message.text = text
        if self._answer is not None and answer is not None:
            message["answer"] = self._answer.pack(answer)
        row = self._row(client_of(number))
        if number > self._done[row]:
            self._done[row] = number
        self._replies.put()
        self._note(number, self._replies.sequence)

    def _note(self, number: int, sequence: int) -> None:
        """Where the newest reply to a request stands."""
        self._replied[number] = sequence
        if len(self._replied) > self._kept:
            del self._replied[next(iter(self._replied))]

    # What was done before.

    def _look_at(self, message: Request) -> Asked | None:
        number, after = message.number, message.after
        client = client_of(number)
        taken = self._taken.get(client, 0)
        if number <= taken:
            self._repeat(number)
            return None
        if after > taken:
            return None  # the one before it was lost; its client sends both again
        self._taken[client] = number
        try:
            return Asked(number, self._read(message))
        except (BadMessage, IndexError) as error:
            self.reply(number, Stage.REJECTED, text=f"that is no request: {error}")
            return None

    def _read(self, message: Any) -> Any:
        kind, field = self._kinds[message.kind]
        return format_of(kind, self._room).unpack(message[field]) if field else kind()

    def _row(self, client: int) -> int:
        """Where the last number of a client stands; whoever was silent for longest gives way to a new one."""
        row = self._rows.pop(client, None)
        if row is None and len(self._rows) < CLIENTS:
            row = len(self._rows)
        elif row is None:
            forgotten = next(iter(self._rows))
            row = self._rows.pop(forgotten)
            self._taken.pop(forgotten, None)
            self._done[row] = 0
        self._rows[client] = row
        return row

    def _repeat(self, number: int) -> None:
        """Say again what became of a request, whose client seems not to have heard it."""
        row = self._rows.get(client_of(number))
        if number in self._replied and self._past.at(self._replied[number]):
            done = self._done.copy()
            self._replies.raw[:] = self._past.raw
            self._done[:] = done
            self._replies.put()
        elif row is not None and number <= self._done[row]:
            self.reply(number, Stage.FAILED, text="it was done long ago, and its reply is not kept any more")

    def _remember(self) -> None:
        """Know again what was done in the life before, and say of goals under way that they came to no end."""
        under_way: dict[int, Report] = {}
        while self._past.next():
            self.last = report = read_report(self._past.message, self._answer)
            self._note(report.number, self._past.sequence)
            under_way.pop(report.number, None)
            if not report.stage.final:
                under_way[report.number] = report
        if self.last is None:
            return
        self._replies.raw[:] = self._past.raw  # an answer that counts on is kept in replies without one
        for row, number in enumerate(self._done.tolist()):
            if number:
                self._rows[client_of(number)], self._taken[client_of(number)] = row, number
        for number, report in under_way.items():
            self.reply(number, Stage.FAILED, report.time, "its server ended before it was done")


def _remove_other(name: str, record: Dtype) -> None:
    """Remove the requests of a server that has ended and took others, though clients may still have them open."""
    with contextlib.suppress(ChannelError), Channel(name) as there:
        if there.layout.hash != Layout.of(record).hash:
            directory.remove(name, force=True)


@dataclass
class UnderWay:
    """A goal that was accepted and has not come to its end."""

    number: int
    goal: Any
    cancelled: bool = False


class GoalServer(Server):
    """Goals of the given kinds, one at a time in each slot; a robot whose arms move apart has a slot for each.

    if (asked := server.take_goal(time)) is not None:
        with server.rejecting(asked, time):          # REJECTED, if an error of ours says why
            begin(asked.request)
            server.accept(asked, time)
    server.run(time, progress=0.5)
    server.finish(Stage.SUCCEEDED, time)
    """

    def __init__(self, name: str, goals: tuple[type, ...], doing: Dtype | None = None, about: str = "") -> None:
        self.under_way: dict[str, UnderWay] = {}  # by slot
        super().__init__(name, (*goals, Cancel), doing=doing, about=about)

    @property
    def number(self) -> int:
        """Of a goal under way; 0 if there is none."""
        return next((each.number for each in self.under_way.values()), 0)

    def take_goal(self, time: float) -> Asked | None:
        """The next goal, if somebody gave one; what is to be cancelled is given up meanwhile."""
        asked = self.take()
        if asked is None or not isinstance(asked.request, Cancel):
            return asked
        number = asked.request.number
        slot = next((slot for slot, each in self.under_way.items() if each.number == number), None)
        if slot is None:
            self.reply(asked.number, Stage.REJECTED, time, f"goal {number} is not under way")
            return None
        self.under_way[slot].cancelled = True
        self.reply(asked.number, Stage.SUCCEEDED, time)
        self.give_up(slot)
        return None

    def give_up(self, slot: str) -> None:
        """Stop what is done for a goal; it counts as cancelled when it comes to its end."""

    @contextlib.contextmanager
    def rejecting(self, asked: Asked, time: float) -> Iterator[None]:
        """Reject a goal that cannot begin: an error of ours in the block is the reason."""
        try:
            yield
        except WholebodyError as error:
            self.reply(asked.number, Stage.REJECTED, time, str(error))

    def accept(self, asked: Asked, time: float, text: str = "", slot: str = "") -> UnderWay:
        """Take a goal; the one before it is preempted."""
        self.preempt(time, f"order {asked.number} came after it", slot)
        self.under_way[slot] = accepted = UnderWay(asked.number, asked.request)
        self.reply(asked.number, Stage.ACCEPTED, time, text)
        return accepted

    def run(self, time: float, slot: str = "", progress: float = math.nan) -> None:
        """Say that a goal has begun, or how far it has come."""
        self.reply(self.under_way[slot].number, Stage.RUNNING, time, progress=progress)

    def finish(self, stage: Stage, time: float, text: str = "", slot: str = "") -> None:
        """Say how a goal ended; one that was given up is cancelled, however well it ended."""
        ended = self.under_way.pop(slot)
        if ended.cancelled and stage is Stage.SUCCEEDED:
            stage = Stage.CANCELLED
        self.reply(ended.number, stage, time, text)

    def preempt(self, time: float, why: str, slot: str = "") -> None:
        """Say of a goal, if there is one, that it will not be reached, and why."""
        if slot in self.under_way:
            self.finish(Stage.PREEMPTED, time, why, slot)
