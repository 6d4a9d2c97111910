"""Key-frame motions that come with the package: those of a robot, by name.

library.names(robot)                       # ('get_up', 'roll_left', …)
library.key_frames(robot, "roll_left")     # KeyFrames
library.find("atlas/roll_left")            # the file, for commands
"""

from __future__ import annotations

from pathlib import Path

from wholebody.errors import UnknownName
from wholebody.motion.files import KEY_FRAMES, top_level
from wholebody.motion.keyframes import KeyFrames
from wholebody.robots.robot import Robot

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
