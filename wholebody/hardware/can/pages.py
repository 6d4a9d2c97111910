"""Parameter pages: what a board remembers, 8 bytes at a time.

Each motor has six pages, from 6 m + 1 on; pages 20 to 22 are of the board. Numbers that do not fit into one page have
their halves on two, and meet when the pages are put in a row.
"""

from __future__ import annotations

import struct
from dataclasses import astuple, dataclass

from wholebody.hardware.can.frames import Frame, Id

BOARD_PAGES = (20, 21, 22)


def motor_page(motor: int, page: int) -> int:
    """The number of a motor's page 1 … 6."""
    return 6 * motor + page + (5 if motor >= 3 else 0)


@dataclass(frozen=True)
class MotorParameters:
    """What a board remembers of a motor."""

    kp: int = 0
    ki: int = 0
    kd: int = 0
    resolution: int = 0  # 14 bits
    auto_scale: int = 0
    clockwise: int = 0
    dead_zone: int = 0
    search_direction: int = 0
    search_mode: int = 0
    search_limit: int = 0
    home_offset: int = 0
    lower_limit: int = 0
    upper_limit: int = 0
    max_acceleration: int = 0
    max_velocity: int = 0
    max_pwm: int = 0
    max_current: int = 0
    kpt: int = 0
    kdt: int = 0
    kft: int = 0


@dataclass(frozen=True)
class BoardParameters:
    """What a board remembers of itself; times in 0.1 s."""

    can_rate: int = 0
    board_type: int = 0
    homing_acceleration: int = 0  # / 100
    homing_limit_velocity: int = 0
    homing_offset_velocity: int = 0
    jam_time: int = 0
    saturation_time: int = 0
    limit_duty: int = 0
    jam_duty: int = 0
    input_difference: int = 0
    max_error: int = 0
    max_encoder_error: int = 0


_MOTOR = struct.Struct("<HHHHHBBHiiiHHHHxxHHH6x")
_BOARD = struct.Struct("<xxHBxHHHHHBBHHH")


def write_motor(board: int, motor: MotorParameters, page: int) -> Frame:
    """Write a motor's page 1 … 6."""
    return Frame(Id.CURRENT + board, motor_bytes(motor)[8 * (page - 1) : 8 * page])


def motor_bytes(motor: MotorParameters) -> bytes:
    """All six pages of a motor in a row."""
    kp, ki, kd, resolution, auto_scale, clockwise, *rest = astuple(motor)
    return _MOTOR.pack(kp, ki, kd, resolution & 0x3FFF | auto_scale << 14 | clockwise << 15, *rest)


def read_motor(pages: bytes) -> MotorParameters | None:
    """Read a motor from its six pages in a row."""
    if len(pages) != _MOTOR.size:
        return None
    kp, ki, kd, resolution, *rest = _MOTOR.unpack(pages)
    return MotorParameters(kp, ki, kd, resolution & 0x3FFF, resolution >> 14 & 1, resolution >> 15, *rest)


def write_board(board: int, parameters: BoardParameters, page: int) -> Frame:
    """Write a board's page 20, 21 or 22."""
    at = 8 * BOARD_PAGES.index(page)
    return Frame(Id.CURRENT + board, board_bytes(parameters)[at : at + 8])


def board_bytes(parameters: BoardParameters) -> bytes:
    """All three pages of a board in a row."""
    return _BOARD.pack(*astuple(parameters))


def read_board(pages: bytes) -> BoardParameters | None:
    """Read a board from its three pages in a row."""
    return BoardParameters(*_BOARD.unpack(pages)) if len(pages) == 24 else None
