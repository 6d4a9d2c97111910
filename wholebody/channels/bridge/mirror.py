"""The two ends of a mirrored channel: Export reads it, Import writes it on the other machine. No network in here."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from wholebody.channels import _ring
from wholebody.channels.bridge.link import (
    HEAD,
    SOURCES_PER_PROCESS,
    Answer,
    Exchange,
    FarClock,
    Message,
    Question,
)
from wholebody.channels.channel import Channel
from wholebody.channels.layout import Layout
from wholebody.channels.renewal import RenewingWriter
from wholebody.errors import BadLayout, ChannelError, ChannelGone, ChannelNotFound, NotAChannel, Overrun

BURST_NS = 5_000_000  # how far a sender may run ahead of its rate: jitter of the messages must not make it skip
BULK_BYTES = 60_000  # larger messages take their time: a camera's image must not hold up the robot's state
BEHIND_NS = 100_000_000  # what it may catch up on after it was held up; older messages than that nobody waits for
STRANDED_NS = 250_000_000  # a message sent so long ago and not known to the importer was lost on the way
SILENCE_NS = 2_000_000_000


@dataclass(frozen=True)
class MirrorStatus:
    """How one mirrored channel is doing at this instant; the counts are since the bridge started."""

    name: str
    direction: Literal["export", "import"]
    state: str  # "mirroring", "waiting for …" or "refused: …", in one line
    detail: str  # the whole text of what was refused, else nothing
    sent: int
    received: int
    gaps: int  # messages of the far (or exported) channel that were skipped: newest first, rate limit, slow link
    bad: int  # arrivals that are no messages of the channel's exporter
    rate: float  # messages mirrored per second
    age: float  # seconds since the newest mirrored message was put; ∞ before the first

    @property
    def dropped(self) -> int:
        """All that did not get across."""
        return self.gaps + self.bad


class _Tally:
    """What has been mirrored, and how fast of late."""

    def __init__(self) -> None:
        self.mirrored = self.gaps = self.bad = 0
        self.newest_ns: int | None = None
        self._past: deque[tuple[int, int]] = deque(maxlen=6)

    def remember(self, now_ns: int) -> None:
        """Keep the count of now, to see the rate later."""
        self._past.append((now_ns, self.mirrored))

    def rate(self, now_ns: int) -> float:
        past = list(self._past)
        if not past or now_ns <= past[0][0]:
            return 0.0
        return (self.mirrored - past[0][1]) * 1e9 / (now_ns - past[0][0])

    def age(self, now_ns: int) -> float:
        return math.inf if self.newest_ns is None else max(0, now_ns - self.newest_ns) * 1e-9


class _Place(NamedTuple):
    """Which file stands under a channel's name; another number: it was removed and made again."""

    device: int
    inode: int


def _place(path: Path) -> _Place | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return _Place(found.st_dev, found.st_ino)


class _Opened(NamedTuple):
    place: _Place | None
    source: int
    layout: Layout
    depth: int
    reader: _ring.Reader
    buffer: bytearray  # head, then the payload, which the reader fills in place


