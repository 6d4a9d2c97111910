"""Frame: what goes over a CAN bus of Hubo, who it is for by its identifier, and the numbers inside.

All multi-byte numbers are little-endian. A decoder given bytes that make no sense returns None: noise on a bus is no
reason for a loop to stop.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from functools import lru_cache
from typing import NamedTuple

BITRATE = 1_000_000
READ_TIMEOUT = 0.18e-3
"""Seconds that Hubo-Ach waits for the next frame."""


class Frame(NamedTuple):
    """One frame with an 11-bit identifier and up to 8 bytes."""

    id: int
    data: bytes


class Id(IntEnum):
    """The first identifier of each kind of frame; board or sensor number is added where several have it."""

    COMMAND = 0x001
    SENSOR_REQUEST = 0x002
    REFERENCE = 0x010
    FORCE_TORQUE = 0x040
    MOTION = 0x050  # tilt of a foot, or the IMU
    ENCODER = 0x060
    STATUS = 0x150
    CURRENT = 0x1C0


POWER_BOARD = 0x0E
SENSOR_BOARD = 0x2F
"""A sensor is commanded as the board of this number plus its own (1 … 7)."""
BOARDS = {f"JMC{n}": n for n in range(12)} | {f"EJMC{n}": 0x20 + n for n in range(6)} | {"POWER": POWER_BOARD}
IMU_SENSORS = (3, 4, 5)


class Kind(Enum):
    """How a board's motors are told and read."""

    MOTORS = "motors"  # 1 or 2 motors in 24 and 32 bits
    NECK = "neck"  # 3 servos in 16 bits
    HAND = "hand"  # 5 motors by duty


MAGNITUDE = 0x7FFFFF
SIGN = 0x800000


def sign_magnitude(counts: int) -> int:
    """Write counts in 24 bits, the uppermost of them for the sign; what is too large becomes the largest there is."""
    return min(counts, MAGNITUDE) if counts >= 0 else SIGN | min(-counts, MAGNITUDE)


def from_sign_magnitude(bits: int) -> int:
    """Read counts off 24 bits, the uppermost of them for the sign."""
    return -(bits & MAGNITUDE) if bits & SIGN else bits & MAGNITUDE


def percent(duty: float) -> int:
    """Write a duty of −1 … 1 in a byte: percent in bits 0 to 6, the sign in bit 7."""
    size = min(round(abs(duty) * 100), 100)
    return size | 0x80 if duty < 0 and size else size


def from_percent(byte: int) -> float:
    """Read a duty of −1 … 1 off a byte."""
    size = min(byte & 0x7F, 100) / 100
    return -size if byte & 0x80 else size


INTERMISSION = 3
ERROR_FRAME = 6 + 6 + 8
"""Bits of a frame that was found to be wrong, from the error on: two flags one after the other, and a delimiter."""
_POLYNOMIAL = 0x4599


def worst_bits(length: int) -> int:
    """The most bits that a frame of so many bytes takes, with what must follow it."""
    return 44 + 8 * length + INTERMISSION + (33 + 8 * length) // 4


@lru_cache(4096)  # most frames of a cycle are the same every time
def bits(frame: Frame) -> int:
    """The bits that this very frame takes, with what must follow it."""
    identifier, data = frame
    length = len(data)
    head = identifier << 7 | length  # start bit 0, identifier, three zeros, length: 19 bits
    crc = _CRC_19[head & 0xFF] ^ _CRC_19B[head >> 8]
    body = head
    for byte in data:
        crc = (crc << 8) & 0x7FFF ^ _CRC[crc >> 7 ^ byte]
        body = body << 8 | byte
    body = body << 15 | crc  # 34 + 8n bits
    stuffed = body.to_bytes(length + 5, "big")
    count, state = _FIRST[stuffed[0] & 3]
    for byte in stuffed[1:]:
        more, state = _STUFF[state][byte]
        count += more
    return 44 + 8 * length + INTERMISSION + count


def _crc_of_byte(byte: int) -> int:
    crc = byte << 7
    for _ in range(8):
        crc = (crc << 1 ^ _POLYNOMIAL) & 0x7FFF if crc & 0x4000 else crc << 1
    return crc & 0x7FFF


_CRC = tuple(_crc_of_byte(byte) for byte in range(256))


def _crc_of(bits_: int, length: int) -> int:
    crc = 0
    for at in reversed(range(length)):
        carry = (crc >> 14 ^ bits_ >> at) & 1
        crc = crc << 1 & 0x7FFF
        crc ^= _POLYNOMIAL if carry else 0
    return crc


# The check sum is linear, so that of the 19 bits of the head is that of its low byte plus that of the rest.
_CRC_19 = tuple(_crc_of(low, 19) for low in range(256))
_CRC_19B = tuple(_crc_of(high << 8, 19) for high in range(1 << 11))


def _stuff(last: int, run: int, value: int, width: int) -> tuple[int, int]:
    """Count what is stuffed into the bits of a value after a run of equal bits; return that, and the state after."""
    count = 0
    for at in reversed(range(width)):
        bit = value >> at & 1
        run = run + 1 if bit == last else 1
        last = bit
        if run == 5:
            count += 1
            last, run = 1 - bit, 1
    return count, last * 5 + run


_STUFF = tuple(tuple(_stuff(state // 5, state % 5, byte, 8) for byte in range(256)) for state in range(10))
_FIRST = tuple(_stuff(1, 0, two, 2) for two in range(4))
