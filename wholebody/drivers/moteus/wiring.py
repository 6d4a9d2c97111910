"""Wiring: which moteus controller moves which joint, in which direction, through which gear, on which bus.

A YAML file says it (motors=FILE.yaml); without one, controllers 1, 2, 3 … move the joints in their order, as many on
each bus.

    motors:
      left_knee: {id: 3, bus: 0, sign: -1, gear: 6.0, zero: 0.12}   # bus 0, sign 1, gear 1, zero 0 if not said

The shaft of a joint at q has turned by sign · gear · (q − zero) / 2π revolutions. `gear` is what is between the
output shaft that the controller knows and the joint.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wholebody.drivers.moteus.frames import LAST_CONTROLLER
from wholebody.errors import HardwareError, UnknownName
from wholebody.files import yaml_of
from wholebody.robots.robot import Array, Robot

MOST_ON_A_BUS = 12
"""Controllers that answer within 5 ms."""
_KEYS = {"id", "bus", "sign", "gear", "zero"}


@dataclass(frozen=True)
class Wiring:
    """The controllers of a robot, in the order of its joints; joints without one are in `unmoved`."""

    joints: tuple[int, ...]
    id: tuple[int, ...]
    bus: tuple[int, ...]
    turns: Array  # revolutions of the shaft per radian of the joint, with its sign
    zero: Array  # rad
    unmoved: tuple[str, ...] = ()

    @property
    def buses(self) -> int:
        """How many buses there are."""
        return max(self.bus) + 1

    @classmethod
    def of(cls, robot: Robot, file: str = "", buses: int = 0) -> Wiring:
        """Read the wiring of a file; without one the usual, on so many buses (0: as are needed)."""
        if not file:
            names = robot.joint_names
            buses = buses or -(-len(names) // MOST_ON_A_BUS)
            usual = {name: {"id": at + 1, "bus": at * buses // len(names)} for at, name in enumerate(names)}
            return cls._of(robot, usual, f"{robot.name} without motors=FILE.yaml")
        document = yaml_of(file, HardwareError)
        rows: Any = document.get("motors") if isinstance(document, dict) else None
        if not isinstance(rows, dict) or not rows:
            raise HardwareError(f"{file}: no motors; write motors: and rows such as left_knee: {{id: 3, gear: 6}}")
        return cls._of(robot, rows, str(Path(file).name))

    @classmethod
    def _of(cls, robot: Robot, rows: dict[str, Any], source: str) -> Wiring:
        for name in rows:
            if name not in robot.index:
                raise UnknownName(f"joint of {robot.name} (in {source})", name, robot.joint_names)
        names = [name for name in robot.joint_names if name in rows]
        read = [_row(name, rows[name], source) for name in names]
        seen: dict[tuple[int, int], str] = {}
        for name, (number, bus, *_) in zip(names, read, strict=True):
            if other := seen.get((bus, number)):
                raise HardwareError(f"{source}: {other} and {name} both have controller {number} on bus {bus}")
            seen[bus, number] = name
        return cls(
            tuple(robot.index[name] for name in names),
            tuple(each[0] for each in read),
            tuple(each[1] for each in read),
            np.array([each[2] for each in read]),
            np.array([each[3] for each in read]),
            tuple(name for name in robot.joint_names if name not in rows),
        )


def _row(name: str, row: Any, source: str) -> tuple[int, int, float, float]:
    """Controller, bus, revolutions per radian, zero."""
    try:
        strange = sorted(set(row) - _KEYS)
        number, bus = int(row["id"]), int(row.get("bus", 0))
        sign, gear, zero = (float(row.get(key, usual)) for key, usual in (("sign", 1), ("gear", 1), ("zero", 0)))
    except (KeyError, TypeError, ValueError) as error:
        raise HardwareError(f"{source}: {name}: {row} ({error!r}); write {name}: {{id: 3, gear: 6}}") from None
    if strange:
        raise HardwareError(f"{source}: {name} has {', '.join(strange)}; known are {', '.join(sorted(_KEYS))}")
    if not 1 <= number <= LAST_CONTROLLER or not 0 <= bus < 16:
        raise HardwareError(
            f"{source}: {name}: controllers are 1 to {LAST_CONTROLLER}, buses 0 to 15; not {number}, {bus}"
        )
    if sign not in (1, -1) or not 0 < gear < 1e4 or not math.isfinite(zero):
        raise HardwareError(f"{source}: {name}: sign is 1 or -1, gear a positive number, zero a number of rad")
    return number, bus, sign * gear / (2 * math.pi), zero
