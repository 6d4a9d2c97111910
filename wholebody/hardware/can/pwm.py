"""Open-loop PWM: duties for motors whose control is off."""

from __future__ import annotations

from collections.abc import Sequence

from wholebody.hardware.can.frames import Frame, Id, from_percent, percent

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
