"""Simulated boards or servos that are a process of their own: lines as UDP ports, which they announce on a channel.

A datagram of requests begins with its time, so that a device that is held up still begins when it should have.
"""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from wholebody import messages
from wholebody.channels import Channel
from wholebody.drivers.names import Names
from wholebody.errors import HardwareError
from wholebody.realtime import until_told

PATIENCE = 20.0
"""s to wait for an announcement."""


@dataclass(frozen=True)
class Announcement:
    """Where simulated boards or servos can be reached: the name of their buses, or UDP ports."""

    name: str
    ports: tuple[int, ...]


class Announce(Protocol):
    """Says where simulated devices are."""

    def __call__(self, name: str, ports: Sequence[int]) -> None:
        """Say it."""


@contextmanager
def announcing(robot: str) -> Iterator[Announce]:
    """Announce devices under the name of a robot, whose only ones they are, until the end of the block."""
    with Channel(Names(robot).boards, messages.event(), writers=1) as channel, channel.writer() as writer:

        def announce(name: str, ports: Sequence[int]) -> None:
            writer.message.text = name
            writer.message.count = len(ports)
            writer.message.values[: len(ports)] = ports
            writer.put()

        yield announce


def announced(robot: str, otherwise: str) -> Announcement:
    """Wait until the simulated devices of a robot's name say where they are; the error says what to do otherwise."""
    names = Names(robot)
    until = time.monotonic() + PATIENCE
    with Channel(names.boards, messages.event(), writers=1) as channel, channel.reader() as reader:
        while time.monotonic() < until:
            if (reader.latest() or reader.sequence) and reader.process in channel.writer_processes():
                said = reader.message
                ports = tuple(int(number) for number in said.values[: said.count])
                return Announcement(said.text, ports)
            time.sleep(0.01)
    raise HardwareError(f"no simulated device of '{names.robot}' within {PATIENCE:g} s; {otherwise}")


STAMP = struct.Struct("<d")
CATCH_UP = 0.1
"""s that a process which was held up makes good; more are left out"""


class DatagramPort:
    """The line of simulated devices in another process: one datagram a cycle each way."""

    simulated = True

    def __init__(self, number: int, host: str = "127.0.0.1") -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.connect((host, number))
        self._socket.setblocking(False)

    def send(self, packets: Sequence[bytes]) -> None:
        """Send all requests at once; the other side takes the turns."""
        with contextlib.suppress(OSError):  # nobody there: devices do not answer, and that is counted
            self._socket.send(STAMP.pack(time.monotonic()) + b"".join(packets))

    def receive(self) -> bytes:
        """Take the datagrams that have come."""
        received = b""
        with contextlib.suppress(OSError):
            while True:
                received += self._socket.recv(65536)
        return received

    def wait(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


class Line(Protocol):
    """One line of simulated devices, in their time."""

    def submit(self, now: float, packets: Sequence[bytes], /) -> None:
        """Begin to send these."""

    def take(self, now: float, /) -> bytes:
        """The replies that are through by now, each once."""

    @property
    def idle(self) -> bool:
        """Whether nothing is to be sent."""

    @property
    def done(self) -> float:
        """From when on there is nothing more to come, but for what is still to be sent."""


class Simulated(Protocol):
    """Devices and their lines, with a common time, which goes by only in advance()."""

    now: float

    @property
    def lines(self) -> Sequence[Line]:
        """The lines."""

    def advance(self, seconds: float, /) -> None:
        """Let time go by."""


def serve_lines(
    simulated: Simulated,
    packets: Callable[[bytes], Sequence[bytes]],
    *,
    ports: Sequence[int] = (),
    ready: Callable[[list[int]], None] | None = None,
    goes_on: Callable[[], bool] | None = None,
) -> None:
    """Be simulated devices in real time, one UDP port a line (any free one unless given), until SIGTERM or SIGINT.

    `packets` are those of a datagram; `ready` is told the ports. Whoever spoke last on a line gets its replies, so a
    restarted daemon just goes on.
    """
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in simulated.lines]
    with contextlib.ExitStack() as stack:
        for each, number in zip(sockets, [*ports, *[0] * len(sockets)][: len(sockets)], strict=True):
            stack.enter_context(each)
            each.bind(("127.0.0.1", number))
            each.setblocking(False)
        if ready is not None:
            ready([each.getsockname()[1] for each in sockets])
        _loop(simulated, packets, sockets, goes_on or until_told())


def _loop(
    simulated: Simulated,
    packets: Callable[[bytes], Sequence[bytes]],
    sockets: list[socket.socket],
    goes_on: Callable[[], bool],
) -> None:
    asker: list[tuple[str, int] | None] = [None] * len(sockets)
    start = time.monotonic() - simulated.now
    while goes_on():
        select.select(sockets, [], [], _until_next(simulated))
        start += max(0.0, time.monotonic() - start - simulated.now - CATCH_UP)
        asked = [each for number, end in enumerate(sockets) for each in _asked(end, number, asker)]
        for moment, number, requests in sorted(asked):
            simulated.advance(max(0.0, moment - start - simulated.now))
            simulated.lines[number].submit(simulated.now, packets(requests))
        simulated.advance(max(0.0, time.monotonic() - start - simulated.now))
        for end, line, to in zip(sockets, simulated.lines, asker, strict=True):
            if to is not None and (replies := line.take(simulated.now)):
                with contextlib.suppress(OSError):
                    end.sendto(replies, to)


def _asked(end: socket.socket, number: int, asker: list[tuple[str, int] | None]) -> Iterator[tuple[float, int, bytes]]:
    """The requests that have come on a line, each with its time, but none from the future."""
    with contextlib.suppress(OSError):
        while True:
            datagram, asker[number] = end.recvfrom(65536)
            if len(datagram) > STAMP.size:
                (moment,) = STAMP.unpack_from(datagram)
                yield min(moment, time.monotonic()), number, datagram[STAMP.size :]


def _until_next(simulated: Simulated) -> float:
    """Seconds until a line has more to say: a little less often than its packets, to save the machine's time."""
    busy = any(not line.idle or line.done > simulated.now for line in simulated.lines)
    return 0.001 if busy else 0.005
