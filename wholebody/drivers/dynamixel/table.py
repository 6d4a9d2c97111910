"""ServoTable: which servo moves which joint, and on which line it hangs; Traffic: what a line carries in a cycle.

A table of one's own is a YAML file (servos=FILE.yaml). A joint at zero has its servo at `zero` degrees:

    protocol: 2.0                # 1.0 of AX and RX servos if not said, 2.0 of X servos
    baud: 1000000                # if not said
    servos:
      left_knee: {servo: 3, zero: 180, direction: -1, line: legs}    # direction 1, and one line, if not said
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt

from wholebody.drivers.dynamixel.kinds import AX, KINDS, Kind
from wholebody.errors import HardwareError, UnknownName
from wholebody.files import yaml_of
from wholebody.robots.robot import Robot

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

BITS_PER_BYTE = 10
BAUD = 1_000_000
SHARE = 0.95
"""of a period that reads may fill"""
LAST_SERVO = 252
ONE_LINE = "all"


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
    kind: Kind = AX
    baud: int = BAUD

    @classmethod
    def of(cls, robot: Robot, lines: int | None = None, file: str = "") -> ServoTable:
        """Read the table of a file, or of a robot of ours; `lines=1` hangs all its servos on one."""
        if file:
            return cls._of(robot, yaml_of(file, HardwareError), file, lines)
        ours = resources.files("wholebody.drivers.dynamixel").joinpath(f"{robot.name}.yaml")
        if not ours.is_file():
            raise HardwareError(
                f"{robot.name} has no table of servos of ours, as minihubo has; give one of your own: servos=FILE.yaml"
            )
        with resources.as_file(ours) as path:
            return cls._of(robot, yaml_of(path, HardwareError), f"{robot.name}.yaml", lines)

    @classmethod
    def _of(cls, robot: Robot, document: Any, source: str, lines: int | None) -> ServoTable:
        if not isinstance(document, dict) or not isinstance(rows := document.get("servos"), dict) or not rows:
            raise HardwareError(
                f"{source}: no servos; write servos: and rows such as left_knee: {{servo: 3, zero: 180}}"
            )
        kind = KINDS.get(str(document.get("protocol", AX.protocol)))
        if kind is None:
            raise UnknownName(f"protocol (in {source})", str(document["protocol"]), KINDS)
        for name in rows:
            if name not in robot.index:
                raise UnknownName(f"joint of {robot.name} (in {source})", name, robot.joint_names)
        if without := [joint for joint in robot.joint_names if joint not in rows]:
            raise HardwareError(f"no servo moves {', '.join(without)}; add it to {source}")
        ordered = [_row(name, rows[name], source) for name in robot.joint_names]
        names = tuple(document.get("lines", dict.fromkeys(row[3] for row in ordered)))
        if lines not in (None, 1, len(names)):
            raise HardwareError(
                f"{lines} lines of servos for {robot.name}; give 1, or {len(names)}: {', '.join(names)}"
            )
        table = cls(
            robot.joint_names,
            tuple(row[0] for row in ordered),
            np.radians([row[1] for row in ordered]),
            np.array([row[2] for row in ordered]),
            tuple(0 if lines == 1 else _index(names, row[3], source) for row in ordered),
            (ONE_LINE,) if lines == 1 else names,
            str(document.get("source", source)),
            kind,
            int(document.get("baud", BAUD)),
        )
        where = list(zip(table.line, table.servo, strict=True))
        if twice := sorted({each[1] for each in where if where.count(each) > 1}):
            raise HardwareError(f"{source}: on one line, two joints have servo {', '.join(map(str, twice))}")
        return table

    def on(self, line: int) -> tuple[int, ...]:
        """The joints whose servos hang on a line."""
        return tuple(joint for joint, where in enumerate(self.line) if where == line)

    def counts(self, position: Array) -> Integers:
        """The counts nearest to joint positions, within what servos can turn."""
        exact = (self.zero + self.direction * position) / self.kind.step
        return np.clip(np.rint(exact), 0, self.kind.greatest).astype(np.int64)

    def positions(self, counts: npt.NDArray[np.integer]) -> Array:
        """Where the joints are when their servos show these counts."""
        angle: Array = np.minimum(counts, self.kind.greatest) * self.kind.step
        return self.direction * (angle - self.zero)

    def position(self, joint: int, counts: int) -> float:
        """Where one joint is when its servo shows these counts."""
        return float(self.direction[joint] * (counts * self.kind.step - self.zero[joint]))

    @property
    def lower(self) -> Array:
        """How far down each joint's servo can turn it."""
        return np.where(self.direction > 0, -self.zero, self.zero - self.kind.greatest * self.kind.step)

    @property
    def upper(self) -> Array:
        """How far up."""
        return np.where(self.direction > 0, self.kind.greatest * self.kind.step - self.zero, self.zero)


def _row(name: str, row: Any, source: str) -> tuple[int, float, float, str]:
    """Servo, zero, direction and line of a joint."""
    try:
        number, zero = int(row["servo"]), float(row["zero"])
        direction, line = float(row.get("direction", 1)), str(row.get("line", ONE_LINE))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise HardwareError(f"{source}: {name}: {row} ({error!r}); write {name}: {{servo: 3, zero: 180}}") from None
    if not 0 <= number <= LAST_SERVO or direction not in (1, -1) or not -360 <= zero <= 360:
        raise HardwareError(
            f"{source}: {name}: servos are 0 to {LAST_SERVO}, direction is 1 or -1, zero -360 to 360 degrees; not {row}"
        )
    return number, zero, direction, line


def _index(names: tuple[str, ...], line: str, source: str) -> int:
    if line not in names:
        raise UnknownName(f"line (in {source})", line, names)
    return names.index(line)


@dataclass(frozen=True)
class Traffic:
    """What one line carries."""

    servos: int
    baud: float = BAUD
    return_delay: float = 0.0  # s; servos leave the factory with 500 µs, ours are set to 0
    kind: Kind = AX

    def __post_init__(self) -> None:
        """Refuse a line that cannot be."""
        if self.servos < 1 or not self.baud > 0 or not 0 <= self.return_delay < 1:
            raise HardwareError(f"{self}: give one servo or more, a positive baud rate, a delay of 0 to 1 s")

    def seconds(self, size: int) -> float:
        """How long so many bytes take."""
        return size * BITS_PER_BYTE / self.baud

    @property
    def write_time(self) -> float:
        """Seconds of the sync write, and of what asks servos together."""
        kind = self.kind
        return self.seconds(kind.writing + (1 + kind.goal_size) * self.servos + kind.asking)

    @property
    def read_time(self) -> float:
        """Seconds to read one servo."""
        kind = self.kind
        return self.seconds(kind.asking_each + kind.answering + kind.reading.size) + self.return_delay

    @property
    def check_time(self) -> float:
        """Seconds to check one servo."""
        asking = self.kind.asking or self.kind.asking_each
        return self.seconds(asking + self.kind.answering + self.kind.check.size) + self.return_delay

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


def traffic(table: ServoTable, baud: float = 0.0, return_delay: float = 0.0) -> dict[str, Traffic]:
    """What each line of a robot carries, by its name."""
    return {
        name: Traffic(len(table.on(line)), baud or table.baud, return_delay, table.kind)
        for line, name in enumerate(table.lines)
    }
