"""The catalogue of robots: installed ones by name, ours and others', and any YAML, URDF or MJCF by path.

A name of robots.packages, such as g1, is that of a file that another package brings.

Ours are the files of the folder descriptions. One of another package is a function `robot() -> Robot`, announced as an
entry point; path/to/file.py with such a function will do, too:

    [project.entry-points."wholebody.robots"]
    my_robot = "my_package.my_robot:robot"
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from collections.abc import Collection
from dataclasses import replace
from functools import partial
from pathlib import Path

from wholebody import plugins
from wholebody.errors import BadConfiguration, BadRobot, RobotWarning, UnknownName
from wholebody.robots.description import read_description
from wholebody.robots.formats.mjcf_reader import read_mjcf
from wholebody.robots.formats.urdf import read_urdf
from wholebody.robots.inference import inferred
from wholebody.robots.missing import Finding, completed
from wholebody.robots.packages import PACKAGED, file_of
from wholebody.robots.robot import Robot

KIND = "robots"
READERS = {".urdf": read_urdf, ".xml": read_mjcf, ".mjcf": read_mjcf}
OURS = {path.stem: path for path in (Path(__file__).parent / "descriptions").glob("*.yaml")}


def names() -> tuple[str, ...]:
    """The names of all robots that are installed, in alphabetical order."""
    return tuple(sorted({*OURS, *plugins.names(KIND)}))


def load(name_or_path: str | Path, floating: bool | None = None, repair: bool = False) -> Robot:
    """Load a robot by name, or from a description (.yaml), URDF (.urdf) or MJCF (.xml) file.

    floating=False bolts its root to the world; by default a robot of ours is what it is, and one from a file floats
    unless the file says otherwise. repair=True replaces inertias that no body can have by the nearest one that exists,
    with a RobotWarning for each.
    """
    name = str(name_or_path)
    if name not in OURS and (name in plugins.names(KIND) or plugins.is_in_file(name)):
        robot = _installed(name)
        return robot if floating in (None, robot.floating) else replace(robot, floating=bool(floating))
    path, repair = _path_of(name, repair)
    if path.suffix == ".yaml" and path.is_file():
        return read_description(path, floating, repair, _read_base, partial(_finished, path))
    return _finished(path, _read(path, floating, repair))


def findings(path: str | Path, repair: bool = False) -> tuple[Finding, ...]:
    """What a file does not say of its robot: what is assumed instead, the remedy, and whether it is dangerous."""
    file, repair = _path_of(str(path), repair)
    if file.suffix == ".yaml" and file.is_file():
        return completed(read_description(file, None, repair, _read_base))[1]
    return completed(_read(file, None, repair))[1]


def _path_of(name: str, repair: bool) -> tuple[Path, bool]:
    """The file of a robot of ours, of another package, or of that path; and whether to repair its inertias."""
    path = OURS.get(name, Path(name))
    if name in PACKAGED and not path.exists():
        return file_of(name), repair or PACKAGED[name].repair
    return path, repair


def _finished(path: Path, robot: Robot, told: Collection[str] = ()) -> Robot:
    """With safe figures for what is dangerous to lack, and a warning that names it; and with what can be inferred."""
    robot, found = completed(robot)
    dangers = [each for each in found if each.danger]
    if dangers:
        some = "; ".join(str(each) for each in dangers)
        remedy = f"wholebody robots check {path} says what to do"
        warnings.warn(f"{path.name} lacks what is dangerous to lack: {some}. {remedy}", RobotWarning, stacklevel=3)
    return inferred(robot, told)


def load_apart(name_or_path: str) -> Robot:
    """Load a robot as load() does, but files of others in a process that ends: the daemon loads no MuJoCo, ever."""
    name = str(name_or_path)
    if name in OURS or name in plugins.names(KIND) or plugins.is_in_file(name):
        return load(name)
    if not Path(name).is_file():
        if name not in PACKAGED:
            return load(name)
        file_of(name)  # says what to install
    code = "import pickle, sys; from wholebody import robots; pickle.dump(robots.load(sys.argv[1]), sys.stdout.buffer)"
    made = subprocess.run([sys.executable, "-c", code, name], stdout=subprocess.PIPE, check=False)
    if made.returncode:
        raise BadRobot(f"{name} cannot be read; wholebody robots show {name} says why")
    robot: Robot = pickle.loads(made.stdout)
    return robot


def _read_base(path: Path, repair: bool) -> Robot:
    return _read(path, None, repair)


def _read(path: Path, floating: bool | None = None, repair: bool = False) -> Robot:
    """A robot as its URDF or MJCF says it is."""
    known = (*READERS, ".yaml")
    if path.suffix not in known and not path.exists():
        raise UnknownName("robot", str(path), names())
    if path.suffix not in known:
        raise BadRobot(f"{path} is neither a URDF (.urdf) nor an MJCF file (.xml), nor a description (.yaml)")
    if not path.is_file():
        raise BadRobot(f"there is no file {path}")
    return READERS[path.suffix](path, floating=floating, repair=repair)


def _installed(name: str) -> Robot:
    """Ask the function of a plug-in; what is wrong there is said with the name of the robot."""
    try:
        make = plugins.load(KIND, name, "robot")
    except BadConfiguration as error:
        raise BadRobot(f"{error}; a robot is a function robot() that returns a Robot") from error
    robot = make() if callable(make) else None
    if not isinstance(robot, Robot):
        raise BadRobot(f"robot '{name}' should be a function robot() that returns a Robot, not {make!r}")
    return robot
