"""Commands: what a board or a sensor is asked or told beside its references, and how a board reads it.

    frame = command(Do.POSITION_GAINS, board, 100, 0, 20, motor=1)
    read_command(frame.data)           # Command(Do.POSITION_GAINS, board, motor=1, values=(100, 0, 20))

The table below is the protocol: per command its code, whether the code counts up with the motor, and the numbers that
follow. Open-loop duties, whose bytes depend on the board, are in `pwm.py`.
"""

from __future__ import annotations

import struct
from dataclasses import astuple, dataclass
from enum import Enum, IntEnum
from functools import lru_cache

from wholebody.drivers.hubo_can.frames import Frame, Id
from wholebody.errors import HardwareError

ALL_MOTORS = 0x0F


class Do(Enum):
    """A command; the numbers that it takes in brackets."""

    BOARD_INFO = "board info"
    STATUS = "status"
    ENCODER = "encoder"  # [1: second half of a 5-motor board]
    CURRENT = "current"
    ZERO_ENCODER = "zero encoder, clear faults"  # [motor, or ALL_MOTORS]
    POSITION_GAINS = "position gains"  # [Kp, Ki, Kd]
    CURRENT_GAINS = "current gains"  # [Kp, Ki, Kd]
    DRIVER = "motor driver"  # [1 on, 0 off]
    CONTROL_ON = "control on"
    CONTROL_OFF = "control off"
    CONTROL_MODE = "control mode"  # [0 position, 1 current, 2 hybrid]
    GO_HOME = "go home"
    SWITCHING = "switching"  # [1 non-complementary, 0 complementary]
    DEAD_ZONE = "dead zone"  # [value]
    PAGE = "parameter page"  # [number]
    HOME_SEARCH = "home search"  # [limit in turns, direction 0 CW or 1 CCW, offset in counts]
    RESOLUTION = "encoder resolution"  # [bit 15 direction, bit 14 auto-scale, bits 0-13 resolution]
    SPEED_LIMITS = "max acceleration and velocity"  # [acceleration, velocity]
    LOWER_LIMIT = "lower limit"  # [bit 0 enable, bit 1 use now; counts]
    UPPER_LIMIT = "upper limit"  # [bit 0 enable, bit 1 use now; counts]
    HOMING_SPEEDS = "homing speeds"  # [acceleration / 100, search velocity, offset velocity, mode, duty]
    GAIN_OVERRIDE = "gain override"  # [percent of motor 0, of motor 1, ms]
    ALARM = "alarm"  # [0 off, 1-4 sound]
    BEEP = "beep"  # [0.1 s]
    NULL_SENSOR = "null sensor"  # [0 F/T, 4 accelerometer; nothing for the IMU]
    READ_POWER = "voltage and current"
    CHANGE_NUMBER = "change board number"  # [number, rate]
    JAM_LIMITS = "jam and saturation limits"  # [jam ms, saturation ms, limit duty, jam duty]
    ERROR_BOUNDS = "error bounds"  # [input difference, max error, temperature or encoder]
    INITIALIZE = "load defaults"  # [0xAA for a sensor]


@dataclass(frozen=True)
class Layout:
    """The bytes of a command after the board's number: its code, then numbers; `motors` codes in a row, one each."""

    code: int
    format: str = ""
    motors: int = 0
    shortest: int = -1  # of the numbers' bytes, where the last one may be left out
    padded: int = 0  # to this length in all


