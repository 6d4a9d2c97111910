"""What the computer sends to boards and sensors: references, commands and requests, and how boards read them.

    frame = command(Do.POSITION_GAINS, board, 100, 0, 20, motor=1)
    read_command(frame.data)           # Command(Do.POSITION_GAINS, board, motor=1, values=(100, 0, 20))

TABLE has the commands that we send: per command its code, whether the code counts up with the motor, and the numbers
that follow.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import lru_cache

from wholebody.drivers.hubo_can.frames import Frame, Id, from_percent, from_sign_magnitude, percent, sign_magnitude
from wholebody.errors import HardwareError

ALL_MOTORS = 0x0F
DUTIES = 0x0D
"""The code of a command that drives motors by duty."""
_RUN = 0x01
_NECK = struct.Struct("<HHH")


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
    """Tell the neck three angles (rad): (θ + π) / 2π × 4095."""
    counts = [min(max(round((angle + math.pi) / (2 * math.pi) * 4095), 0), 4095) for angle in angles]
    return Frame(Id.REFERENCE + board, _NECK.pack(*counts))


def read_neck(data: bytes) -> tuple[float, float, float] | None:
    """Read the three angles (rad) for the neck."""
    if len(data) != 6:
        return None
    yaw, first, second = (count / 4095 * 2 * math.pi - math.pi for count in _NECK.unpack(data))
    return yaw, first, second


def hand(board: int, duties: Sequence[float]) -> Frame:
    """Tell the five motors of a hand their duties, −1 … 1."""
    return Frame(Id.COMMAND, bytes((board, DUTIES, _RUN, *(percent(duty) for duty in duties))))


def read_hand(data: bytes) -> tuple[float, ...] | None:
    """Read the five duties for a hand."""
    if len(data) != 8 or data[1] != DUTIES or data[2] != _RUN:
        return None
    return tuple(from_percent(byte) for byte in data[3:])


class Do(Enum):
    """A command; the numbers that it takes in brackets."""

    STATUS = "status"
    ENCODER = "encoder"  # [1: second half of a 5-motor board]
    CURRENT = "current"
    ZERO_ENCODER = "zero encoder, clear faults"  # [motor, or ALL_MOTORS]
    POSITION_GAINS = "position gains"  # [Kp, Ki, Kd]
    DRIVER = "motor driver"  # [1 on, 0 off]
    CONTROL_ON = "control on"
    CONTROL_OFF = "control off"
    GO_HOME = "go home"
    NULL_SENSOR = "null sensor"  # [0 F/T, 4 accelerometer; nothing for the IMU]
    READ_POWER = "voltage and current"
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
    Do.STATUS: Layout(0x02, padded=3),
    Do.ENCODER: Layout(0x03, "B"),
    Do.CURRENT: Layout(0x04),
    Do.ZERO_ENCODER: Layout(0x06, "B"),
    Do.POSITION_GAINS: Layout(0x07, "HHH", motors=2),
    Do.DRIVER: Layout(0x0B, "B"),
    Do.CONTROL_ON: Layout(0x0E),
    Do.CONTROL_OFF: Layout(0x0F),
    Do.GO_HOME: Layout(0x11, padded=8),  # its motor is in byte 2
    Do.NULL_SENSOR: Layout(0x81, "B", shortest=0),
    Do.READ_POWER: Layout(0xE0),
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

    IMU = 0x01
    WRENCH = 0x12
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