class Export:
    """The sending end: takes the messages of a local channel, newest first, at most `rate` a second."""

    def __init__(self, name: str, process: int, rate: float) -> None:
        self.name = name
        self.due_ns = 0
        self.somebody_listens = False
        self._path = Path(_ring.path(name))
        self._source = process * SOURCES_PER_PROCESS
        self._period_ns = int(1e9 / rate)
        self._schedule_ns = 0
        self._opened: _Opened | None = None
        self._taken = 0
        self._sent: bytes = b""
        self.taken_ns = 0
        self._fault = ""
        self._tally = _Tally()

    @property
    def reader(self) -> _ring.Reader | None:
        """What to wait on; None while there is no channel."""
        return self._opened.reader if self._opened else None

    def look(self, now_ns: int) -> None:
        """Open the channel, or open it again if another file stands there now."""
        self._tally.remember(now_ns)
        place = _place(self._path)
        if self._opened and place and self._opened.place == place:
            return
        self._opened, self._sent = None, b""
        try:
            self._opened, self._fault = self._open(place), ""
        except ChannelNotFound:
            self._fault = ""
        except ChannelError as error:
            self._fault = str(error)

    def _open(self, place: _Place | None) -> _Opened:
        with Channel(self.name) as channel:
            buffer = bytearray(HEAD + channel.dtype.itemsize)
            reader = _ring.Reader(channel.ring, memoryview(buffer)[HEAD:])
            self._source += 1
            self._taken = 0
            return _Opened(place, self._source, channel.layout, channel.depth, reader, buffer)

    def take(self, now_ns: int) -> list[bytes]:
        """What may be sent now: the newest messages since the last time, in order, as many as the rate allows."""
        opened = self._opened
        try:
            if opened is None or not opened.reader.latest():
                return []
        except (Overrun, ChannelGone, NotAChannel):
            return []  # so fast that the next try has a newer one anyway; or it is looked for soon
        reader = opened.reader
        newest, self.taken_ns = reader.sequence, now_ns
        self._tally.newest_ns = reader.stamp_ns
        self._sent = self._packed(opened)
        begin_ns = max(self._schedule_ns, now_ns - BEHIND_NS)
        allowed = 1 + max(0, now_ns + BURST_NS - begin_ns) // self._period_ns
        unread = newest - self._taken if self._taken else 1
        older = range(newest - min(unread, allowed) + 1, newest) if len(self._sent) <= BULK_BYTES else range(0)
        messages: list[bytes] = []
        with contextlib.suppress(ChannelGone, NotAChannel):
            messages += [self._packed(opened) for sequence in older if reader.at(sequence)]
        messages.append(self._sent)
        self._schedule_ns = begin_ns + self._period_ns * len(messages)
        self.due_ns = self._schedule_ns - BURST_NS
        self._taken = newest
        if self.somebody_listens:
            self._tally.mirrored += len(messages)
            self._tally.gaps += unread - len(messages)
        return messages

    def _packed(self, opened: _Opened) -> bytes:
        reader = opened.reader
        Message(opened.source, opened.layout.hash, reader.sequence, reader.stamp_ns).pack_into(opened.buffer)
        return bytes(opened.buffer)

    def answer(self, question: Question, received_ns: int) -> bytes:
        """Tell an importer what it does not know yet: the layout, the message lost on the way."""
        opened, sent = self._opened, self._sent
        now_ns = time.monotonic_ns()
        if opened is None:
            return Answer(self._source, 0, 0, received_ns, now_ns).pack()
        text = "" if question.layout_hash == opened.layout.hash else opened.layout.text
        head = Message.parse(sent)
        known = head is None or (question.source == head.source and question.sequence >= head.sequence)
        lost = b"" if known or now_ns - self.taken_ns < STRANDED_NS else sent
        return Answer(opened.source, opened.layout.hash, opened.depth, received_ns, now_ns, text, lost).pack()

    def status(self, now_ns: int) -> MirrorStatus:
        """How the export is doing."""
        tally = self._tally
        if self._fault:
            state = f"refused: {_first_line(self._fault)}"
        elif self._opened is None:
            state = "waiting for channel"
        else:
            state = "mirroring" if self.somebody_listens else "waiting for peer"
        rates = tally.rate(now_ns), tally.age(now_ns)
        return MirrorStatus(self.name, "export", state, self._fault, tally.mirrored, 0, tally.gaps, tally.bad, *rates)


