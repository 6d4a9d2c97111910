"""What bridges say to each other: messages, questions and answers as bytes, and what the far clock shows.

    message   importer ← exporter   header, payload                  whenever the channel has something new
    question  importer → exporter   header                           twice a second
    answer    importer ← exporter   header, layout text, message     the two last only if the importer lacks them

All numbers are little-endian, times are nanoseconds of the sender's CLOCK_MONOTONIC. A source is one opening of one
channel by one exporting process: sequences of two sources have nothing to do with each other.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import NamedTuple, Self

VERSION = 1

_MESSAGE = struct.Struct("<4sHxxQQQq")
_QUESTION = struct.Struct("<4sHxxQQQ")
_ANSWER = struct.Struct("<4sHxxQQqqII")

SOURCES_PER_PROCESS = 1 << 16
DRIFT = 200e-6  # how fast two quartz clocks may drift apart, generously


class Message(NamedTuple):
    """The head of a message; `HEAD` bytes, then the payload as it stood in the channel."""

    source: int
    layout_hash: int
    sequence: int
    stamp_ns: int

    def pack_into(self, buffer: bytearray) -> None:
        """Write the head to the beginning of the buffer."""
        _MESSAGE.pack_into(buffer, 0, b"WBme", VERSION, *self)

    @classmethod
    def parse(cls, data: bytes) -> Self | None:
        """Read the head of a message; None if this is none of ours."""
        if len(data) <= _MESSAGE.size:
            return None
        magic, version, *rest = _MESSAGE.unpack_from(data)
        return cls(*rest) if magic == b"WBme" and version == VERSION else None


HEAD = _MESSAGE.size


class Question(NamedTuple):
    """What an importer has already: 0 where it has nothing."""

    source: int
    layout_hash: int
    sequence: int

    def pack(self) -> bytes:
        """Return the question as bytes."""
        return _QUESTION.pack(b"WBqu", VERSION, *self)

    @classmethod
    def parse(cls, data: bytes) -> Self | None:
        """Read a question; None if this is none of ours."""
        if len(data) != _QUESTION.size:
            return None
        magic, version, *rest = _QUESTION.unpack(data)
        return cls(*rest) if magic == b"WBqu" and version == VERSION else None


@dataclass(frozen=True)
class Answer:
    """What an exporter has, and when it was asked and answered; layout_hash 0 if its channel does not exist."""

    source: int
    layout_hash: int
    depth: int
    received_ns: int
    sent_ns: int
    layout_text: str = ""
    message: bytes = b""

    @property
    def process(self) -> int:
        """The exporting process, whichever of its sources this is."""
        return self.source // SOURCES_PER_PROCESS

    def pack(self) -> bytes:
        """Return the answer as bytes."""
        text = self.layout_text.encode()
        times = self.received_ns, self.sent_ns
        head = _ANSWER.pack(b"WBan", VERSION, self.source, self.layout_hash, *times, self.depth, len(text))
        return head + text + self.message

    @classmethod
    def parse(cls, data: bytes) -> Self | None:
        """Read an answer; None if this is none of ours."""
        if len(data) < _ANSWER.size:
            return None
        magic, version, source, layout_hash, received, sent, depth, size = _ANSWER.unpack_from(data)
        rest = data[_ANSWER.size :]
        if magic != b"WBan" or version != VERSION or size > len(rest):
            return None
        try:
            return cls(source, layout_hash, depth, received, sent, rest[:size].decode(), rest[size:])
        except UnicodeDecodeError:
            return None


class Exchange(NamedTuple):
    """A question's answer, with the local times of both."""

    asked_ns: int
    answer: Answer
    arrived_ns: int

    @property
    def round_trip_ns(self) -> int:
        """Time on the way, there and back."""
        return max(0, (self.arrived_ns - self.asked_ns) - (self.answer.sent_ns - self.answer.received_ns))

    @property
    def offset_ns(self) -> int:
        """How far the far clock is ahead, if both ways took equally long."""
        return ((self.answer.received_ns - self.asked_ns) + (self.answer.sent_ns - self.arrived_ns)) // 2

    def uncertainty_ns(self, now_ns: int) -> float:
        """How wrong the offset may be by now."""
        return self.round_trip_ns / 2 + DRIFT * (now_ns - self.arrived_ns)


class FarClock:
    """How far another machine's CLOCK_MONOTONIC is ahead of ours, from questions and answers, as NTP does it.

    A question leaves at t0, is received at t1 and answered at t2 (far clock), the answer arrives at t3:

        offset = ((t1 − t0) + (t2 − t3)) / 2,   uncertainty = ((t3 − t0) − (t2 − t1)) / 2 + drift × (now − t3)

    All uncertainties grow equally, so the exchange that has the smallest keeps it until a better one comes.
    """

    def __init__(self) -> None:
        self._best: Exchange | None = None

    @property
    def offset_ns(self) -> int:
        """The best guess; 0 before the first exchange."""
        return self._best.offset_ns if self._best else 0

    def compare(self, new: Exchange) -> None:
        """Take in the times of one more exchange."""
        best = self._best
        if best is not None:
            mine, its = new.uncertainty_ns(new.arrived_ns), best.uncertainty_ns(new.arrived_ns)
            jumped = abs(new.offset_ns - best.offset_ns) > mine + its  # a clock stood still, in a suspended laptop say
            if its < mine and not jumped:
                return
        self._best = new
