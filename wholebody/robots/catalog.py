"""The catalogue of robots: installed ones by name, ours and others', and any YAML, URDF or MJCF by path.

Ours are the files of the folder descriptions. One of another package is a module with a function `robot() -> Robot`,
announced as an entry point:

    [project.entry-points."wholebody.robots"]
    my_robot = "my_package.my_robot"
"""

from __future__ import annotations

import importlib
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from wholebody.errors import BadRobot, UnknownName
from wholebody.robots.description import read_description
from wholebody.robots.formats.mjcf_reader import read_mjcf
from wholebody.robots.formats.urdf import read_urdf
from wholebody.robots.robot import Robot

GROUP = "wholebody.robots"
READERS = {".yaml": read_description, ".urdf": read_urdf, ".xml": read_mjcf, ".mjcf": read_mjcf}
OURS = {path.stem: path for path in (Path(__file__).parent / "descriptions").glob("*.yaml")}


def names() -> tuple[str, ...]:
    """The names of all robots that are installed, in alphabetical order."""
    return tuple(sorted({*OURS, *_entries()}))


def load(name_or_path: str | Path, floating: bool | None = None, repair: bool = False) -> Robot:
    """Load a robot by name, or from a description (.yaml), URDF (.urdf) or MJCF (.xml) file.

    floating=False bolts its root to the world; by default a robot of ours is what it is, and one from a file floats
    unless the file says otherwise. repair=True replaces inertias that no body can have by the nearest one that exists,
    with a RobotWarning for each.
    """
    name = str(name_or_path)
    entry = None if name in OURS else _entries().get(name)
    if entry is not None:
        robot = _from_entry(entry)
        return robot if floating in (None, robot.floating) else replace(robot, floating=bool(floating))
    path = OURS.get(name, Path(name))
    if path.suffix not in READERS and not path.exists():
        raise UnknownName("robot", name, names())
    if path.suffix not in READERS:
        raise BadRobot(f"{path} is neither a URDF (.urdf) nor an MJCF file (.xml), nor a description (.yaml)")
    if not path.is_file():
        raise BadRobot(f"there is no file {path}")
    return READERS[path.suffix](path, floating=floating, repair=repair)


def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _from_entry(entry: EntryPoint) -> Robot:
    """Import the module and ask it; what is wrong there is said with the name of the robot."""
    try:
        module = importlib.import_module(entry.module)
    except ImportError as error:
        raise BadRobot(f"robot '{entry.name}' cannot be imported from {entry.module}: {error}") from error
    make = getattr(module, entry.attr or "robot", None)
    robot = make() if callable(make) else None
    if not isinstance(robot, Robot):
        raise BadRobot(f"robot '{entry.name}': {entry.module} should have a function robot() that returns a Robot")
    return robot