TABLE = {
    Do.BOARD_INFO: Layout(0x01),
    Do.STATUS: Layout(0x02, padded=3),
    Do.ENCODER: Layout(0x03, "B"),
    Do.CURRENT: Layout(0x04),
    Do.ZERO_ENCODER: Layout(0x06, "B"),
    Do.POSITION_GAINS: Layout(0x07, "HHH", motors=2),
    Do.CURRENT_GAINS: Layout(0x09, "HHH", motors=2),
    Do.DRIVER: Layout(0x0B, "B"),
    Do.CONTROL_ON: Layout(0x0E),
    Do.CONTROL_OFF: Layout(0x0F),
    Do.CONTROL_MODE: Layout(0x10, "B"),
    Do.GO_HOME: Layout(0x11, padded=8),  # its motor is in byte 2
    Do.SWITCHING: Layout(0x13, "B"),  # Hubo-Ach sends 2 bytes of it, without the value
    Do.DEAD_ZONE: Layout(0x20, "B", motors=4),
    Do.PAGE: Layout(0x24, "B"),
    Do.HOME_SEARCH: Layout(0x30, "BBi", motors=8),
    Do.RESOLUTION: Layout(0x38, "H", motors=8),
    Do.SPEED_LIMITS: Layout(0x40, "HH", motors=8),
    Do.LOWER_LIMIT: Layout(0x50, "Bi", motors=6),
    Do.UPPER_LIMIT: Layout(0x56, "Bi", motors=6),
    Do.HOMING_SPEEDS: Layout(0x60, "BBBBB", motors=8),
    Do.GAIN_OVERRIDE: Layout(0x6F, "BBH"),
    Do.NULL_SENSOR: Layout(0x81, "B", shortest=0),
    Do.ALARM: Layout(0x82, "B"),
    Do.BEEP: Layout(0x83, "B"),
    Do.READ_POWER: Layout(0xE0),
    Do.CHANGE_NUMBER: Layout(0xF0, "BB"),
    Do.JAM_LIMITS: Layout(0xF2, "HHBB"),
    Do.ERROR_BOUNDS: Layout(0xF3, "HHH"),
    Do.INITIALIZE: Layout(0xFA, "B", shortest=0),
}
_STRUCTS = {do: struct.Struct("<" + layout.format) for do, layout in TABLE.items()}
_BY_CODE = {layout.code + m: (do, m) for do, layout in TABLE.items() for m in range(max(layout.motors, 1))}


@dataclass(frozen=True)
class Command:
    """A command as a board reads it; `motor` is 0 where the command is for the whole board."""

    do: Do
    board: int
    motor: int = 0
    values: tuple[int, ...] = ()


def command(do: Do, board: int, *values: int, motor: int = 0) -> Frame:
    """Write a command."""
    layout = TABLE[do]
    if motor and motor >= layout.motors and do is not Do.GO_HOME:
        raise HardwareError(f"'{do.value}' is for motors 0 to {max(layout.motors - 1, 0)} of a board, not for {motor}")
    code = layout.code + (motor if layout.motors else 0)
    try:
        numbers = _STRUCTS[do].pack(*values) if values or layout.shortest < 0 else b""
    except struct.error as error:
        raise HardwareError(f"'{do.value}' of board {board:#x} cannot be told {values}: {error}") from None
    data = bytes((board, code)) + numbers
    if do is Do.GO_HOME:
        data += bytes(((motor + 1) << 4 | 2,))
    return Frame(Id.COMMAND, data.ljust(layout.padded, b"\0"))


@lru_cache(1024)  # requests are the same in every cycle
def read_command(data: bytes) -> Command | None:
    """Read a command; None if no board would understand it."""
    if len(data) < 2 or data[1] not in _BY_CODE:
        return None
    do, motor = _BY_CODE[data[1]]
    layout, numbers = TABLE[do], _STRUCTS[do]
    if do is Do.GO_HOME:
        return Command(do, data[0], (data[2] >> 4) - 1) if len(data) == 8 and data[2] >> 4 else None
    if layout.padded:
        return Command(do, data[0], motor) if len(data) == layout.padded else None
    if len(data) == 2 and layout.shortest == 0:
        return Command(do, data[0], motor)
    if len(data) != 2 + numbers.size:
        return None
    return Command(do, data[0], motor, numbers.unpack(data[2:]))


class Sense(IntEnum):
    """What a sensor is asked for."""

    RAW = 0x00
    IMU = 0x01
    SCALED = 0x02
    SCALED_WRENCH_RAW_ACCELERATION = 0x03
    RAW_WRENCH_SCALED_ACCELERATION = 0x04
    RAW_WRENCH = 0x11
    WRENCH = 0x12
    GYRO_TEMPERATURE = 0x13
    RAW_ACCELERATION = 0x21
    ACCELERATION = 0x22


def sensor_request(sensor: int, what: Sense) -> Frame:
    """Ask a sensor; the IMU is asked with 00, 01 whatever its number."""
    return Frame(Id.SENSOR_REQUEST, b"\x00\x01\x00" if what is Sense.IMU else bytes((sensor, what)))


def read_sensor_request(data: bytes) -> tuple[int, Sense] | None:
    """Read who is asked for what; sensor 0 stands for the IMU."""
    if data == b"\x00\x01\x00":
        return 0, Sense.IMU
    if len(data) != 2 or data[1] == Sense.IMU or data[1] not in set(Sense):
        return None
    return data[0], Sense(data[1])


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
