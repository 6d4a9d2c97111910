"""SimulatedBus: the simulated CAN bus as python-can sees it, interface "wholebody".

    bus = can.Bus("robot.can0", interface="wholebody")       # the boards run in another process
    bus = SteppedBus(rack, 0)                                # the boards are in this one, and time is stepped

Both also take and give many frames at once, as plain Frames: `send_frames`, `receive_frames`. That is one datagram
for all, and no message objects.
"""

from __future__ import annotations

import select
import socket
import struct
import time
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import can

from wholebody.drivers.hubo_can.frames import Frame
from wholebody.drivers.hubo_can.simulated.wire import COMPUTER, Rack

FRAMES, CONTROL = b"F", b"C"
_FRAME = struct.Struct("<dHB8s")
SIZE = _FRAME.size
MOST = 60_000 // SIZE
"""Frames in one datagram."""


class Stamped(NamedTuple):
    """A frame, and when it was through (s, CLOCK_MONOTONIC)."""

    time: float
    id: int
    data: bytes


def address(channel: str) -> str:
    """Where the bus of a name is."""
    return f"\0wholebody.can.{channel}"


def open_socket(at: str = "") -> socket.socket:
    """Open a datagram socket at an address, or at one of the kernel's choice; it never waits."""
    opened = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    opened.setblocking(False)
    try:
        opened.bind(at)
    except OSError:
        opened.close()
        raise
    return opened


def pack(frames: Iterable[tuple[float, Frame]]) -> bytes:
    """Write frames, each with its time."""
    one = _FRAME.pack
    return FRAMES + b"".join([one(time, identifier, len(data), data) for time, (identifier, data) in frames])


def unpack(datagram: bytes) -> list[Stamped]:
    """Read frames; nothing from what is no burst."""
    if datagram[:1] != FRAMES or (len(datagram) - 1) % SIZE:
        return []
    rows = _FRAME.iter_unpack(memoryview(datagram)[1:])
    return [Stamped(time, identifier, data[: min(length, 8)]) for time, identifier, length, data in rows]


class _FrameBus(can.BusABC):
    """What both have in common: python-can's calls, by means of ours."""

    simulated = True

    def send_frames(self, frames: Sequence[Frame]) -> None:
        """Send frames one after the other; an error if nobody is on the bus."""
        raise NotImplementedError

    def receive_frames(self, timeout: float, together: bool = True) -> list[Stamped]:
        """Take all frames that are there, or wait for the first ones; nothing after `timeout` seconds."""
        raise NotImplementedError

    def send(self, msg: can.Message, timeout: float | None = None) -> None:
        """Send a message, by python-can."""
        if msg.is_extended_id or msg.is_remote_frame or msg.is_error_frame or msg.is_fd:
            raise can.CanOperationError("the simulated bus has data frames with 11-bit identifiers only")
        self.send_frames([Frame(msg.arbitration_id, bytes(msg.data))])

    def _recv_internal(self, timeout: float | None) -> tuple[can.Message | None, bool]:
        if not self._waiting:
            self._waiting.extend(self.receive_frames(0.5 if timeout is None else timeout, together=False))
        if not self._waiting:
            return None, False
        stamp, identifier, data = self._waiting.popleft()
        message = can.Message(
            timestamp=stamp, arbitration_id=identifier, data=data, is_extended_id=False, channel=self.channel_info
        )
        return message, False

    _waiting: deque[Stamped]


class SimulatedBus(_FrameBus):
    """A bus whose wire and boards run in a process of their own, found by the name of the channel."""

    def __init__(self, channel: str, can_filters: Any = None, **other: object) -> None:
        self.channel_info = f"simulated CAN bus {channel}"
        self._address = address(channel)
        self._waiting, self._early = deque(), deque[Stamped]()
        self._socket = open_socket()
        super().__init__(channel, can_filters, **other)
        try:
            self.send_frames([])
        except can.CanOperationError as error:
            self.shutdown()
            raise can.CanInitializationError(str(error)) from None

    def send_frames(self, frames: Sequence[Frame]) -> None:
        """Send frames one after the other, in one datagram; an error if nobody is on the bus."""
        now = time.monotonic()
        try:
            for at in range(0, max(len(frames), 1), MOST):
                self._socket.sendto(pack((now, frame) for frame in frames[at : at + MOST]), self._address)
        except (ConnectionRefusedError, FileNotFoundError):
            raise can.CanOperationError(
                f"nobody is on the {self.channel_info}; start the boards: wholebody start --driver full"
            ) from None
        except BlockingIOError:
            raise can.CanOperationError(f"the boards do not keep up with the {self.channel_info}") from None

    def receive_frames(self, timeout: float, together: bool = True) -> list[Stamped]:
        """Take all frames that are through; if there are none, wait, `timeout` seconds at most.

        Frames come here before they are through (see process.Station) and are held back until then. To wait for all
        that are on their way `together` spares the processor; otherwise the first ends the waiting.
        """
        until = time.monotonic() + timeout
        while True:
            self._take_datagrams()
            early, now = self._early, time.monotonic()
            frames = []
            while early and early[0].time <= now:
                frames.append(early.popleft())
            if frames or now >= until:
                return frames
            due = min(until, early[-1 if together else 0].time) if early else until
            select.select([self._socket], [], [], max(due - now, 0.0))  # poll() knows no less than a millisecond

    def _take_datagrams(self) -> None:
        while True:
            try:
                self._early.extend(unpack(self._socket.recv(65536)))
            except BlockingIOError:
                return

    def fileno(self) -> int:
        """The socket, to wait for with others."""
        return self._socket.fileno()

    def shutdown(self) -> None:
        """Leave the bus."""
        super().shutdown()
        self._socket.close()


class SteppedBus(_FrameBus):
    """A bus of a rack in this process: waiting for a frame lets the rack's time go by, and only that."""

    def __init__(self, rack: Rack, bus: int) -> None:
        self.channel_info = f"bus {bus} of a rack"
        self._rack, self._bus = rack, bus
        self._waiting = deque()
        super().__init__(bus)
        self._is_shutdown = True  # it holds nothing that must be given back

    def send_frames(self, frames: Sequence[Frame]) -> None:
        for frame in frames:
            self._rack.send(self._bus, frame)

    def receive_frames(self, timeout: float, together: bool = True) -> list[Stamped]:
        """Take all frames that are there; if there are none, let time go by until there are, or for `timeout`."""
        rack, received = self._rack, self._rack.received[self._bus]
        until = rack.time + timeout
        while True:
            frames = [Stamped(each.time, *each.frame) for each in received if each.sender != COMPUTER]
            received.clear()
            if frames or rack.time >= until:
                return frames
            rack.advance_to(min(until, *(wire.next_time for wire in rack.wires)))
