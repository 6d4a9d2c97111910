"""Traffic: how long the packets of one cycle keep a line busy, so how fast a loop can be.

A byte takes 10 bits: start, 8, stop. Each cycle of a line with n servos has

    one sync write       goal position and speed      8 + 5 n bytes
    n reads              position to temperature      8 + 14 bytes and the servo's return delay, each
    one check, in turn   torque switch, goal, speed   8 + 16 bytes and the return delay

Servos of these series know neither bulk nor sync reads, so each is asked by itself. If not all fit, servos are read in
turn: each cycle as many as fit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from wholebody.errors import HardwareError
from wholebody.hardware.servo_bus.table import ServoTable

BITS_PER_BYTE = 10
BAUD = 1_000_000
SHARE = 0.95
"""of a period that reads may fill"""
READ_SIZE = 8
CHECK_SIZE = 10
REQUEST = 8
REPLY = 6


@dataclass(frozen=True)
class Traffic:
    """What one line carries."""

    servos: int
    baud: float = BAUD
    return_delay: float = 0.0  # s; servos leave the factory with 500 µs, ours are set to 0

    def __post_init__(self) -> None:
        """Refuse a line that cannot be."""
        if self.servos < 1 or not self.baud > 0 or not 0 <= self.return_delay < 1:
            raise HardwareError(f"{self}: give one servo or more, a positive baud rate, a delay of 0 to 1 s")

    def seconds(self, size: int) -> float:
        """How long so many bytes take."""
        return size * BITS_PER_BYTE / self.baud

    @property
    def write_time(self) -> float:
        """Seconds of the sync write."""
        return self.seconds(8 + 5 * self.servos)

    @property
    def read_time(self) -> float:
        """Seconds to read one servo."""
        return self.seconds(REQUEST + REPLY + READ_SIZE) + self.return_delay

    @property
    def check_time(self) -> float:
        """Seconds to check one servo."""
        return self.seconds(REQUEST + REPLY + CHECK_SIZE) + self.return_delay

    def cycle_time(self, reads: int | None = None) -> float:
        """Seconds of a cycle that reads so many servos, or all."""
        return self.write_time + self.check_time + (self.servos if reads is None else reads) * self.read_time

    def reads_within(self, period: float, besides: float = 0.0) -> int:
        """How many servos can be read in a cycle that has so much (s) besides; none if even its writes do not fit."""
        free = SHARE * period - self.write_time - self.check_time - besides
        return max(0, min(self.servos, math.floor(free / self.read_time + 1e-9)))

    def use(self, period: float) -> float:
        """The share of a period for which the line is busy."""
        return self.cycle_time(self.reads_within(period)) / period

    @property
    def highest_rate(self) -> float:
        """The highest loop rate (Hz) with every servo read in every cycle."""
        return 1 / self.cycle_time()


def traffic(table: ServoTable, baud: float = BAUD, return_delay: float = 0.0) -> dict[str, Traffic]:
    """What each line of a robot carries, by its name."""
    return {name: Traffic(len(table.on(line)), baud, return_delay) for line, name in enumerate(table.lines)}
