"""References: the frames that tell a board where its motors have to be."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from wholebody.drivers.hubo_can.frames import Frame, Id, from_percent, from_sign_magnitude, percent, sign_magnitude

_NECK = struct.Struct("<HHH")
_PWM, _RUN = 0x0D, 0x01
MAX_FINGER_CURRENT = 0.1
"""A, the most that a finger of DRC-Hubo is asked for."""


def motors(board: int, counts: Sequence[int]) -> Frame:
    """Tell a board of one or two motors; one motor is told twice."""
    both = sign_magnitude(counts[0]) | sign_magnitude(counts[-1]) << 24
    return Frame(Id.REFERENCE + board, both.to_bytes(6, "little"))


def read_motors(data: bytes) -> tuple[int, int] | None:
    """Read the counts for a board of one or two motors."""
    if len(data) != 6:
        return None
    both = int.from_bytes(data, "little")
    return from_sign_magnitude(both & 0xFFFFFF), from_sign_magnitude(both >> 24)


def neck(board: int, angles: Sequence[float]) -> Frame:
    """Tell the neck of DRC-Hubo three angles (rad): (θ + π) / 2π × 4095."""
    counts = [min(max(round((angle + math.pi) / (2 * math.pi) * 4095), 0), 4095) for angle in angles]
    return Frame(Id.REFERENCE + board, _NECK.pack(*counts))


def read_neck(data: bytes) -> tuple[float, float, float] | None:
    """Read the three angles (rad) for the neck of DRC-Hubo."""
    if len(data) != 6:
        return None
    yaw, first, second = (count / 4095 * 2 * math.pi - math.pi for count in _NECK.unpack(data))
    return yaw, first, second


def wrist(board: int, counts: int, currents: Sequence[float]) -> Frame:
    """Tell DRC-Hubo's wrist its counts and two fingers their currents (A), which are kept within ±0.1 A."""
    fingers = bytes(_finger(current) for current in currents)
    return Frame(Id.REFERENCE + board, sign_magnitude(counts).to_bytes(3, "little") + fingers)


def read_wrist(data: bytes) -> tuple[int, float, float] | None:
    """Read the counts of DRC-Hubo's wrist and the currents (A) of its two fingers."""
    if len(data) != 5:
        return None
    first, second = ((-1 if byte & 0x80 else 1) * (byte & 0x7F) / 100 for byte in data[3:])
    return from_sign_magnitude(int.from_bytes(data[:3], "little")), first, second


def hand(board: int, duties: Sequence[float]) -> Frame:
    """Tell the five motors of Hubo2+'s hand their duties, −1 … 1."""
    return Frame(Id.COMMAND, bytes((board, _PWM, _RUN, *(percent(duty) for duty in duties))))


def read_hand(data: bytes) -> tuple[float, ...] | None:
    """Read the five duties for a hand of Hubo2+."""
    if len(data) != 8 or data[1] != _PWM or data[2] != _RUN:
        return None
    return tuple(from_percent(byte) for byte in data[3:])


def _finger(current: float) -> int:
    size = round(min(abs(current), MAX_FINGER_CURRENT) * 100)
    return size | 0x80 if current < 0 and size else size


CODE = 0x0D
STOP, RUN, FINE = 0x00, 0x01, 0x03


def coarse(board: int, duties: Sequence[float], run: bool = True) -> Frame:
    """Drive two motors by duties of −1 … 1 in percent; counterclockwise is positive."""
    motors = bytes(byte for duty in duties for byte in (int(duty < 0), min(round(abs(duty) * 100), 100)))
    return Frame(Id.COMMAND, bytes((board, CODE, RUN if run else STOP)) + motors)


def many(board: int, duties: Sequence[float], run: bool = True) -> Frame:
    """Drive three or five motors by duties of −1 … 1 in percent, one byte each."""
    return Frame(Id.COMMAND, bytes((board, CODE, RUN if run else STOP, *(percent(duty) for duty in duties))))


def fine(board: int, duties: Sequence[float]) -> Frame:
    """Drive two motors by duties of −1 … 1 in tenths of a percent; counterclockwise is positive."""
    motors = b"".join(_fine(duty) for duty in duties)
    return Frame(Id.COMMAND, bytes((board, CODE, FINE)) + motors)


def read(data: bytes, motors: int) -> tuple[float, ...] | None:
    """Read the duties for a board of so many motors; zeros if they are to stop."""
    if len(data) < 3 or data[1] != CODE or data[2] not in (STOP, RUN, FINE):
        return None
    pairs = motors <= 2
    if len(data) != (7 if pairs else 3 + motors) or (data[2] == FINE and not pairs):
        return None
    if data[2] == STOP:
        return (0.0,) * motors
    if not pairs:
        return tuple(from_percent(byte) for byte in data[3:])
    one = _from_fine if data[2] == FINE else _from_coarse
    return tuple(one(data[at], data[at + 1]) for at in (3, 5))[:motors]


def _fine(duty: float) -> bytes:
    tenths = min(round(abs(duty) * 1000), 1000)
    return bytes(((tenths >> 8) << 4 | int(duty < 0), tenths & 0xFF))


def _from_fine(high: int, low: int) -> float:
    return ((high >> 4) << 8 | low) / 1000 * (-1 if high & 1 else 1)


def _from_coarse(direction: int, size: int) -> float:
    return size / 100 * (-1 if direction else 1)
