"""Frames of moteus controllers: registers to write and read, in CAN-FD frames, to bytes and back.

    write   0x00 | type << 2 | count, first register, values…      type: 0 int8, 1 int16, 2 int32, 3 float
    read    0x10 | type << 2 | count, first register               count 0: it follows in a byte of its own
    reply   0x20 | type << 2 | count, first register, values…
    nop     0x50, with which a frame is filled up to a length that CAN-FD has

A frame's identifier is source << 8 | destination; 0x8000 asks for a reply. An integer register counts in the units of
SCALES; its least value stands for no number. A revolution is that of the output shaft, as the controller is configured.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import NamedTuple

from wholebody.drivers.hubo_can.frames import Frame
from wholebody.errors import HardwareError

MODE, POSITION, VELOCITY, TORQUE = 0x000, 0x001, 0x002, 0x003
HOME_STATE, VOLTAGE, TEMPERATURE, FAULT = 0x00C, 0x00D, 0x00E, 0x00F
COMMAND_POSITION, COMMAND_VELOCITY, COMMAND_TORQUE = 0x020, 0x021, 0x022
KP_SCALE, KD_SCALE, MAXIMUM_TORQUE, WATCHDOG = 0x023, 0x024, 0x025, 0x027
LAST_CONTROLLER = 127
HOST = 0
"""The source of frames from the computer."""
REPLY_WANTED = 0x8000

_WRITE, _READ, _REPLY, _NOP = 0x00, 0x10, 0x20, 0x50
_WRITE_ERROR, _READ_ERROR = 0x30, 0x31
_FORMATS = ("b", "h", "i", "f")
_LEAST = (-(1 << 7), -(1 << 15), -(1 << 31))
LENGTHS = (*range(9), 12, 16, 20, 24, 32, 48, 64)
"""Bytes that a CAN-FD frame can have."""

_POSITION, _VELOCITY, _TORQUE = (0.01, 0.0001, 0.00001), (0.1, 0.00025, 0.00001), (0.5, 0.01, 0.001)
_SHARE = (1 / 127, 1 / 32767, 1 / 2147483647)
_TIME, _VOLTAGE, _CELSIUS = (0.01, 0.001, 0.000001), (0.5, 0.1, 0.001), (1.0, 0.1, 0.001)
SCALES: Mapping[int, tuple[float, float, float]] = {
    POSITION: _POSITION,
    VELOCITY: _VELOCITY,
    TORQUE: _TORQUE,
    VOLTAGE: _VOLTAGE,
    TEMPERATURE: _CELSIUS,
    COMMAND_POSITION: _POSITION,
    COMMAND_VELOCITY: _VELOCITY,
    COMMAND_TORQUE: _TORQUE,
    KP_SCALE: _SHARE,
    KD_SCALE: _SHARE,
    MAXIMUM_TORQUE: _TORQUE,
    WATCHDOG: _TIME,
}
"""What one stands for in int8, int16 and int32: revolutions, revolutions/s, N·m, V, °C, shares, s; else itself."""


class Mode(IntEnum):
    """What a controller does, register 0x000; 2 to 4 is getting ready."""

    STOPPED = 0
    FAULT = 1
    POSITION = 10
    TIMEOUT = 11
    ZERO_VELOCITY = 12


class Type(IntEnum):
    """How a register's value is written."""

    INT8 = 0
    INT16 = 1
    INT32 = 2
    FLOAT = 3


class Part(NamedTuple):
    """A subframe: what is to be done with one register after the other, from the first on."""

    kind: int  # WRITE, READ or REPLY
    type: Type
    first: int
    values: tuple[float, ...]  # of a read, as many as are asked for
    error: int = 0


WRITE, READ, REPLY = _WRITE, _READ, _REPLY


def write(kind: Type, first: int, *values: float) -> bytes:
    """Set registers, one after the other."""
    return _head(_WRITE, kind, first, len(values)) + _packed(kind, first, values)


def read(kind: Type, first: int, count: int) -> bytes:
    """Ask for registers, one after the other."""
    return _head(_READ, kind, first, count)


def reply(kind: Type, first: int, *values: float) -> bytes:
    """What a controller answers."""
    return _head(_REPLY, kind, first, len(values)) + _packed(kind, first, values)


def padded(data: bytes) -> bytes:
    """Fill a frame up."""
    if len(data) > LENGTHS[-1]:
        raise HardwareError(f"{len(data)} bytes do not fit into a CAN-FD frame, which has {LENGTHS[-1]} at most")
    return data.ljust(min(each for each in LENGTHS if each >= len(data)), bytes((_NOP,)))


