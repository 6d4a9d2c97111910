"""A line as operators of robots far away have it: slow, late, and it loses some packets; a proxy before a port."""

from __future__ import annotations

import contextlib
import fcntl
import queue
import random
import socket
import struct
import termios
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

PACKET = 1448
ROUTER = 0.3
"""s that bytes wait in a router at most; what comes then waits where it comes from."""


@dataclass
class SlowLine:
    """So many bytes a second each way, so many seconds late; of what is lost the sender hears a round trip later."""

    rate: float
    delay: float
    lost: float
    port: int = 0
    waiting: int = 0  # bytes that were sent to here and had to wait for the line, at most
    carried: int = 0
    _chance: random.Random = field(default_factory=lambda: random.Random(1))

    def carry(self, one: socket.socket, other: socket.socket) -> None:
        """From one side to the other, until one of them is shut."""
        due: queue.Queue[tuple[float, bytes]] = queue.Queue()
        delivering = threading.Thread(target=_deliver, args=(due, other))
        delivering.start()
        free = arrives = 0.0
        with contextlib.suppress(OSError):
            while data := one.recv(PACKET):
                self.waiting = max(self.waiting, unread(one))
                free = max(free, time.monotonic()) + len(data) / self.rate
                late = 2 * self.delay if self._chance.random() < self.lost else 0.0
                arrives = max(arrives, free + self.delay + late)  # in order, as TCP has it
                due.put((arrives, data))
                self.carried += len(data)
                time.sleep(max(0.0, free - time.monotonic() - ROUTER))
        due.put((0.0, b""))
        delivering.join()


def _deliver(due: queue.Queue[tuple[float, bytes]], other: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while (item := due.get())[1]:
            time.sleep(max(0.0, item[0] - time.monotonic()))
            other.sendall(item[1])
        other.shutdown(socket.SHUT_RDWR)


def unread(connection: socket.socket) -> int:
    """Bytes that have come and nobody has taken."""
    found: int = struct.unpack("i", fcntl.ioctl(connection, termios.FIONREAD, b"0000"))[0]
    return found


@contextlib.contextmanager
def slowed(port: int, rate: float = 12_500.0, delay: float = 0.5, lost: float = 0.05) -> Iterator[SlowLine]:
    """A SlowLine to a port: 100 kbit/s, a second there and back, 5 % lost."""
    listening = socket.create_server(("127.0.0.1", 0))
    line = SlowLine(rate, delay, lost, listening.getsockname()[1])
    threads: list[threading.Thread] = []
    sockets = [listening]

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                here = listening.accept()[0]
                sockets.append(here)
                there = socket.create_connection(("127.0.0.1", port))
                sockets.append(there)
                for pair in ((here, there), (there, here)):
                    threads.append(threading.Thread(target=line.carry, args=pair))
                    threads[-1].start()

    threads.append(threading.Thread(target=accept))
    threads[0].start()
    try:
        yield line
    finally:
        for each in sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()
        for each in sockets:
            each.close()
