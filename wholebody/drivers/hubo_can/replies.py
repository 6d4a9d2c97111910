"""Replies: what boards and sensors answer; each kind is written by one function and read by another.

A reader returns None for bytes of another length.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from wholebody.drivers.hubo_can.frames import POWER_BOARD, Frame, Id, Kind
from wholebody.messages import Status

_TWO, _THREE, _SHORT = struct.Struct("<ii"), struct.Struct("<hhh"), struct.Struct("<hh")
_FOUR = struct.Struct("<hhhh")
CENTIDEGREE = math.radians(0.01)
TORQUE, FORCE = 0.01, 0.1  # N·m and N per count
G_COUNTS = 750
"""Counts per g of the vertical accelerometer in a foot."""


@dataclass(frozen=True)
class Encoders:
    """Counts of a board's motors, from the number `first` on."""

    counts: tuple[int, ...]
    first: int = 0


@dataclass(frozen=True)
class ForceTorque:
    """Two torques (N·m) and a force (N): all that Hubo's sensors measure."""

    torque_x: float
    torque_y: float
    force_z: float


@dataclass(frozen=True)
class Tilt:
    """The tilt of a foot (rad) and its vertical acceleration (g)."""

    x: float
    y: float
    acceleration: float


@dataclass(frozen=True)
class Motion:
    """What the IMU measures: angles (rad) and rates (rad/s)."""

    roll: float
    pitch: float
    roll_rate: float
    pitch_rate: float


@dataclass(frozen=True)
class Power:
    """What the power board measures: V, A, W."""

    voltage: float
    current: float
    power: float


@dataclass(frozen=True)
class Currents:
    """Currents of a board's motors (A), and its temperature (°C) if it has a sensor."""

    amperes: tuple[float, ...]
    temperature: float | None


def encoders(board: int, counts: Sequence[int], kind: Kind = Kind.MOTORS, second_half: bool = False) -> Frame:
    """Write counts; of a hand motors 0-2, or 3 and 4 for the second half."""
    if kind is Kind.MOTORS:
        return Frame(Id.ENCODER + board, _TWO.pack(counts[0], counts[-1]))
    if second_half:
        return Frame(Id.ENCODER + board, _SHORT.pack(*(_int16(count) for count in counts[3:5])))
    return Frame(Id.ENCODER + board, _THREE.pack(*(_int16(count) for count in counts[:3])))


def read_encoders(data: bytes, kind: Kind = Kind.MOTORS) -> Encoders | None:
    """Read counts; 4 bytes from a hand are its second half."""
    if kind is Kind.MOTORS:
        return Encoders(_TWO.unpack(data)) if len(data) == 8 else None
    if len(data) == 4 and kind is Kind.HAND:
        return Encoders(_SHORT.unpack(data), first=3)
    return Encoders(_THREE.unpack(data)) if len(data) == 6 else None


def neck_angle(count: int) -> float:
    """The angle (rad) that a servo of the neck means by a count of 0 … 4096."""
    return count / 4096 * 2 * math.pi - math.pi


def force_torque(sensor: int, reading: ForceTorque) -> Frame:
    """Write torques in 0.01 N·m and the force in 0.1 N."""
    counts = (reading.torque_x / TORQUE, reading.torque_y / TORQUE, reading.force_z / FORCE)
    return Frame(Id.FORCE_TORQUE + sensor, _THREE.pack(*(_int16(count) for count in counts)))


def read_force_torque(data: bytes) -> ForceTorque | None:
    """Read torques and force; the signs of the sensor are not applied."""
    if len(data) != 6:
        return None
    x, y, z = _THREE.unpack(data)
    return ForceTorque(x * TORQUE, y * TORQUE, z * FORCE)


def tilt(sensor: int, reading: Tilt) -> Frame:
    """Write the tilt of a foot in 0.01°."""
    counts = (reading.x / CENTIDEGREE, reading.y / CENTIDEGREE, reading.acceleration * G_COUNTS)
    return Frame(Id.MOTION + sensor, _THREE.pack(*(_int16(count) for count in counts)))


