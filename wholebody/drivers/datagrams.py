"""Datagrams: records of one robot as single UDP packets, numbered, so that the newest wins and all else is counted.

    4 bytes  magic "WBRI"     8 bytes  robot: hash of its state and reference layouts
    1        version          8        sender: drawn at random when it starts
    1        kind             8        number of this datagram, from 1 on
    2        –                8        answered: the newest number the other side has been heard with
    8        period, s        n        the record, as its bytes
                              4        CRC-32 of all before it; or, with a token,
                              16       BLAKE2b of all before it and of the other side's sender, with the token as key

Both sides need the same byte order, which is little-endian. With a token (wholebody.security) nobody who does not know
it can command, nor by repeating what was sent: states, references and stops count only if they are for the sender that
the other side drew when it started. Nothing is encrypted: who can listen can read states and references.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import socket
import struct
import zlib
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from wholebody.channels.layout import Layout
from wholebody.errors import HardwareError
from wholebody.robots.robot import Robot

MAGIC, VERSION = b"WBRI", 1
HEADER = struct.Struct("<4sBBxxdQQQQ")
CHECK, SIGNATURE, SENDER = struct.Struct("<I"), struct.Struct("<16s"), struct.Struct("<Q")
LARGEST = 65507
"""Bytes that one UDP datagram can have."""

Address = tuple[str, int]
Bytes = npt.NDArray[np.uint8]


class Kind(IntEnum):
    """What a datagram is for."""

    HELLO = 0  # a controller wants states
    STATE = 1
    REFERENCE = 2
    STOP = 3
    BUSY = 4  # another controller has the robot
    STRANGE = 5  # this is another robot, or another version of it


KINDS = frozenset(int(kind) for kind in Kind)
ADDRESSED = frozenset({Kind.STATE, Kind.REFERENCE, Kind.STOP})
"""What is signed for one sender; the others are said before both know each other."""


@dataclass
class Counters:
    """What came in, and what became of it."""

    received: int = 0
    garbage: int = 0  # no datagram of ours: too short, another magic, version or check sum
    strange: int = 0  # of another robot
    late: int = 0  # overtaken by a newer one, or a second time
    lost: int = 0  # numbers that never came, or came late


@dataclass(frozen=True)
class Heard:
    """A datagram that can be believed, its record still in the buffer."""

    kind: Kind
    period: float
    sender: int
    number: int
    answered: int
    size: int
    address: Address


def robot_hash(robot: Robot) -> int:
    """What both sides must agree on: joints, sensors and fields, in their order."""
    layouts = (Layout.of(robot.state_dtype()).text, Layout.of(robot.reference_dtype()).text)
    return Layout("\n".join(layouts)).hash


class Datagrams:
    """A socket that sends and receives the datagrams of one robot; nothing in here waits, but `wait`."""

    def __init__(self, robot: Robot, bound_to: Address | None = None, token: str = "") -> None:
        self.robot = robot_hash(robot)
        self._key = hashlib.sha256(token.encode()).digest() if token else b""
        self._check = SIGNATURE if token else CHECK
        self.peer = 0  # the sender whom we speak with, once it is known
        self.largest = (
            HEADER.size + SIGNATURE.size + max(robot.state_dtype().itemsize, robot.reference_dtype().itemsize)
        )
        if self.largest > LARGEST:
            raise HardwareError(
                f"a state of '{robot.name}' takes {self.largest} bytes; a datagram has {LARGEST} at most"
            )
        self.sender = int.from_bytes(os.urandom(8), "little") or 1
        self.number = 0
        self.answered = 0
        self.counters = Counters()
        self._out, self._in = bytearray(self.largest), bytearray(LARGEST)
        self.record: Bytes = np.frombuffer(self._in, np.uint8)[HEADER.size :]
        self._out_record: Bytes = np.frombuffer(self._out, np.uint8)[HEADER.size :]
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        if bound_to is not None:
            try:
                self._socket.bind(bound_to)
            except OSError as error:
                self._socket.close()
                raise HardwareError(f"nothing can listen at {bound_to[0]}:{bound_to[1]}: {error.strerror}") from error

    @property
    def address(self) -> Address:
        """Where it listens."""
        host, port = self._socket.getsockname()
        return host, port

    def send(self, kind: Kind, to: Address, record: Bytes | None = None, period: float = 0.0) -> None:
        """Send a record; what the network refuses is lost, as on any wire. Refusals have no number of their own."""
        self.number += kind not in (Kind.BUSY, Kind.STRANGE)
        size = 0 if record is None else len(record)
        HEADER.pack_into(
            self._out, 0, MAGIC, VERSION, kind, period, self.robot, self.sender, self.number, self.answered
        )
        if record is not None:
            self._out_record[:size] = record
        end = HEADER.size + size
        with memoryview(self._out) as view:
            self._check.pack_into(self._out, end, self._sum(view[:end], self.peer if kind in ADDRESSED else 0))
            with contextlib.suppress(OSError):
                self._socket.sendto(view[: end + self._check.size], to)

    def receive(self) -> Heard | None:
        """The next datagram that can be believed; none if there is no other. What cannot be believed is counted."""
        while True:
            try:
                size, address = self._socket.recvfrom_into(self._in)
            except (BlockingIOError, InterruptedError, ConnectionRefusedError):
                return None
            self.counters.received += 1
            heard = self._believe(size, address)
            if heard is not None:
                return heard
            self.counters.garbage += 1

    def wait(self, seconds: float) -> None:
        """Wait until something comes in, at most so long."""
        self._socket.settimeout(max(seconds, 1e-6))
        try:
            self._socket.recv_into(self._in, 1, socket.MSG_PEEK)
        except OSError:
            pass
        finally:
            self._socket.setblocking(False)

    def close(self) -> None:
        """Let go of the socket."""
        self._socket.close()

    def _sum(self, said: memoryview, receiver: int) -> int | bytes:
        """The check sum of what is said, or its signature for a receiver."""
        if not self._key:
            return zlib.crc32(said)
        signature = hashlib.blake2b(said, digest_size=SIGNATURE.size, key=self._key)
        signature.update(SENDER.pack(receiver))
        return signature.digest()

    def _is_sound(self, end: int, kind: int) -> bool:
        with memoryview(self._in) as view:
            (given,) = self._check.unpack_from(self._in, end)
            wanted = self._sum(view[:end], self.sender if kind in ADDRESSED else 0)
        return hmac.compare_digest(given, wanted) if isinstance(wanted, bytes) else given == wanted

    def _believe(self, size: int, address: Address) -> Heard | None:
        end = size - self._check.size
        if end < HEADER.size:
            return None
        magic, version, kind, period, robot, sender, number, answered = HEADER.unpack_from(self._in)
        if magic != MAGIC or version != VERSION or kind not in KINDS or not self._is_sound(end, kind):
            return None
        if robot != self.robot and kind != Kind.STRANGE:
            self.counters.strange += 1
            return Heard(Kind.STRANGE, period, sender, number, answered, 0, address)
        return Heard(Kind(kind), period, sender, number, answered, end - HEADER.size, address)


class Newest:
    """Which of a sender's datagrams is news; a sender that starts anew is a new one."""

    def __init__(self, counters: Counters) -> None:
        self._counters = counters
        self.sender = self.number = 0

    def forget(self) -> None:
        """Whoever comes next is new."""
        self.sender = 0

    def take(self, heard: Heard) -> bool:
        """Whether it is newer than all before."""
        if heard.sender != self.sender:
            self.sender, self.number = heard.sender, heard.number
            return True
        if heard.number <= self.number:
            self._counters.late += 1
            return False
        self._counters.lost += heard.number - self.number - 1
        self.number = heard.number
        return True
