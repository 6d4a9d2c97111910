"""Motors: which motor of a LowCmd moves which joint, and how stiffly it holds a position; a table in YAML, g1.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from wholebody.drivers.unitree.low_level import MOTORS
from wholebody.errors import HardwareError, closest
from wholebody.files import yaml_of
from wholebody.robots.robot import Array, Robot

G1 = Path(str(resources.files(__package__).joinpath("g1.yaml")))
"""Our table."""
_SUFFIX = "_joint"


@dataclass(frozen=True)
class Motors:
    """The motors of a robot. Joints that no motor moves, such as fingers, are in `unmoved`; they are not measured."""

    joints: npt.NDArray[np.intp]  # the robot's joints that a motor moves
    motors: npt.NDArray[np.intp]  # their motors, in the same order
    stiffness: Array  # of all joints
    damping: Array
    others: npt.NDArray[np.intp]  # motors of the table that move no joint of this robot
    unmoved: tuple[str, ...]
    imu: int | None  # which of the robot's IMUs is that of LowState
    mode_machine: int
    resting: float  # N·m·s/rad

    @classmethod
    def of(cls, robot: Robot, file: str = "") -> Motors:
        """Read the table of a file, or ours of a G1."""
        path = Path(file) if file else G1
        document = yaml_of(path, HardwareError)
        rows = _rows(document, path)
        names = [name.removesuffix(_SUFFIX) for name in robot.joint_names]
        joints = [joint for joint, name in enumerate(names) if name in rows]
        if not joints:
            near = closest(names[0], rows) if names else ""
            raise HardwareError(
                f"no joint of {robot.name} is in {path.name}, such as '{next(iter(rows))}'{near}; "
                "give motors=FILE.yaml, a table of your own"
            )
        stiffness, damping = np.zeros(len(names)), np.zeros(len(names))
        for joint in joints:
            stiffness[joint], damping[joint] = rows[names[joint]][1:]
        moved = np.array([rows[names[joint]][0] for joint in joints], np.intp)
        return cls(
            joints=np.array(joints, np.intp),
            motors=moved,
            stiffness=stiffness,
            damping=damping,
            others=np.setdiff1d([int(row[0]) for row in rows.values()], moved).astype(np.intp),
            unmoved=tuple(name for joint, name in enumerate(robot.joint_names) if joint not in joints),
            imu=_imu(robot, str(document.get("imu", ""))),
            mode_machine=int(document.get("mode_machine", 0)),
            resting=float(document.get("damping", 5.0)),
        )


def _rows(document: Any, path: Path) -> dict[str, tuple[int, float, float]]:
    """Motor, stiffness and damping of each joint of a table."""
    try:
        rows = {
            str(name).removesuffix(_SUFFIX): (int(row["motor"]), float(row["stiffness"]), float(row["damping"]))
            for name, row in document["motors"].items()
        }
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise HardwareError(
            f"{path}: no table of motors ({error!r}); write motors: and rows such as "
            "left_knee: {motor: 3, stiffness: 100, damping: 2}"
        ) from None
    numbers = [motor for motor, *_ in rows.values()]
    twice = sorted({each for each in numbers if numbers.count(each) > 1})
    if twice or not all(0 <= each < MOTORS for each in numbers):
        raise HardwareError(f"{path}: motors are 0 to {MOTORS - 1}, each of one joint; twice: {twice or 'none'}")
    if not all(0 <= gain < 1e4 for _, *gains in rows.values() for gain in gains):
        raise HardwareError(f"{path}: stiffness and damping are 0 to 10000")
    return rows


def _imu(robot: Robot, link: str) -> int | None:
    """The robot's IMU in a link, by its own name or its link's; else its first."""
    sensors = robot.sensors_of("imu")
    fits = [at for at, each in enumerate(sensors) if link and (link in each.link or link in each.name)]
    return next(iter(fits), 0 if sensors else None)