class Import:
    """The receiving end: puts what arrives on a local channel of the same layout, stamped in local time.

    Only answers say who the exporter is and what its layout is. A message that fits neither waits for the next answer:
    a new exporter explains itself in it, and what stays unexplained is bad.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.has_question = threading.Event()
        self.closed = False
        self._path = Path(_ring.path(name))
        self._lock = threading.Lock()  # between the threads that receive and that ask
        self._far: Answer | None = None
        self._layout: Layout | None = None
        self._clock = FarClock()
        self._sequence = 0
        self._waiting = b""
        self._unexplained = 0
        self._local: _Local | None = None
        self._heard_ns = 0
        self._rivals = 0
        self._fault = ""
        self._tally = _Tally()

    def question(self) -> Question:
        """What to ask the exporters now."""
        with self._lock:
            self.has_question.clear()
            source = self._far.source if self._far else 0
            return Question(source, self._layout.hash if self._layout else 0, self._sequence)

    def arrived(self, data: bytes) -> None:
        """Put a message on the local channel, or keep it until an answer explains it."""
        with self._lock:
            self._arrived(data)

    def _arrived(self, data: bytes) -> None:
        head = Message.parse(data)
        if head is None:
            self._tally.bad += 1
        elif not self._explains(head):
            self._waiting = data
            self._unexplained += 1
            self.has_question.set()
        elif self._local is None:
            self._waiting = data
        elif len(data) != HEAD + len(self._local.buffer):
            self._tally.bad += 1
        elif head.sequence > self._sequence:
            self._tally.gaps += head.sequence - self._sequence - 1 if self._sequence else 0
            self._put(self._local, head, data)

    def _explains(self, head: Message) -> bool:
        far = self._far
        return far is not None and (head.source, head.layout_hash) == (far.source, far.layout_hash)

    def _put(self, local: _Local, head: Message, data: bytes) -> None:
        now_ns = time.monotonic_ns()
        stamp_ns = max(head.stamp_ns - self._clock.offset_ns, self._tally.newest_ns or 0)
        local.buffer[:] = memoryview(data)[HEAD:]
        local.writer.put_stamped(min(stamp_ns, now_ns), 1 + self._tally.gaps)
        self._sequence = head.sequence
        self._heard_ns = now_ns
        self._tally.newest_ns = min(stamp_ns, now_ns)
        self._tally.mirrored += 1

    def settle(self, exchanges: Sequence[Exchange]) -> None:
        """Learn from all the answers to one question, then deliver what waited for them."""
        with self._lock:
            now_ns = time.monotonic_ns()
            self._tally.remember(now_ns)
            chosen = self._choose(exchanges)
            if chosen is None:
                return
            self._heard_ns = now_ns
            self._adopt(chosen)
            self._look()
            waiting, self._waiting = self._waiting, b""
            unexplained, self._unexplained = self._unexplained, 0
            head = Message.parse(waiting)
            if head is not None and self._explains(head):
                self._arrived(waiting)
            else:
                self._tally.bad += unexplained
            if chosen.answer.message:
                self._arrived(chosen.answer.message)

    def _choose(self, exchanges: Sequence[Exchange]) -> Exchange | None:
        """The exporter we know if it still has the channel, so that two robots are never mixed; else any that has."""
        having = [one for one in exchanges if one.answer.layout_hash] or list(exchanges)
        ours = [one for one in having if self._far and one.answer.process == self._far.process]
        self._rivals = len(having) - 1 if having and having[0].answer.layout_hash else 0
        return next(iter(ours + having), None)

    def _adopt(self, chosen: Exchange) -> None:
        answer = chosen.answer
        if self._far is None or answer.process != self._far.process:
            self._clock = FarClock()
        if self._far is None or answer.source != self._far.source:
            self._sequence = 0
        self._clock.compare(chosen)
        self._far = answer
        if answer.layout_text and answer.layout_hash != (self._layout.hash if self._layout else 0):
            self._layout, self._local = None, None
            try:
                self._layout = _rebuild(answer)
            except BadLayout as error:
                self._fault = str(error)

    def _look(self) -> None:
        """Open or make the local channel, or make it again if it was removed."""
        if self.closed or self._far is None or self._layout is None or self._far.layout_hash != self._layout.hash:
            return
        place = _place(self._path)
        if self._local and place and self._local.place == place:
            return
        self._local = None
        try:
            self._local, self._fault = self._open(place, self._layout, self._far.depth), ""
        except ChannelError as error:
            self._fault = f"the messages from the far machine ('yours' here) do not get into this one: {error}"

    def _open(self, place: _Place | None, layout: Layout, depth: int) -> _Local:
        with Channel(self.name, layout.dtype, depth) as channel:
            buffer = bytearray(layout.dtype.itemsize)
            return _Local(place, RenewingWriter(channel.ring, buffer), buffer)

    def close(self) -> None:
        """Give the place of a writer back, and take no more."""
        self.has_question.set()
        with self._lock:
            self.closed, self._local = True, None

    def status(self, now_ns: int) -> MirrorStatus:
        """How the import is doing."""
        tally = self._tally
        if self._fault:
            state = f"refused: {_first_line(self._fault)}"
        elif self._far is None or now_ns - self._heard_ns > SILENCE_NS:
            state = "waiting for peer"
        elif self._far.layout_hash == 0:
            state = "waiting for channel"
        else:
            state = "mirroring, ignoring a second exporter" if self._rivals else "mirroring"
        rates = tally.rate(now_ns), tally.age(now_ns)
        return MirrorStatus(self.name, "import", state, self._fault, 0, tally.mirrored, tally.gaps, tally.bad, *rates)


class _Local(NamedTuple):
    place: _Place | None
    writer: _ring.Writer
    buffer: bytearray


def _rebuild(answer: Answer) -> Layout:
    """The layout that a far text describes, if it comes out here as it went in there."""
    layout = Layout(answer.layout_text)
    try:
        same = layout.hash == answer.layout_hash and Layout.of(layout.dtype) == layout
    except Exception as error:  # the text comes from a network: anything may be in it
        raise BadLayout(f"the far machine sends a layout that cannot be understood: {error!r}") from error
    if not same:
        raise BadLayout("the far machine sends a layout that comes out differently here; do both run one version?")
    return layout


def _first_line(text: str) -> str:
    return text.splitlines()[0].rstrip(":")
