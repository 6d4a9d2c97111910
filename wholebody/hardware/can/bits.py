"""Bits: how long a frame keeps a bus busy.

A frame of n bytes has 44 + 8n bits, then 3 bits of intermission; after five equal bits, from the start to the end of
the check sum, a sender stuffs in an opposite one: at most ⌊(33 + 8n) / 4⌋, and how many depends on what is in it.
"""

from __future__ import annotations

from functools import lru_cache

from wholebody.hardware.can.frames import Frame

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
