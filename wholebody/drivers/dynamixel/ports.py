"""Ports: the ends of servo lines that a robot holds. Nothing in a port waits, so a control loop never does.

SerialPort is a real line (a USB adapter that turns the half-duplex bus round by itself); the port of simulated servos
is a DatagramPort.
"""

from __future__ import annotations

import contextlib
import os
import select
import termios
import threading
import time
from collections.abc import Sequence
from typing import Protocol

from wholebody.drivers.dynamixel.kinds import AX, Kind
from wholebody.errors import HardwareError

REPLY_TIMEOUT = 0.002
"""s: after that a servo is taken not to answer"""
_BAUD = {1_000_000: termios.B1000000, 500_000: termios.B500000, 115_200: termios.B115200, 57_600: termios.B57600}
_BAUD |= {2_000_000: termios.B2000000, 3_000_000: termios.B3000000, 4_000_000: termios.B4000000}


class Port(Protocol):
    """One line of servos."""

    simulated: bool
    """Whether nothing can be broken."""

    def send(self, packets: Sequence[bytes]) -> None:
        """Have these requests sent, one after the other's reply; what is still unsent of earlier ones is dropped."""

    def receive(self) -> bytes:
        """What has come back since the last call."""

    def wait(self, seconds: float) -> None:
        """Let time go by: only while the robot is being taken."""

    def close(self) -> None:
        """Let go of the line."""


class SerialPort:
    """A serial device, served by a thread that takes turns with the servos."""

    simulated = False

    def __init__(self, path: str, baud: int = 1_000_000, kind: Kind = AX) -> None:
        if baud not in _BAUD:
            raise HardwareError(f"a baud rate of {baud}; there are {', '.join(map(str, _BAUD))}")
        try:
            self._file = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            _make_raw(self._file, _BAUD[baud])
        except (OSError, termios.error) as error:
            raise HardwareError(f"cannot open the servo line {path}: {error}; is the adapter plugged in?") from error
        self._kind = kind
        self._received = bytearray()
        self._batch: Sequence[bytes] | None = None
        self._changed = threading.Condition()
        self._open = True
        self._thread = threading.Thread(target=self._serve, name=f"servo line {path}", daemon=True)
        self._thread.start()

    def send(self, packets: Sequence[bytes]) -> None:
        """Hand the requests to the thread."""
        with self._changed:
            self._batch = tuple(packets)
            self._changed.notify()

    def receive(self) -> bytes:
        """Take what the thread has got."""
        with self._changed:
            received = bytes(self._received)
            self._received.clear()
        return received

    def wait(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)

    def close(self) -> None:
        """End the thread, after what it has begun to send."""
        with self._changed:
            self._open = False
            self._changed.notify()
        self._thread.join()
        os.close(self._file)

    def _serve(self) -> None:
        while True:
            with self._changed:
                while self._open and self._batch is None:
                    self._changed.wait()
                batch, self._batch = self._batch, None
            if batch is None:
                return
            with contextlib.suppress(OSError):  # an adapter pulled out: servos then do not answer, and that is counted
                self._take_turns(batch)

    def _take_turns(self, batch: Sequence[bytes]) -> None:
        for packet in batch:
            if self._batch is not None:
                return
            late = self._pending()
            os.write(self._file, packet)
            late += self._answers(self._kind.packets.decode_request(packet).answers)
            with self._changed:
                self._received += late

    def _pending(self) -> bytes:
        """What came too late for its turn: on a line with one wire nobody may talk into it."""
        with contextlib.suppress(BlockingIOError):
            return os.read(self._file, 4096)
        return b""

    def _answers(self, count: int) -> bytes:
        """The next replies, or what came of them within the time that each has."""
        got, found, until = b"", 0, time.monotonic() + REPLY_TIMEOUT
        while found < count and (left := until - time.monotonic()) > 0:
            if select.select([self._file], [], [], left)[0]:
                got += os.read(self._file, 4096)
                there = len(self._kind.packets.split(got).packets)
                if there > found:
                    found, until = there, time.monotonic() + REPLY_TIMEOUT
        return got


def _make_raw(file: int, speed: int) -> None:
    """8 bits, no parity, one stop bit, nothing interpreted."""
    settings = termios.tcgetattr(file)
    settings[0], settings[1], settings[3] = 0, 0, 0
    settings[2] = termios.CS8 | termios.CREAD | termios.CLOCAL
    settings[4] = settings[5] = speed
    termios.tcsetattr(file, termios.TCSANOW, settings)
