"""Motion files of either kind: key frames (.yaml), or a trajectory (anything else), for all joints of a robot."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from wholebody.errors import BadMotionFile
from wholebody.motion.keyframes import KeyFrames
from wholebody.motion.table import JointTable, robot_said
from wholebody.robots.robot import Robot

KEY_FRAMES = (".yaml", ".yml")


def robot_named_in(path: str | Path) -> str:
    """The robot that a motion file is for; BadMotionFile if it does not say."""
    if Path(path).suffix.lower() in KEY_FRAMES:
        name, how = str(top_level(path).get("robot") or ""), "robot: hubo2plus"
    else:
        name, how = robot_said(path), "# robot: hubo2plus"
    if not name:
        raise BadMotionFile(
            f"{path} does not say which robot it is for: name it (--robot), or begin the file with '{how}'"
        )
    return name


def top_level(path: str | Path) -> Mapping[str, Any]:
    """What a YAML file says; nothing, if it is no mapping."""
    try:
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadMotionFile(f"{path} cannot be read: {error}") from None
    return content if isinstance(content, Mapping) else {}


def read(
    path: str | Path, robot: Robot, rest: str | None = None, period: float | None = None
) -> KeyFrames | JointTable:
    """Read a motion of all joints of a robot.

    rest    of a trajectory file: the posture of joints without a column; "stand", if the robot has that
    period  of a trajectory file that does not say it
    """
    if Path(path).suffix.lower() in KEY_FRAMES:
        return KeyFrames.read(path, robot)
    table = JointTable.read(path, robot, period=period)
    return table.arranged(robot, rest or ("stand" if "stand" in robot.postures else None))


def writable(path: Path) -> None:
    """BadMotionFile if there is no folder to write into."""
    if not path.parent.is_dir():
        raise BadMotionFile(f"{path} cannot be written: there is no folder {path.parent}")
