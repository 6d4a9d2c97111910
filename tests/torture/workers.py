"""The Python writers and readers of the torture: the product as users have it, with the messages of torture.c."""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from wholebody.channels import Channel, Reader
from wholebody.errors import Overrun, RegistrationBusy, TooManyWriters

Words = npt.NDArray[np.uint64]
GOLDEN = 0x9E3779B97F4A7C15
MASK = 2**64 - 1

TALLIES = ("put", "read", "torn", "misordered", "missed", "overrun", "refused", "faults")  # as in torture.c


def message_type(size: int) -> np.dtype[Any]:
    """A message of `size` bytes."""
    return np.dtype([("words", "<u8", (size // 8,))])


def fill(words: Words, life: int, count: int) -> None:
    """Write the message of payload.h: life, count, a pattern of both, a checksum."""
    words[0], words[1] = life, count
    words[2:-1] = _pattern(words)
    words[-1] = np.bitwise_xor.reduce(words[:-1])


def is_whole(words: Words) -> bool:
    """False if this is a mix of two messages."""
    return bool((words[2:-1] == _pattern(words)).all() and words[-1] == np.bitwise_xor.reduce(words[:-1]))


def _pattern(words: Words) -> Words:
    x = int(words[0]) ^ (int(words[1]) * GOLDEN & MASK)
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    pattern: Words = np.arange(2, len(words) - 1, dtype=np.uint64) * np.uint64(GOLDEN)
    pattern += np.uint64(x ^ x >> 27)
    return pattern


@dataclass
class Tally:
    """This worker's row of counters in the file that survives it."""

    row: Words

    def add(self, what: str, number: int = 1) -> None:
        """Count."""
        self.row[TALLIES.index(what)] += np.uint64(number)


@dataclass
class Ledger:
    """What a reader has seen, to judge what it sees next."""

    sequence: int = 0
    stamp: int = 0
    missed: int = 0
    authors: dict[int, tuple[int, int]] = field(default_factory=dict)  # life → its last count, missed until then

    def verdict(self, reader: Reader) -> str | None:
        """'torn', 'misordered', or None if the message is good."""
        words: Words = reader.message["words"]
        life, count = int(words[0]), int(words[1])
        self.missed += reader.missed
        before, self.sequence = self.sequence, reader.sequence
        stamp, self.stamp = self.stamp, reader.stamp_ns
        if not is_whole(words) or reader.process != life & 0xFFFFFFFF:
            return "torn"
        last, missed = self.authors.get(life, (count - 1, self.missed))
        self.authors[life] = (count, self.missed)
        in_order = not before or reader.sequence == before + 1 + reader.missed
        counted = 0 <= count - last - 1 <= self.missed - missed
        good = in_order and counted and self.missed == reader.missed_total and self.stamp >= stamp
        return None if good else "misordered"


def write_on(channel: Channel, tally: Tally, rng: random.Random) -> None:
    """Put messages until killed."""
    life = rng.getrandbits(32) << 32 | os.getpid()
    count = 0
    while True:
        try:
            writer = channel.writer()
            break
        except (TooManyWriters, RegistrationBusy) as refusal:
            tally.add("refused", isinstance(refusal, RegistrationBusy))
            time.sleep(0.001)
    while True:
        count += 1
        fill(writer.message["words"], life, count)
        writer.put()
        tally.add("put")
        if rng.random() < 0.1:
            time.sleep(rng.uniform(0, 0.002))


def read_on(channel: Channel, tally: Tally, rng: random.Random) -> None:
    """Take messages in every way there is, until killed."""
    reader, ledger = channel.reader(), Ledger()
    ways: list[Callable[[], bool]] = [
        reader.latest,
        reader.next,
        lambda: reader.wait(timeout=0.02, mode="next"),
        lambda: reader.wait(timeout=0.02, spin=3e-5),
    ]
    while True:
        try:
            taken = rng.choice(ways)()
        except Overrun:
            tally.add("overrun")
            continue
        if not taken:
            time.sleep(0.0001)
            continue
        verdict = ledger.verdict(reader)
        tally.add("read")
        tally.add("missed", reader.missed)
        if verdict:
            tally.add(verdict)
            print(f"{verdict}: message {reader.sequence}, missed {reader.missed}, read by Python", file=sys.stderr)


ROLES: dict[str, Callable[[Channel, Tally, random.Random], None]] = {"writer": write_on, "reader": read_on}


def play(role: str, name: str, row: Words, seed: int) -> None:
    """Be a worker until killed; an exception is a fault."""
    tally = Tally(row)
    try:
        ROLES[role](Channel(name), tally, random.Random(seed))
    except Exception as error:
        tally.add("faults")
        print(f"{role} of {name}: {error!r}", file=sys.stderr, flush=True)
        time.sleep(3600)
