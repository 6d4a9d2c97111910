"""LowCmd and LowState of Unitree's humanoids (unitree_hg), as they are laid out in C, on the wire, and checked.

In C both are structs whose parts begin at multiples of four bytes. On the wire (CDR) a motor's `mode` follows what is
before it at once, and only its floats are aligned, so the first of the 35 motors begins two bytes after the head:

    C     head, two bytes of padding │ mode, three bytes of padding, q, …
    wire  head │ mode, one byte of padding, q, …

Everything else is the same, byte by byte. The check sum is over the C struct, padding and all, without its last word:
CRC-32 with the polynomial 04C11DB7, begun with FFFFFFFF, over words of 32 bits with their highest bit first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from wholebody import _kernels

MOTORS = 35
"""Motors in a message; a G1 has 29 of them."""

_MOTOR_COMMAND = np.dtype(
    [
        ("mode", "u1"),  # 1: on, 0: off
        ("", "u1", 3),
        ("position", "<f4"),
        ("velocity", "<f4"),
        ("effort", "<f4"),
        ("stiffness", "<f4"),
        ("damping", "<f4"),
        ("reserve", "<u4"),
    ]
)
_COMMAND = np.dtype(
    [
        ("mode_pr", "u1"),  # 0: ankles and waist by pitch and roll, 1: by their two motors A and B
        ("mode_machine", "u1"),  # which kind of G1 it is: the robot says it, and wants to hear it again
        ("", "u1", 2),
        ("motor", _MOTOR_COMMAND, MOTORS),
        ("reserve", "<u4", 4),
        ("crc", "<u4"),
    ]
)
_IMU = np.dtype(
    [
        ("orientation", "<f4", 4),  # w x y z
        ("angular_velocity", "<f4", 3),
        ("linear_acceleration", "<f4", 3),
        ("roll_pitch_yaw", "<f4", 3),
        ("temperature", "<i2"),
        ("", "u1", 2),
    ]
)
_MOTOR_STATE = np.dtype(
    [
        ("mode", "u1"),
        ("", "u1", 3),
        ("position", "<f4"),
        ("velocity", "<f4"),
        ("acceleration", "<f4"),
        ("effort", "<f4"),
        ("temperature", "<i2", 2),  # °C, of case and winding
        ("voltage", "<f4"),
        ("sensor", "<u4", 2),
        ("faults", "<u4"),
        ("reserve", "<u4", 4),
    ]
)
_STATE = np.dtype(
    [
        ("version", "<u4", 2),
        ("mode_pr", "u1"),
        ("mode_machine", "u1"),
        ("", "u1", 2),
        ("tick", "<u4"),
        ("imu", _IMU),
        ("motor", _MOTOR_STATE, MOTORS),
        ("remote", "u1", 40),
        ("reserve", "<u4", 4),
        ("crc", "<u4"),
    ]
)


class Motor(NamedTuple):
    """Which of a motor's 32-bit words is what; a record's motors are a table of 35 rows of them."""

    position: int
    velocity: int
    effort: int


OF_COMMAND = Motor(1, 2, 3)
"""Stiffness and damping follow the effort."""
OF_STATE = Motor(1, 2, 4)


@dataclass(frozen=True)
class Topic:
    """A topic: its name, the name of its type, the C struct, and where in that the motors begin."""

    name: str
    type: str
    layout: np.dtype[Any]
    motors: int

    @property
    def size(self) -> int:
        """Bytes on the wire."""
        return self.layout.itemsize - 4


LOW_COMMAND = Topic("rt/lowcmd", "unitree_hg::msg::dds_::LowCmd_", _COMMAND, 4)
LOW_STATE = Topic("rt/lowstate", "unitree_hg::msg::dds_::LowState_", _STATE, 72)


class Message:
    """A LowCmd or LowState: `record` by name, `motors` as a table of floats, and to and from the wire."""

    def __init__(self, topic: Topic) -> None:
        memory: npt.NDArray[Any] = np.zeros(1, topic.layout)
        self.topic = topic
        self.record: Any = memory[0]
        self.words: npt.NDArray[np.uint32] = memory.view("<u4")
        begin, end = topic.motors // 4, (topic.motors + topic.layout["motor"].itemsize) // 4
        self.motors: npt.NDArray[np.float32] = self.words[begin:end].view("<f4").reshape(MOTORS, -1)
        self.rows: Any = self.record["motor"]  # the same by name
        self.modes: npt.NDArray[np.uint8] = self.rows["mode"]
        self.wire = np.zeros(topic.size, np.uint8)
        self.memory: npt.NDArray[np.uint8] = memory.view(np.uint8)
        self.address: int = self.wire.ctypes.data

    def pack(self) -> npt.NDArray[np.uint8]:
        """Its bytes on the wire, with the check sum; they are valid until the next call."""
        _kernels.unitree_pack(self.memory, self.wire)
        return self.wire

    def unpack(self, wire: npt.NDArray[np.uint8]) -> bool:
        """Take bytes from the wire; whether their check sum is right."""
        return _kernels.unitree_unpack(self.memory, wire)
