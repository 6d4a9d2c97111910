"""Kinds of servos, AX and RX by protocol 1.0, X by protocol 2.0: packets, registers and units behind one interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from wholebody.drivers.dynamixel import packets, packets2
from wholebody.drivers.dynamixel.packets import BROADCAST, GREATEST, signed

Array = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Block:
    """Registers that are read together."""

    address: int
    size: int

    def of(self, raw: Bytes, address: int, kind: str) -> npt.NDArray[Any]:
        """One register of all servos, from what was read of each: servos × size."""
        at = address - self.address
        size = np.dtype(kind).itemsize
        return np.ascontiguousarray(raw[:, at : at + size]).view(kind)[:, 0]


@dataclass(frozen=True)
class Kind:
    """What protocol 1.0 and 2.0 have in common."""

    protocol: str
    packets: ModuleType
    counts: int  # steps of position that there are
    step: float  # rad of one
    speed_unit: float  # rad/s
    reading: Block  # what is asked all the time
    check: Block  # what is asked now and then
    goal_size: int  # bytes of goal and speed together, for each servo
    asking: int  # bytes of a packet that asks, besides what it says of each servo
    asking_each: int
    answering: int  # bytes of a reply besides its data
    writing: int  # bytes of a sync write besides its data
    measures_temperature: bool

    @property
    def greatest(self) -> int:
        """The greatest position."""
        return self.counts - 1

    def ask(self, servos: Sequence[int]) -> list[bytes]:
        """Ask servos for what is asked all the time."""
        raise NotImplementedError

    def ask_check(self, servo: int) -> bytes:
        """Ask a servo for what is asked now and then."""
        packet: bytes = self.packets.read(servo, self.check.address, self.check.size)
        return packet

    def settings(self) -> list[bytes]:
        """Have all servos answer at once, and only what is asked for."""
        write, of = self.packets.write, self.packets
        return [write(BROADCAST, of.STATUS_LEVEL, b"\x01"), write(BROADCAST, of.RETURN_DELAY, b"\x00")]

    def switch(self, servos: Mapping[int, bool]) -> bytes:
        """Switch torques on or off."""
        data = {servo: bytes((int(on),)) for servo, on in servos.items()}
        packet: bytes = self.packets.sync_write(self.packets.TORQUE_ENABLE, data)
        return packet

    def goals(self, goals: Mapping[int, tuple[int, int]]) -> bytes:
        """Send servos to positions, each with a speed at most."""
        raise NotImplementedError

    def arm(self, seconds: float) -> list[bytes]:
        """Have all servos stop by themselves when they hear nothing for so long; nothing where they cannot."""
        return []

    def measured(self, raw: Bytes) -> tuple[npt.NDArray[np.int64], Array, Array, Array]:
        """Position in steps, rad/s, share of the greatest torque, °C."""
        raise NotImplementedError

    def checked(self, raw: Bytes) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64], npt.NDArray[np.uint8] | None]:
        """Whether torque is on, the goal in steps, and faults where replies do not tell them."""
        raise NotImplementedError


class _Old(Kind):
    def ask(self, servos: Sequence[int]) -> list[bytes]:
        return [packets.read(servo, self.reading.address, self.reading.size) for servo in servos]

    def goals(self, goals: Mapping[int, tuple[int, int]]) -> bytes:
        data = {servo: packets.two_bytes(goal) + packets.two_bytes(speed) for servo, (goal, speed) in goals.items()}
        return packets.sync_write(packets.GOAL_POSITION, data)

    def measured(self, raw: Bytes) -> tuple[npt.NDArray[np.int64], Array, Array, Array]:
        position, speed, load = (
            self.reading.of(raw, address, "<u2")
            for address in (packets.PRESENT_POSITION, packets.PRESENT_SPEED, packets.PRESENT_LOAD)
        )
        rate: Array = signed(speed).astype(float) * self.speed_unit
        share: Array = signed(load).astype(float) / GREATEST
        celsius: Array = self.reading.of(raw, packets.PRESENT_TEMPERATURE, "u1").astype(float)
        return position.astype(np.int64), rate, share, celsius

    def checked(self, raw: Bytes) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64], npt.NDArray[np.uint8] | None]:
        on = self.check.of(raw, packets.TORQUE_ENABLE, "u1") != 0
        return on, self.check.of(raw, packets.GOAL_POSITION, "<u2").astype(np.int64), None


class _New(Kind):
    def ask(self, servos: Sequence[int]) -> list[bytes]:
        return [packets2.sync_read(self.reading.address, self.reading.size, servos)] if servos else []

    def goals(self, goals: Mapping[int, tuple[int, int]]) -> bytes:
        data = {
            servo: speed.to_bytes(4, "little") + goal.to_bytes(4, "little", signed=True)
            for servo, (goal, speed) in goals.items()
        }
        return packets2.sync_write(packets2.PROFILE_VELOCITY, data)

    def arm(self, seconds: float) -> list[bytes]:
        limit = max(1, min(127, round(seconds / packets2.WATCHDOG_UNIT)))
        return [packets2.write(BROADCAST, packets2.BUS_WATCHDOG, bytes((each,))) for each in (0, limit)]

    def measured(self, raw: Bytes) -> tuple[npt.NDArray[np.int64], Array, Array, Array]:
        position = self.reading.of(raw, packets2.PRESENT_POSITION, "<i4").astype(np.int64)
        speed: Array = self.reading.of(raw, packets2.PRESENT_VELOCITY, "<i4").astype(float) * self.speed_unit
        share: Array = self.reading.of(raw, packets2.PRESENT_CURRENT, "<i2").astype(float) / GREATEST_CURRENT
        return position, speed, share, np.zeros(len(raw))

    def checked(self, raw: Bytes) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64], npt.NDArray[np.uint8] | None]:
        ran_out = self.check.of(raw, packets2.BUS_WATCHDOG, "u1") == packets2.RAN_OUT
        on = (self.check.of(raw, packets2.TORQUE_ENABLE, "u1") != 0) & ~ran_out
        errors = self.check.of(raw, packets2.HARDWARE_ERROR, "u1") & HARDWARE_FAULTS
        faults = np.where(ran_out, errors | int(packets.Fault.VOLTAGE), errors).astype(np.uint8)  # a driver's fault
        return on, self.check.of(raw, packets2.GOAL_POSITION, "<i4").astype(np.int64), faults


GREATEST_CURRENT = 1193
"""Steps of current at an XM430's limit, its Current Limit as it leaves the factory."""
HARDWARE_FAULTS = 0b100101
"""Voltage, overheating and overload, which have the same bits as the faults of protocol 1.0."""

AX = _Old(
    "1.0",
    packets,
    packets.COUNTS,
    packets.RADIANS_PER_COUNT,
    packets.SPEED_UNIT,
    Block(packets.PRESENT_POSITION, 8),
    Block(packets.TORQUE_ENABLE, 10),
    goal_size=4,
    asking=0,
    asking_each=8,
    answering=6,
    writing=8,
    measures_temperature=True,
)
X = _New(
    "2.0",
    packets2,
    packets2.COUNTS,
    packets2.RADIANS_PER_COUNT,
    packets2.SPEED_UNIT,
    Block(packets2.PRESENT_CURRENT, 10),
    Block(packets2.TORQUE_ENABLE, packets2.GOAL_POSITION + 4 - packets2.TORQUE_ENABLE),
    goal_size=8,
    asking=14,
    asking_each=1,
    answering=11,
    writing=14,
    measures_temperature=False,
)
KINDS = {"1.0": AX, "2.0": X}