def parts(data: bytes) -> Iterator[Part]:
    """The subframes of a frame; HardwareError where one is none."""
    at = 0
    while at < len(data):
        what = data[at]
        at += 1
        if what == _NOP:
            continue
        if what in (_WRITE_ERROR, _READ_ERROR):
            first, at = _number(data, at)
            error, at = _number(data, at)
            yield Part(what & 0x20, Type.INT8, first, (), error)
            continue
        if what >= 0x30:
            raise HardwareError(f"{data.hex(' ')}: no subframe begins with {what:#04x}")
        kind, count = Type(what >> 2 & 3), what & 3
        if not count:
            count, at = _number(data, at)
        first, at = _number(data, at)
        if count > LENGTHS[-1]:
            raise HardwareError(f"{data.hex(' ')}: {count} registers do not fit into a frame")
        if what & 0x30 == _READ:
            yield Part(_READ, kind, first, (0.0,) * count)
            continue
        size = count * struct.calcsize(_FORMATS[kind])
        if at + size > len(data):
            raise HardwareError(f"{data.hex(' ')} ends within {count} registers from {first:#05x} on")
        yield Part(what & 0x30, kind, first, tuple(_unpacked(kind, first, data[at : at + size], count)))
        at += size


def _head(what: int, kind: Type, first: int, count: int) -> bytes:
    numbers = _varuint(first) if count < 4 else _varuint(count) + _varuint(first)
    return bytes((what | kind << 2 | (count if count < 4 else 0),)) + numbers


def _packed(kind: Type, first: int, values: tuple[float, ...]) -> bytes:
    if kind is Type.FLOAT:
        return struct.pack(f"<{len(values)}f", *values)
    counts = [_count(kind, first + at, value) for at, value in enumerate(values)]
    return struct.pack(f"<{len(values)}{_FORMATS[kind]}", *counts)


def _count(kind: Type, register: int, value: float) -> int:
    if math.isnan(value):
        return _LEAST[kind]
    unit = SCALES[register][kind] if register in SCALES else 1.0
    most = -_LEAST[kind] - 1
    return max(-most, min(most, round(max(-4e9, min(4e9, value / unit)))))


def _unpacked(kind: Type, first: int, data: bytes, count: int) -> Iterator[float]:
    for at, value in enumerate(struct.unpack(f"<{count}{_FORMATS[kind]}", data)):
        if kind is Type.FLOAT:
            yield value
        elif value == _LEAST[kind]:
            yield math.nan
        else:
            yield value * SCALES[first + at][kind] if first + at in SCALES else float(value)


def _varuint(value: int) -> bytes:
    found = bytearray()
    while True:
        found.append(value & 0x7F | (0x80 if value > 0x7F else 0))
        value >>= 7
        if not value:
            return bytes(found)


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, and where the next thing begins."""
    value = shift = 0
    while at < len(data) and shift < 35:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 0x80:
            return value, at
    raise HardwareError(f"{data.hex(' ')} ends within a number")


NOMINAL, FAST = 1_000_000, 5_000_000
"""Bits per second of what is around the data, and of the data."""


def length(frame: Frame) -> int:
    """How long the bus is busy with a frame, in bits of the slow rate, with all that may be stuffed into it."""
    before = 17 if frame.id <= 0x7FF else 36
    data = 5 + 8 * len(frame.data)  # ESI and length, data
    check = 4 + (17 if len(frame.data) <= 16 else 21) + 7 + 1  # stuff count, CRC, its stuff bits, end
    around = before + (before - 1) // 4 + 12  # acknowledgement, end, intermission
    return around + math.ceil((data + data // 4 + check) * NOMINAL / FAST)


def seconds(frame: Frame) -> float:
    """The same in seconds."""
    return length(frame) / NOMINAL


# Frames as bytes one after the other, for lines of simulated controllers.

_FRAMED = struct.Struct("<HB")


def framed(frame: Frame) -> bytes:
    """A frame with its identifier and length before it."""
    return _FRAMED.pack(frame.id, len(frame.data)) + frame.data


def unframed(stream: bytes) -> Iterator[Frame]:
    """The frames of a stream; what is left of one at its end is dropped."""
    at = 0
    while at + _FRAMED.size <= len(stream):
        identifier, size = _FRAMED.unpack_from(stream, at)
        at += _FRAMED.size
        if at + size <= len(stream):
            yield Frame(identifier, stream[at : at + size])
        at += size
