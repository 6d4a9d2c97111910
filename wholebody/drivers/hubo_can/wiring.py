"""Wiring: which bus, board and motor each joint of a robot hangs on, and where its sensors are.

    boards:
      JMC8: {bus: 1, motors: {RSP: {drive: 11, driven: 16, harmonic: 100, encoder: 4000, direction: 1}, RSR: …}}
    sensors:
      right_foot: {bus: 0, number: 1, signs: [1, 1, 1]}

A file of a robot of ours lies beside this one and says where its numbers come from.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from wholebody.drivers.hubo_can.frames import BOARDS, IMU_SENSORS, Kind
from wholebody.errors import HardwareError, UnknownName
from wholebody.files import yaml_of
from wholebody.robots.robot import Robot


@dataclass(frozen=True)
class Motor:
    """A joint's motor: encoder counts per radian of the joint, with the direction as sign; how it finds its home."""

    joint: str
    counts_per_radian: float
    home_offset: float = 0.0  # rad from the limit switch to the joint's zero
    home_direction: int = 0  # −1 or +1, in which the switch is looked for; 0: there is none


@dataclass(frozen=True)
class Board:
    """A board with its motors."""

    name: str
    number: int
    bus: int
    motors: tuple[Motor, ...]
    kind: Kind = Kind.MOTORS
    active: bool = True

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints of its motors."""
        return tuple(motor.joint for motor in self.motors)

    def __str__(self) -> str:
        """Name the board and what hangs on it."""
        return f"{self.name} ({', '.join(self.joints)})"


@dataclass(frozen=True)
class SensorNode:
    """A force-torque sensor, with the tilt sensor beside it if it has one, or an IMU."""

    name: str
    number: int
    bus: int
    signs: tuple[float, float, float] = (1.0, 1.0, 1.0)
    roll_joints: tuple[str, ...] = ()
    pitch_joints: tuple[str, ...] = ()

    @property
    def is_imu(self) -> bool:
        """Whether it is an IMU."""
        return self.number in IMU_SENSORS

    @property
    def has_tilt(self) -> bool:
        """Whether it is in a foot, where a tilt sensor is too."""
        return self.number <= 2


@dataclass(frozen=True)
class Wiring:
    """The boards and sensors of a robot, each on one of its buses."""

    robot: str
    buses: int
    boards: tuple[Board, ...]
    sensors: tuple[SensorNode, ...] = ()
    power_bus: int | None = None
    source: str = ""

    def __post_init__(self) -> None:
        """Check that nobody is there twice and everybody on a bus that exists."""
        names = [joint for board in self.boards for joint in board.joints]
        for what, given in (
            ("joint", names),
            ("board", [board.name for board in self.boards]),
            ("sensor", [str(sensor.number) for sensor in self.sensors]),
        ):
            if twice := sorted({each for each in given if given.count(each) > 1}):
                raise HardwareError(f"wiring of {self.robot}: {what} {twice[0]} is there twice; give it once")
        places = [(board.name, board.bus) for board in self.boards]
        for name, bus in [*places, *((sensor.name, sensor.bus) for sensor in self.sensors)]:
            if not 0 <= bus < self.buses:
                raise HardwareError(f"wiring of {self.robot}: {name} is on bus {bus} of {self.buses}; give 0 or more")

    @property
    def active(self) -> tuple[Board, ...]:
        """The boards that are talked to."""
        return tuple(board for board in self.boards if board.active)

    def board_of(self, joint: str) -> Board:
        """The board that a joint hangs on."""
        for board in self.boards:
            if joint in board.joints:
                return board
        raise UnknownName("joint on a board", joint, [each for board in self.boards for each in board.joints])

    def with_active(self, *names: str) -> Wiring:
        """The same with some boards active that were not."""
        return replace(self, boards=tuple(replace(b, active=b.active or b.name in names) for b in self.boards))

    def check(self, robot: Robot) -> None:
        """Raise an error if a joint or sensor that is wired is none of the robot's."""
        for joint in (joint for board in self.boards for joint in board.joints):
            if joint not in robot.index:
                raise UnknownName(f"joint of {robot.name}", joint, robot.joint_names)
        known = {sensor.name for sensor in robot.sensors}
        for sensor in self.sensors:
            if sensor.name not in known:
                raise UnknownName(f"sensor of {robot.name}", sensor.name, known)

    @classmethod
    def read(cls, name: str | Path) -> Wiring:
        """Read the wiring of a robot of ours, by name, or a file of the same form."""
        if isinstance(name, Path) or str(name).endswith(".yaml"):
            return cls.of(yaml_of(name, HardwareError))
        file = resources.files("wholebody.drivers.hubo_can").joinpath(f"{name}.yaml")
        if not file.is_file():
            raise HardwareError(f"nobody wrote down how '{name}' is wired; give the path of a wiring file (.yaml)")
        with resources.as_file(file) as path:
            return cls.of(yaml_of(path, HardwareError))

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Wiring:
        """Build a wiring from what such a file says."""
        try:
            return cls(
                robot=document["robot"],
                buses=len(document["buses"]),
                boards=tuple(_board(name, given) for name, given in document["boards"].items()),
                sensors=tuple(_sensor(name, given) for name, given in document.get("sensors", {}).items()),
                power_bus=document["power"]["bus"] if "power" in document else None,
                source=document.get("source", ""),
            )
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise HardwareError(f"a wiring file lacks something, or says it otherwise: {error!r}") from error


def _board(name: str, given: Mapping[str, Any]) -> Board:
    return Board(
        name=name,
        number=BOARDS[name],
        bus=given["bus"],
        motors=tuple(_motor(joint, values) for joint, values in given["motors"].items()),
        kind=Kind(given.get("kind", "motors")),
        active=given.get("active", True),
    )


def _motor(joint: str, given: Mapping[str, Any]) -> Motor:
    gear = given["driven"] / given["drive"] * given["harmonic"]
    offset, direction = given.get("home", (0.0, 0))
    return Motor(joint, given["direction"] * gear * given["encoder"] / (2 * math.pi), offset, direction)


def _sensor(name: str, given: Mapping[str, Any]) -> SensorNode:
    tilt = given.get("tilt", {})
    x, y, z = given.get("signs", (1.0, 1.0, 1.0))
    return SensorNode(
        *(name, given["number"], given["bus"], (x, y, z)),
        roll_joints=tuple(tilt.get("roll", ())),
        pitch_joints=tuple(tilt.get("pitch", ())),
    )
