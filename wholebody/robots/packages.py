"""Robots of today whose files other packages bring: which one to install, and where its file then is.

found = packages.file_of("g1")  # a path in the installed package; BadRobot says what to install

Nothing is copied and nothing of the package is imported: most would load a machine-learning framework. `--no-deps`
installs the files alone.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

from wholebody.errors import BadRobot, UnknownName

_EXAMPLES = "cmeel.prefix/share/example-robot-data/robots"
_PLAYGROUND = "mujoco_playground/_src/locomotion"


class Packaged(NamedTuple):
    """A robot of another package: its title, the package's name for pip, its file in that, and whether to repair it."""

    title: str
    package: str
    path: str
    repair: bool = False

    @property
    def file(self) -> Path | None:
        """Where the file is; None if the package, or the file in it, is not there."""
        try:
            file = Path(str(distribution(self.package).locate_file(self.path)))
        except PackageNotFoundError:
            return None
        return file if file.is_file() else None

    @property
    def command(self) -> str:
        """What installs it."""
        return f"pip install --no-deps {self.package}"


PACKAGED = {
    "alexander": Packaged(
        "Alexander (legs)",
        "example-robot-data",
        f"{_EXAMPLES}/alexander_description/urdf/alexander_v1.lowerBodyOnly.urdf",
    ),
    "apollo": Packaged("Apptronik Apollo", "playground", f"{_PLAYGROUND}/apollo/xmls/apollo_mjx_feetonly.xml"),
    "berkeley_humanoid": Packaged(
        "Berkeley Humanoid", "playground", f"{_PLAYGROUND}/berkeley_humanoid/xmls/berkeley_humanoid_mjx_feetonly.xml"
    ),
    "g1": Packaged("Unitree G1", "mjlab", "mjlab/asset_zoo/robots/unitree_g1/xmls/g1.xml"),
    "gr1": Packaged("Fourier GR1", "robosuite", "robosuite/models/assets/robots/gr1/robot.xml"),
    "h1": Packaged("Unitree H1", "playground", f"{_PLAYGROUND}/h1/xmls/h1_mjx_feetonly.xml"),
    "icub": Packaged("iCub", "example-robot-data", f"{_EXAMPLES}/icub_description/robots/icub_reduced.urdf", True),
    "op3": Packaged("Robotis OP3", "playground", f"{_PLAYGROUND}/op3/xmls/op3_mjx_feetonly.xml"),
    "romeo": Packaged("Romeo", "example-robot-data", f"{_EXAMPLES}/romeo_description/urdf/romeo.urdf", True),
    "t1": Packaged("Booster T1", "holosoma", "holosoma/data/robots/t1/t1_29dof.xml"),
    "talos": Packaged("PAL Talos", "example-robot-data", f"{_EXAMPLES}/talos_data/robots/talos_reduced.urdf"),
}


def packaged(name: str) -> Packaged:
    """A robot by its name."""
    if name not in PACKAGED:
        raise UnknownName("robot of another package", name, tuple(PACKAGED))
    return PACKAGED[name]


def file_of(name: str) -> Path:
    """The file of a robot by its name; BadRobot says which package to install."""
    robot = packaged(name)
    file = robot.file
    if file is not None:
        return file
    try:
        version = distribution(robot.package).version
    except PackageNotFoundError:
        raise BadRobot(
            f"'{name}' ({robot.title}) is in the package '{robot.package}', which is not installed: {robot.command}"
        ) from None
    raise BadRobot(
        f"'{name}' ({robot.title}) is not in version {version} of the package '{robot.package}', where "
        f"{robot.path} should be; install another: {robot.command}"
    )
