"""Bursts: many frames in one datagram, between the process of the boards and those on the simulated bus.

Addresses are names in the kernel (abstract Unix sockets), so nothing is left behind when a process is killed.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable
from typing import NamedTuple

from wholebody.hardware.can.frames import Frame

FRAMES, CONTROL = b"F", b"C"
_FRAME = struct.Struct("<dHB8s")
SIZE = _FRAME.size
LARGEST = 60_000
MOST = LARGEST // SIZE


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


def pack(frames: Iterable[Frame], time: float = 0.0) -> bytes:
    """Write frames of one time."""
    one = _FRAME.pack
    return FRAMES + b"".join([one(time, identifier, len(data), data) for identifier, data in frames])


def pack_stamped(frames: Iterable[tuple[float, Frame]]) -> bytes:
    """Write frames, each with its own time."""
    one = _FRAME.pack
    return FRAMES + b"".join([one(time, frame.id, len(frame.data), frame.data) for time, frame in frames])


def unpack(datagram: bytes) -> list[Stamped]:
    """Read frames; nothing from what is no burst."""
    if datagram[:1] != FRAMES or (len(datagram) - 1) % SIZE:
        return []
    rows = _FRAME.iter_unpack(memoryview(datagram)[1:])
    return [Stamped(time, identifier, data[: min(length, 8)]) for time, identifier, length, data in rows]
