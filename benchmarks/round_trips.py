"""Round trips between two processes, 1 KB there and back, all contenders in turns.

Each contender has two processes of its own, each held on a core of its own. Left to the scheduler, two processes that
wait for each other may share a core, above all on a busy machine: those that block then take about a third of the time
(a pipe 20 to 30 µs instead of 80), so that spinning, which needs two cores, gains less over them than is shown here.
The contenders take turns in short rounds, so that what else happens on the machine hits all of them alike.
Each trip is timed alone and contains one reading of the clock; the first trips of a round are left out.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from importlib.util import find_spec
from multiprocessing.connection import Connection

import numpy as np

from benchmarks import peers
from benchmarks.processes import Helper, HelperLost
from benchmarks.report import Progress, Samples, Timing, no_garbage_collection
from wholebody.errors import install_command

TRIPS = 50  # of one contender, before it is the next one's turn
WARM_UP = 20
CONTENDERS: Mapping[str, Callable[[], peers.Pair]] = {
    "round_trip_spinning": peers.spinning_channels,
    "round_trip_blocking": peers.blocking_channels,
    "round_trip_pipe": peers.pipes,
    "round_trip_unix_datagram": peers.unix_datagrams,
    "round_trip_iceoryx2": peers.iceoryx2_ports,
    "round_trip_zenoh": peers.zenoh_peers,
}
LIBRARIES = {"round_trip_iceoryx2": "iceoryx2", "round_trip_zenoh": "zenoh"}
EXTRAS = {"iceoryx2": "bench", "zenoh": "net"}


def installed() -> list[str]:
    """The contenders whose library is here."""
    return [name for name in CONTENDERS if name not in LIBRARIES or find_spec(LIBRARIES[name])]


def missing() -> list[str]:
    """What is left out and how to get it, as a note each."""
    return [
        f"{name} is left out; it needs: {install_command(EXTRAS[library])}"
        for name, library in LIBRARIES.items()
        if name not in installed()
    ]


def measure(seconds: float, progress: Progress) -> dict[str, Timing | float]:
    """Time round trips of every contender that is installed, in turns, for about that many seconds."""
    what = "round trips between two processes"
    with ExitStack() as stack:
        progress(what, 0.0)
        runners = {name: stack.enter_context(Runner(CONTENDERS[name]())) for name in installed()}
        samples: dict[str, list[Samples]] = {name: [] for name in runners}
        for runner in runners.values():
            runner.wait_until_open()
        begin = time.monotonic()
        while (done := (time.monotonic() - begin) / seconds) < 1.0:
            progress(what, done)
            for name, runner in runners.items():
                samples[name].append(runner.trips(TRIPS))
    return {name: Timing.of(np.concatenate(parts)) for name, parts in samples.items()}


class Runner:
    """The two processes of one contender."""

    def __init__(self, pair: peers.Pair) -> None:
        cores = sorted(os.sched_getaffinity(0))
        self.stack = ExitStack()
        self.asker = self.stack.enter_context(Helper(ask, pair.asker, cores[0]))
        self.answerer = self.stack.enter_context(Helper(answer, pair.answerer, cores[-1]))

    def wait_until_open(self) -> None:
        """Wait until both ends are open."""
        self.asker.answer()
        self.answerer.answer()

    def trips(self, count: int) -> Samples:
        """Microseconds of each of that many round trips."""
        self.answerer.tell(count + WARM_UP)
        self.asker.tell(count + WARM_UP)
        times: Samples = self.asker.answer()
        self.answerer.answer()
        return times[WARM_UP:]

    def __enter__(self) -> Runner:
        """Return the runner."""
        return self

    def __exit__(self, *error: object) -> None:
        """End both processes."""
        self.stack.close()


def ask(control: Connection, open_link: Callable[[], peers.Link], core: int) -> None:
    """Make as many round trips as told, and report the time of each."""
    os.sched_setaffinity(0, {core})
    link = open_link()
    control.send("open")
    while (count := control.recv()) is not None:
        with no_garbage_collection():
            control.send(_ask(link.send, link.receive, count))
    link.close()


def _ask(send: Callable[[], object], receive: Callable[[], object], count: int) -> Samples:
    clock, instants = time.perf_counter_ns, [0] * (count + 1)
    instants[0] = clock()
    for trip in range(1, count + 1):
        send()
        if not receive():
            raise HelperLost("a message got no answer")
        instants[trip] = clock()
    return np.diff(np.array(instants)) * 1e-3


def answer(control: Connection, open_link: Callable[[], peers.Link], core: int) -> None:
    """Send as many messages back as told."""
    os.sched_setaffinity(0, {core})
    link = open_link()
    control.send("open")
    while (count := control.recv()) is not None:
        send, receive = link.send, link.receive
        with no_garbage_collection():
            for _ in range(count):
                receive()
                send()
        control.send("done")
    link.close()
