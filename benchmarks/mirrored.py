"""A channel of 1 KB messages at 1 kHz, mirrored by two `wholebody bridge` processes over loopback TCP.

The bridges have a channel folder each, like two machines, but one clock: the age of a message at the far reader is the
time since the writer noted its own in the message. The same writer, at the same pace, is timed without the bridges
before and after, to show what they cost it; each of its puts is timed alone, and after a sleep of a millisecond a put
finds its code and data cold, so it takes longer than in a batch.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from benchmarks.processes import FOLDER_VARIABLE, PATIENCE, Helper, HelperLost
from benchmarks.report import Progress, Samples, Timing, no_garbage_collection, part
from wholebody.channels import Channel
from wholebody.channels.channel import Writer
from wholebody.errors import install_command
from wholebody.realtime import sleep_until

NAME = "bench.mirrored"
MESSAGE = np.dtype([("time_ns", np.int64), ("rest", np.uint8, 1016)])
PERIOD = 0.001
HEAD_START = 0.1  # seconds before the first put, for the far reader to get ready
LINGER = 0.2  # seconds after the last put, for messages on their way
ALONE = "puts at 1 kHz without a bridge"
MIRRORED = "puts at 1 kHz with a bridge"


def missing() -> list[str]:
    """That there is no bridge to measure and how to get it, as a note; nothing if there is one."""
    return [] if find_spec("zenoh") else [f"the bridge is left out; it needs: {install_command('net')}"]


def measure(seconds: float, progress: Progress) -> dict[str, Timing | float]:
    """Time the writer without and with the bridges, and the messages on their way, for that many seconds."""
    folder = Path(os.environ[FOLDER_VARIABLE])
    near, far = str(folder / "near"), str(folder / "far")
    with ExitStack() as stack:
        writer = stack.enter_context(Helper(write, near))
        reader = stack.enter_context(Helper(read, far))
        alone = [_put(writer, seconds / 4, ALONE, part(progress, 0.0, 0.2))]
        with bridges(near, far):
            _wait_for_bridges(writer, reader)
            reader.tell(HEAD_START + seconds + LINGER)
            mirrored = _put(writer, seconds, MIRRORED, part(progress, 0.2, 0.8))
            ages: Samples = reader.answer()
        alone.append(_put(writer, seconds / 4, ALONE, part(progress, 0.8, 1.0)))
    return {
        "paced_put_1024": Timing.of(np.concatenate(alone)),
        "bridge_put_1024": Timing.of(mirrored),
        "bridge_age": Timing.of(ages),
        "bridge_arrived_percent": round(100 * ages.size / mirrored.size, 2),
    }


def _put(writer: Helper, seconds: float, what: str, progress: Progress) -> Samples:
    """Let the writer put for that long; microseconds of each put."""
    writer.tell(seconds)
    steps = round(seconds / 0.25)
    for step in range(steps):
        progress(what, step / steps)
        time.sleep(0.25)
    samples: Samples = writer.answer()
    return samples


def _wait_for_bridges(writer: Helper, reader: Helper) -> None:
    deadline = time.monotonic() + PATIENCE
    arrived = 0
    while not arrived:
        if time.monotonic() > deadline:
            raise HelperLost(f"nothing came over the bridge in {PATIENCE:.0f} s")
        reader.tell(HEAD_START + 0.1)
        writer.tell(0.1)
        writer.answer()
        arrived = reader.answer().size


@contextmanager
def bridges(near: str, far: str) -> Iterator[None]:
    """Mirror the channel from one folder to the other."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        endpoint = f"127.0.0.1:{probe.getsockname()[1]}"
    exporting = ["--listen", endpoint, "--export", NAME, "--rate", "1000", "--quiet"]
    importing = ["--connect", endpoint, "--import", NAME, "--quiet"]
    with Helper(bridge, near, exporting), Helper(bridge, far, importing):
        yield


def bridge(control: Connection, folder: str, options: list[str]) -> None:
    """Be a `wholebody bridge` process until told to end."""
    from wholebody import cli

    os.environ[FOLDER_VARIABLE] = folder
    sys.argv = ["wholebody", "bridge", *options]
    threading.Thread(target=_end_when_told, args=(control,), daemon=True).start()
    cli.main()


def _end_when_told(control: Connection) -> None:
    with suppress(EOFError, OSError):
        control.recv()
    os.kill(os.getpid(), signal.SIGTERM)


def write(control: Connection, folder: str) -> None:
    """Put at 1 kHz for as many seconds as told; report the microseconds of each put."""
    os.environ[FOLDER_VARIABLE] = folder
    writer = Channel(NAME, MESSAGE).writer()
    while (seconds := control.recv()) is not None:
        with no_garbage_collection():
            control.send(_write(writer, round(seconds / PERIOD)))


def _write(writer: Writer, count: int) -> Samples:
    message, put, clock, samples = writer.message, writer.put, time.monotonic_ns, [0] * count
    instant = time.monotonic() + HEAD_START
    for number in range(count):
        sleep_until(instant)
        instant += PERIOD
        message["time_ns"] = clock()
        start = clock()
        put()
        samples[number] = clock() - start
    return np.array(samples) * 1e-3


def read(control: Connection, folder: str) -> None:
    """Take every message that comes in as many seconds as told; report the age of each in microseconds."""
    os.environ[FOLDER_VARIABLE] = folder
    reader = Channel(NAME, MESSAGE).reader()
    while (seconds := control.recv()) is not None:
        until, ages = time.monotonic() + seconds, []
        reader.latest()
        while reader.wait(until=until, mode="next"):
            ages.append(time.monotonic_ns() - int(reader.message["time_ns"]))
        control.send(np.array(ages) * 1e-3)
