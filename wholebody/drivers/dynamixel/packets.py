"""Packets of the servo bus (Dynamixel protocol 1.0), to bytes and back, and the registers of AX and RX servos.

    request   FF FF  servo  length  instruction  parameters…  checksum
    reply     FF FF  servo  length  faults       data…        checksum

length counts what follows it; checksum = ~(servo + length + …) & FF. Numbers of two bytes have the low one first.
Every servo hears every packet; one that is asked answers, unless the request was for all (BROADCAST).

Position counts 300° in 1024 steps, growing counter-clockwise; speed counts 0.111 rpm, load 1/1023 of the greatest
torque, both with bit 10 set for clockwise. Load is what the servo drives its motor with, not what a sensor felt.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from wholebody.errors import HardwareError

RETURN_DELAY = 5  # in 2 µs
STATUS_LEVEL = 16  # 0: answers pings only, 1: reads too, 2: everything
TORQUE_ENABLE = 24
GOAL_POSITION = 30
MOVING_SPEED = 32  # 0: as fast as it can
TORQUE_LIMIT = 34
PRESENT_POSITION = 36
PRESENT_SPEED = 38
PRESENT_LOAD = 40
PRESENT_VOLTAGE = 42  # in 0.1 V
PRESENT_TEMPERATURE = 43  # in °C
REGISTERS = 50

COUNTS = 1024
RADIANS_PER_COUNT = math.radians(300.0) / COUNTS
SPEED_UNIT = 0.111 * 2 * math.pi / 60
GREATEST = 1023
CLOCKWISE = 1 << 10

HEADER = b"\xff\xff"
BROADCAST = 0xFE
LAST_SERVO = 0xFD
GREATEST_LENGTH = 250


class Instruction(IntEnum):
    """What a request asks for."""

    PING = 0x01
    READ = 0x02
    WRITE = 0x03
    SYNC_READ = 0x82  # of protocol 2.0
    SYNC_WRITE = 0x83


_KNOWN = frozenset(int(instruction) for instruction in Instruction)


class Fault(IntFlag):
    """What a servo complains of in a reply."""

    VOLTAGE = 1 << 0
    ANGLE_LIMIT = 1 << 1  # a goal outside the limits
    OVERHEATING = 1 << 2
    RANGE = 1 << 3  # no such register, or no such value
    CHECKSUM = 1 << 4
    OVERLOAD = 1 << 5
    INSTRUCTION = 1 << 6  # none that it knows


@dataclass(frozen=True)
class Request:
    """A request, taken apart."""

    servo: int
    instruction: Instruction
    parameters: bytes = b""

    @property
    def is_answered(self) -> bool:
        """Whether the servo answers (with its status level at 1: only to what asks for something)."""
        return self.answers > 0

    @property
    def answers(self) -> int:
        """How many servos answer, one after the other."""
        if self.instruction is Instruction.SYNC_READ:
            return max(0, len(self.parameters) - 4)
        return int(self.servo != BROADCAST and self.instruction in (Instruction.PING, Instruction.READ))


@dataclass(frozen=True)
class Reply:
    """A reply, taken apart."""

    servo: int
    faults: Fault
    data: bytes = b""


@dataclass(frozen=True)
class Split:
    """The whole packets found in a stream of bytes, what may be the beginning of another, and how much was spoilt."""

    packets: tuple[bytes, ...]
    rest: bytes
    spoilt: int


def checksum(body: bytes) -> int:
    """The last byte of a packet with this body: servo, length and all that follows."""
    return ~sum(body) & 0xFF


def ping(servo: int) -> bytes:
    """Ask a servo whether it is there."""
    return _packet(servo, Instruction.PING, b"")


def read(servo: int, address: int, count: int) -> bytes:
    """Ask a servo for registers."""
    return _packet(servo, Instruction.READ, bytes((address, count)))


def write(servo: int, address: int, data: bytes) -> bytes:
    """Set registers of one servo, or of all (BROADCAST)."""
    return _packet(servo, Instruction.WRITE, bytes((address,)) + data)


def sync_write(address: int, data: Mapping[int, bytes]) -> bytes:
    """Set the same registers of many servos, each to its own data: {servo: data}."""
    lengths = {len(each) for each in data.values()}
    if len(lengths) != 1:
        raise HardwareError(f"a sync write of {len(data)} servos with {sorted(lengths)} bytes each; give all the same")
    parts = b"".join(bytes((servo,)) + each for servo, each in data.items())
    return _packet(BROADCAST, Instruction.SYNC_WRITE, bytes((address, lengths.pop())) + parts)


def reply(servo: int, faults: int = 0, data: bytes = b"") -> bytes:
    """What a servo answers."""
    return _packet(servo, faults, data)


def split(stream: bytes) -> Split:
    """Find the packets in a stream; bytes that belong to none are skipped, one by one, until a header comes."""
    packets, at, spoilt = [], 0, 0
    while (start := stream.find(HEADER, at)) >= 0:
        spoilt += start - at
        at = start
        if len(stream) < at + 4:
            break
        servo, length = stream[at + 2], stream[at + 3]
        end = at + 4 + length
        if servo == 0xFF or not 2 <= length <= GREATEST_LENGTH:
            spoilt, at = spoilt + 1, at + 1
        elif len(stream) < end:
            break
        elif checksum(stream[at + 2 : end - 1]) == stream[end - 1]:
            packets.append(stream[at:end])
            at = end
        else:
            spoilt, at = spoilt + 1, at + 1
    if start < 0:
        kept = 1 if stream[at:].endswith(b"\xff") else 0
        spoilt, at = spoilt + len(stream) - at - kept, len(stream) - kept
    return Split(tuple(packets), stream[at:], spoilt)


@lru_cache(4096)
def decode_request(packet: bytes) -> Request:
    """Take a request apart; most are said again and again."""
    servo, kind, parameters = _apart(packet)
    if kind not in _KNOWN:
        raise HardwareError(f"servo {servo} was sent the instruction {kind:#04x}, which we do not know")
    return Request(servo, Instruction(kind), parameters)


def decode_reply(packet: bytes) -> Reply:
    """Take a reply apart."""
    servo, faults, data = _apart(packet)
    return Reply(servo, Fault(faults & 0x7F), data)


def read_of(parameters: bytes) -> tuple[int, int]:
    """Address and count of a read."""
    if len(parameters) != 2:
        raise HardwareError(f"'{parameters.hex(' ')}' are no address and count")
    return parameters[0], parameters[1]


def write_of(parameters: bytes) -> tuple[int, bytes]:
    """Address and data of a write."""
    if len(parameters) < 2:
        raise HardwareError(f"'{parameters.hex(' ')}' are no address and data")
    return parameters[0], parameters[1:]


def decode_sync_write(parameters: bytes) -> tuple[int, dict[int, bytes]]:
    """The address, and the data of each servo, of a sync write."""
    address, count = parameters[0], parameters[1]
    parts = parameters[2:]
    if len(parts) % (count + 1):
        raise HardwareError(f"a sync write of {len(parts)} bytes is no whole number of servos with {count} bytes each")
    starts = range(0, len(parts), count + 1)
    return address, {parts[at]: parts[at + 1 : at + 1 + count] for at in starts}


def _packet(servo: int, kind: int, parameters: bytes) -> bytes:
    length = len(parameters) + 2
    if not 0 <= servo <= BROADCAST or length > GREATEST_LENGTH:
        raise HardwareError(
            f"a packet to servo {servo} with {len(parameters)} bytes; servos are 0 to {LAST_SERVO} ({BROADCAST}: all), "
            f"packets hold {GREATEST_LENGTH - 2} bytes at most"
        )
    body = bytes((servo, length, kind)) + parameters
    return HEADER + body + bytes((checksum(body),))


def _apart(packet: bytes) -> tuple[int, int, bytes]:
    whole = len(packet) >= 6 and packet[:2] == HEADER and packet[3] == len(packet) - 4
    if not whole or checksum(packet[2:-1]) != packet[-1]:
        raise HardwareError(f"{packet.hex(' ')} is no packet: header, length or checksum is wrong")
    return packet[2], packet[4], packet[5:-1]


def signed(values: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Speeds or loads in registers as numbers: counter-clockwise is positive."""
    size = (values & GREATEST).astype(np.int64)
    return np.where(values & CLOCKWISE, -size, size)


def unsigned(values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """The registers of speeds or loads."""
    size = np.minimum(np.rint(np.abs(values)), GREATEST).astype(np.int64)
    return np.where(values < 0, size | CLOCKWISE, size)


def two_bytes(value: int) -> bytes:
    """A number as two registers."""
    return value.to_bytes(2, "little")
