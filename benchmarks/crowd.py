"""One to four writers and one to four readers on one channel of 1 KB messages, each a process that never rests.

Where there are more processes than cores, a batch of calls may contain the turn of another process: then the median
is still that of the calls, and p99 is that of the scheduler. Each process stays on one core, the writers counted from
the first and the readers from the last, so that some write while others read. A batch of `latest` counts if at least
half of its calls found something new; otherwise the figure would be that of looking in vain while no writer has its
turn. Where no batch counts, it is that figure after all, and `latest_in_vain` counts such combinations.

Between the timed batches every writer puts messages that differ from each other, and every reader looks whether what
it took is whole: all words of a message must be equal.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection

import numpy as np
import numpy.typing as npt

from benchmarks.processes import Helper
from benchmarks.report import Progress, Timing, no_garbage_collection, timed
from wholebody.channels import Channel
from wholebody.channels.channel import Reader, Writer

MOST = 4
WORDS = 128
MESSAGE = np.dtype((np.uint64, WORDS))
BATCH = 100  # calls timed together
CHECKED = 20  # calls between two batches, to put and to check messages that differ
# Of one batch: the time of a call, and how many calls put or took a message.
BATCH_RECORD = np.dtype([("microseconds", np.float64), ("messages", np.int64)])
HEAD_START = 0.02  # seconds, for everybody to get ready


@dataclass(frozen=True)
class Turn:
    """When to begin and to end, in seconds of time.monotonic()."""

    begin: float
    end: float


@dataclass(frozen=True)
class Findings:
    """What one process measured in its turn."""

    batches: npt.NDArray[np.void]
    checked: int = 0
    torn: int = 0


def measure(seconds: float, progress: Progress) -> dict[str, Timing | float]:
    """Time put and latest in every combination of writers and readers, `seconds` each."""
    results: dict[str, Timing | float] = {}
    checked = torn = in_vain = 0
    with ExitStack() as stack:
        cores = sorted(os.sched_getaffinity(0))
        writers = [stack.enter_context(Helper(write, index, cores[index % len(cores)])) for index in range(MOST)]
        readers = [stack.enter_context(Helper(read, cores[-1 - index % len(cores)])) for index in range(MOST)]
        for helper in writers + readers:
            helper.answer()
        for some_writers in range(1, MOST + 1):
            for some_readers in range(1, MOST + 1):
                progress("many writers and readers", len(results) / (2 * MOST**2))
                findings = _take_turn(writers[:some_writers], readers[:some_readers], seconds)
                puts, reads = findings[:some_writers], findings[some_writers:]
                who = f"1024_{some_writers}w_{some_readers}r"
                results[f"put_{who}"] = _timing(puts)
                results[f"latest_{who}"] = _timing(reads)
                in_vain += not any(_busy(each.batches).any() for each in reads)
                checked += sum(each.checked for each in reads)
                torn += sum(each.torn for each in reads)
    return results | {"latest_in_vain": in_vain, "messages_checked": checked, "messages_torn": torn}


def _timing(findings: list[Findings]) -> Timing:
    """The timing of the batches that count, of all processes."""
    batches = np.concatenate([each.batches for each in findings])
    busy = _busy(batches)
    return Timing.of(batches["microseconds"][busy] if busy.any() else batches["microseconds"])


def _busy(batches: npt.NDArray[np.void]) -> npt.NDArray[np.bool_]:
    """Which batches count."""
    return np.asarray(batches["messages"] >= BATCH // 2)


def _take_turn(writers: list[Helper], readers: list[Helper], seconds: float) -> list[Findings]:
    begin = time.monotonic() + HEAD_START
    for helper in writers + readers:
        helper.tell(Turn(begin, begin + seconds))
    return [helper.answer() for helper in writers + readers]


def write(control: Connection, index: int, core: int) -> None:
    """Put messages, in every turn we are told of."""
    os.sched_setaffinity(0, {core})
    writer = Channel("crowd", MESSAGE).writer()
    control.send("ready")
    while (turn := control.recv()) is not None:
        batches = _spend(turn, partial(_time_put, writer), partial(_put_different, writer, index))
        control.send(Findings(batches))


def read(control: Connection, core: int) -> None:
    """Take the newest message, in every turn we are told of."""
    os.sched_setaffinity(0, {core})
    reader = Channel("crowd", MESSAGE).reader()
    control.send("ready")
    while (turn := control.recv()) is not None:
        checks = np.zeros(2, np.int64)  # whole, torn
        batches = _spend(turn, partial(_time_latest, reader), partial(_check, reader, checks))
        control.send(Findings(batches, checked=int(checks.sum()), torn=int(checks[1])))


def _spend(
    turn: Turn, time_batch: Callable[[], tuple[float, int]], between: Callable[[], None]
) -> npt.NDArray[np.void]:
    """Time batches until the turn is over, with something else between them."""
    batches: list[tuple[float, int]] = []
    with no_garbage_collection():
        time.sleep(max(0.0, turn.begin - time.monotonic()))
        while not batches or time.monotonic() < turn.end:
            between()
            batches.append(time_batch())
    return np.array(batches, BATCH_RECORD)


def _time_put(writer: Writer) -> tuple[float, int]:
    return timed(writer.put, BATCH), BATCH


def _time_latest(reader: Reader) -> tuple[float, int]:
    taken_before = reader.sequence - reader.missed_total
    microseconds = timed(reader.latest, BATCH)
    return microseconds, reader.sequence - reader.missed_total - taken_before


def _put_different(writer: Writer, index: int) -> None:
    for _ in range(CHECKED):
        writer.message.fill((index << 56) + writer.sequence)
        writer.put()


def _check(reader: Reader, checks: npt.NDArray[np.int64]) -> None:
    for _ in range(CHECKED):
        if reader.latest():
            words = reader.message.tobytes()
            checks[int(words[8:] != words[:-8])] += 1
