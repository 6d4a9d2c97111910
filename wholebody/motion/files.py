"""Motion files of either kind: key frames (.yaml), or a trajectory (anything else), for all joints of a robot."""

from __future__ import annotations

from pathlib import Path

from wholebody.errors import BadMotionFile, UnknownName
from wholebody.motion.joint_table import JointTable, robot_said
from wholebody.motion.keyframes import KeyFrames, top_level
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


FOLDER = Path(__file__).parent / "ready"


def names(robot: Robot) -> tuple[str, ...]:
    """The motions that there are for a robot."""
    return tuple(sorted(path.stem for path in (FOLDER / robot.name).glob("*.yaml")))


def everything() -> tuple[str, ...]:
    """All motions of all robots, as robot/name."""
    return tuple(sorted(f"{path.parent.name}/{path.stem}" for path in FOLDER.glob("*/*.yaml")))


def find(name: str | Path) -> Path | None:
    """The key-frame file that a path, or robot/name, stands for; None if it is none."""
    path = Path(name)
    if str(name) in everything():
        return FOLDER / f"{name}.yaml"
    return path if path.suffix in KEY_FRAMES and path.is_file() and "frames" in top_level(path) else None


def path_of(robot: Robot, name: str) -> Path:
    """The file of a motion; UnknownName, with the nearest ones, if there is none."""
    known = names(robot)
    if name not in known:
        raise UnknownName(f"ready motion of {robot.name}", name, known)
    return FOLDER / robot.name / f"{name}.yaml"


def key_frames(robot: Robot, name: str) -> KeyFrames:
    """The key frames of a motion."""
    return KeyFrames.read(path_of(robot, name), robot)
