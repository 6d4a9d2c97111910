"""ServoTable: which servo moves which joint, and on which line it hangs; Traffic: what a line carries in a cycle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import resources

import numpy as np
import numpy.typing as npt

from wholebody.drivers.dynamixel.packets import COUNTS, GREATEST, RADIANS_PER_COUNT
from wholebody.errors import HardwareError
from wholebody.files import yaml_of
from wholebody.robots.robot import Robot

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

BITS_PER_BYTE = 10
BAUD = 1_000_000
SHARE = 0.95
"""of a period that reads may fill"""
READ_SIZE = 8
CHECK_SIZE = 10
REQUEST = 8
REPLY = 6


@dataclass(frozen=True)
class ServoTable:
    """The servos in the order of the robot's joints. A joint at q has its servo at zero + direction · q."""

    joints: tuple[str, ...]
    servo: tuple[int, ...]
    zero: Array  # rad
    direction: Array  # 1 or −1
    line: tuple[int, ...]
    lines: tuple[str, ...]
    source: str = ""

    @classmethod
    def of(cls, robot: Robot, lines: int | None = None) -> ServoTable:
        """Read the table of a robot of ours; `lines=1` hangs all its servos on one."""
        file = resources.files("wholebody.drivers.dynamixel").joinpath(f"{robot.name}.yaml")
        if not file.is_file():
            raise HardwareError(f"{robot.name} has no table of servos; the robot with a servo bus is minihubo")
        with resources.as_file(file) as path:
            document = yaml_of(path, HardwareError)
        rows, names = document["servos"], tuple(document["lines"])
        if lines not in (None, 1, len(names)):
            raise HardwareError(
                f"{lines} lines of servos for {robot.name}; give 1, or {len(names)}: {', '.join(names)}"
            )
        without = [joint for joint in robot.joint_names if joint not in rows]
        if without:
            raise HardwareError(f"no servo moves {', '.join(without)}; add it to {robot.name}.yaml")
        ordered = [rows[joint] for joint in robot.joint_names]
        return cls(
            robot.joint_names,
            tuple(int(row["servo"]) for row in ordered),
            np.radians([float(row["zero"]) for row in ordered]),
            np.array([float(row["direction"]) for row in ordered]),
            tuple(0 if lines == 1 else names.index(row["line"]) for row in ordered),
            ("all",) if lines == 1 else names,
            document["source"],
        )

    def on(self, line: int) -> tuple[int, ...]:
        """The joints whose servos hang on a line."""
        return tuple(joint for joint, where in enumerate(self.line) if where == line)

    def counts(self, position: Array) -> Integers:
        """The counts nearest to joint positions, within what servos can turn."""
        exact = (self.zero + self.direction * position) / RADIANS_PER_COUNT
        return np.clip(np.rint(exact), 0, GREATEST).astype(np.int64)

    def positions(self, counts: npt.NDArray[np.integer]) -> Array:
        """Where the joints are when their servos show these counts."""
        angle: Array = np.minimum(counts, GREATEST) * RADIANS_PER_COUNT
        return self.direction * (angle - self.zero)

    def position(self, joint: int, counts: int) -> float:
        """Where one joint is when its servo shows these counts."""
        return float(self.direction[joint] * (counts * RADIANS_PER_COUNT - self.zero[joint]))

    @property
    def lower(self) -> Array:
        """How far down each joint's servo can turn it."""
        return np.where(self.direction > 0, -self.zero, self.zero - (COUNTS - 1) * RADIANS_PER_COUNT)

    @property
    def upper(self) -> Array:
        """How far up."""
        return np.where(self.direction > 0, (COUNTS - 1) * RADIANS_PER_COUNT - self.zero, self.zero)


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