def read_tilt(data: bytes) -> Tilt | None:
    """Read the tilt of a foot. The acceleration is in g: Hubo-Ach turns it into radians, which we do not repeat."""
    if len(data) != 6:
        return None
    x, y, z = _THREE.unpack(data)
    return Tilt(x * CENTIDEGREE, y * CENTIDEGREE, z / G_COUNTS)


def motion(sensor: int, reading: Motion) -> Frame:
    """Write angles in 0.01° and rates in 0.01°/s."""
    values = (reading.roll, reading.pitch, reading.roll_rate, reading.pitch_rate)
    return Frame(Id.MOTION + sensor, _FOUR.pack(*(_int16(value / CENTIDEGREE) for value in values)))


def read_motion(data: bytes) -> Motion | None:
    """Read the IMU."""
    return Motion(*(count * CENTIDEGREE for count in _FOUR.unpack(data))) if len(data) == 8 else None


def power(reading: Power) -> Frame:
    """Write V and A in hundredths, W in tenths."""
    counts = (reading.voltage * 100, reading.current * 100, reading.power * 10)
    return Frame(Id.ENCODER + POWER_BOARD, _THREE.pack(*(_int16(count) for count in counts)))


def read_power(data: bytes) -> Power | None:
    """Read the power board."""
    if len(data) != 6:
        return None
    voltage, current, watts = _THREE.unpack(data)
    return Power(voltage / 100, current / 100, watts / 10)


_CURRENT_BYTES = {3: (0, 1, 3), 5: (0, 1, 2, 4, 5)}
_CURRENT_SCALE = {3: 250, 5: 1000}


def currents(board: int, amperes: Sequence[float], temperature: float = 0.0) -> Frame:
    """Write currents: of one or two motors in 10 bits of 0.01 A, of three in a byte of 1/250 A, of five of 1/1000 A."""
    data = bytearray(4 if len(amperes) <= 3 else 6)
    if len(amperes) <= 3:
        data[2] = min(max(round(temperature), 0), 255)
    if len(amperes) <= 2:
        for motor, ampere in enumerate(amperes):
            count = min(max(round(ampere * 100), 0), 1023)
            data[motor] = count >> 2
            data[3] |= (count & 3) << 2 * motor
    else:
        for at, ampere in zip(_CURRENT_BYTES[len(amperes)], amperes, strict=True):
            data[at] = min(max(round(ampere * _CURRENT_SCALE[len(amperes)]), 0), 255)
    return Frame(Id.CURRENT + board, bytes(data))


def read_currents(data: bytes, motors: int) -> Currents | None:
    """Read the currents of a board of so many motors; a hand has no temperature."""
    if motors > 3:
        return Currents(tuple(data[at] / 1000 for at in _CURRENT_BYTES[5]), None) if len(data) == 6 else None
    if len(data) != 4:
        return None
    if motors == 3:
        return Currents(tuple(data[at] / 250 for at in _CURRENT_BYTES[3]), float(data[2]))
    amperes = tuple((data[motor] << 2 | data[3] >> 2 * motor & 3) / 100 for motor in range(motors))
    return Currents(amperes, float(data[2]))


def _int16(value: float) -> int:
    return min(max(round(value), -32768), 32767)


HOMED = 6
"""The home flag of a motor that found its home."""

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
_SHORT_STATUS = _FIRST | {
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
    return _bits(motor.flags, _SHORT_STATUS) | (motor.mode & 1) << 2


def _read_short(byte: int) -> MotorStatus:
    return MotorStatus(Status(_FLAGS[byte]), mode=byte >> 2 & 1)


def _bits(flags: Status, table: dict[int, Status]) -> int:
    return sum(1 << bit for bit, flag in table.items() if flag in flags)


def _of_every_byte(table: dict[int, Status]) -> tuple[int, ...]:
    return tuple(sum(int(flag) for bit, flag in table.items() if byte >> bit & 1) for byte in range(256))


_FLAGS_1, _FLAGS_2, _FLAGS_3, _FLAGS = map(_of_every_byte, (_FIRST, _SECOND, _THIRD, _SHORT_STATUS))
