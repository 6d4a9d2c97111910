"""Status: the flags of a board's motors, as the board writes them and as `messages.Status`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wholebody.hardware.can.frames import Frame, Id
from wholebody.messages import Status

HOMED = 6
"""The home flag of a motor that found its home (2 on DRC-Hubo's wrist)."""

_NO_STATUS = Status(0)
_FIRST = {0: Status.DRIVER_ON, 1: Status.CONTROL_ON, 3: Status.AT_LIMIT_SWITCH}
_SECOND = {
    0: Status.JAMMED,
    1: Status.SATURATED,
    2: Status.BIG_ERROR,
    3: Status.ENCODER_ERROR,
    4: Status.DRIVER_FAULT,
}
_THIRD = {
    0: Status.POSITION_BELOW_MINIMUM,
    1: Status.POSITION_ABOVE_MAXIMUM,
    2: Status.VELOCITY_ERROR,
    3: Status.ACCELERATION_ERROR,
    4: Status.TOO_HOT,
}
_SHORT = _FIRST | {
    4: Status.JAMMED,
    5: Status.SATURATED,
    6: Status.BIG_ERROR,
    7: Status.ENCODER_ERROR,
}


@dataclass(frozen=True)
class MotorStatus:
    """A motor's flags; `home` is how far it is with homing, `mode` its control mode, `failures` two bits of it."""

    flags: Status = _NO_STATUS
    home: int = 0
    mode: int = 0
    failures: int = 0

    @property
    def status(self) -> Status:
        """The flags with HOMED and MOTOR_FAILED as home flag and failures say."""
        extra = (Status.HOMED if self.home == HOMED else 0) | (Status.MOTOR_FAILED if self.failures else 0)
        return self.flags | extra if extra else self.flags


def write_status(board: int, motors: Sequence[MotorStatus]) -> Frame:
    """Write a board's status: 4 bytes for each of up to two motors, or one byte each."""
    if len(motors) > 2:
        return Frame(Id.STATUS + board, bytes(_short(motor) for motor in motors))
    data = b"".join(_long(motor) for motor in motors)
    return Frame(Id.STATUS + board, data.ljust(8, b"\0"))


def read_status(data: bytes, motors: int) -> tuple[MotorStatus, ...] | None:
    """Read the status of a board of so many motors."""
    if motors > 2:
        return tuple(_read_short(byte) for byte in data) if len(data) == motors else None
    if len(data) not in (4 * motors, 8):
        return None
    return tuple(_read_long(data[4 * motor : 4 * motor + 4]) for motor in range(motors))


def _long(motor: MotorStatus) -> bytes:
    first = _bits(motor.flags, _FIRST) | (motor.mode & 1) << 2 | (motor.home & 0xF) << 4
    second = _bits(motor.flags, _SECOND) | (motor.failures & 3) << 5
    return bytes((first, second, _bits(motor.flags, _THIRD), 0))


def _read_long(data: bytes) -> MotorStatus:
    flags = Status(_FLAGS_1[data[0]] | _FLAGS_2[data[1]] | _FLAGS_3[data[2]])
    return MotorStatus(flags, home=data[0] >> 4, mode=data[0] >> 2 & 1, failures=data[1] >> 5 & 3)


def _short(motor: MotorStatus) -> int:
    return _bits(motor.flags, _SHORT) | (motor.mode & 1) << 2


def _read_short(byte: int) -> MotorStatus:
    return MotorStatus(Status(_FLAGS[byte]), mode=byte >> 2 & 1)


def _bits(flags: Status, table: dict[int, Status]) -> int:
    return sum(1 << bit for bit, flag in table.items() if flag in flags)


def _of_every_byte(table: dict[int, Status]) -> tuple[int, ...]:
    return tuple(sum(int(flag) for bit, flag in table.items() if byte >> bit & 1) for byte in range(256))


_FLAGS_1, _FLAGS_2, _FLAGS_3, _FLAGS = map(_of_every_byte, (_FIRST, _SECOND, _THIRD, _SHORT))
