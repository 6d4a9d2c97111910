"""Registers of the servos (AX and RX series alike), and the units they count in.

Position counts 300° in 1024 steps, growing counter-clockwise; speed counts 0.111 rpm, load 1/1023 of the greatest
torque, both with bit 10 set for clockwise. Load is what the servo drives its motor with, not what a sensor felt.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

RETURN_DELAY = 5  # in 2 µs
STATUS_LEVEL = 16  # 0: answers pings only, 1: reads too, 2: everything
TORQUE_ENABLE = 24
GOAL_POSITION = 30
MOVING_SPEED = 32  # 0: as fast as it can
TORQUE_LIMIT = 34
PRESENT_POSITION = 36
PRESENT_SPEED = 38
PRESENT_LOAD = 40
PRESENT_VOLTAGE = 42  # in 0.1 V
PRESENT_TEMPERATURE = 43  # in °C
SIZE = 50

COUNTS = 1024
RADIANS_PER_COUNT = math.radians(300.0) / COUNTS
SPEED_UNIT = 0.111 * 2 * math.pi / 60
GREATEST = 1023
CLOCKWISE = 1 << 10


def signed(values: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Speeds or loads in registers as numbers: counter-clockwise is positive."""
    size = (values & GREATEST).astype(np.int64)
    return np.where(values & CLOCKWISE, -size, size)


def unsigned(values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """The registers of speeds or loads."""
    size = np.minimum(np.rint(np.abs(values)), GREATEST).astype(np.int64)
    return np.where(values < 0, size | CLOCKWISE, size)


def two_bytes(value: int) -> bytes:
    """A number as two registers."""
    return value.to_bytes(2, "little")
