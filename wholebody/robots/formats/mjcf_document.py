"""An MJCF file as MuJoCo understands it: includes spliced in, defaults applied, angles in radians, frames as 4 × 4."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from wholebody.errors import BadRobot
from wholebody.files import xml_of
from wholebody.robots.formats.xml import Attributes, number, numbers
from wholebody.robots.robot import Array
from wholebody.rotations import matrix_about, matrix_of_quaternion

ACTUATORS = ("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion")


@dataclass
class Compiler:
    """How the file's numbers are meant (the element <compiler>)."""

    degrees: bool = True
    eulerseq: str = "xyz"
    autolimits: bool = True
    inertia_from_geoms: str = "auto"
    inertia_groups: tuple[int, int] = (0, 5)
    meshdir: Path = Path()
    least_mass: float = 0.0
    least_inertia: float = 0.0
    total_mass: float = -1.0
    balance_inertia: bool = False


@dataclass(frozen=True)
class Mesh:
    """A mesh file, how it is scaled and shifted, and how its inertia is meant."""

    file: Path
    scale: tuple[float, ...]
    shift: Array
    inertia: str


@dataclass
class Document:
    """The elements of a file, with what it takes to read them."""

    path: Path
    root: ET.Element
    compiler: Compiler
    defaults: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    meshes: dict[str, Mesh] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Document:
        """Read a file with everything it includes."""
        root = xml_of(path, BadRobot)
        if root.tag != "mujoco":
            raise BadRobot(f"{path} is no MJCF: its root element is <{root.tag}>, not <mujoco>")
        _splice(root, path.parent, (path.resolve(),))
        document = cls(path, root, _compiler(root, path))
        document.defaults["main"] = {}
        for element in root.findall("default"):
            _collect(element, document.defaults["main"], document.defaults, "main")
        document._name_meshes()
        return document

    def all(self, section: str) -> list[ET.Element]:
        """Every element inside the sections of a name, which may come more than once."""
        return [element for part in self.root.findall(section) for element in part]

    def attributes(self, element: ET.Element, childclass: str) -> dict[str, str]:
        """An element's attributes over those of its default class."""
        name = element.get("class", childclass)
        if name not in self.defaults:
            raise BadRobot(f"{self.path.name}: <{element.tag}> has class '{name}', which <default> does not define")
        kind = "actuator" if element.tag in ACTUATORS else "joint" if element.tag == "freejoint" else element.tag
        return {**self.defaults[name].get(kind, {}), **element.attrib}

    def angle(self, value: float) -> float:
        """An angle of the file in radians."""
        return math.radians(value) if self.compiler.degrees else value

    def placement(self, attributes: Attributes, where: str) -> Array:
        """The 4 × 4 placement that pos and one of quat, axisangle, euler, xyaxes, zaxis give."""
        placed = np.eye(4)
        placed[:3, 3] = numbers(attributes, "pos", where, (0.0, 0.0, 0.0))
        placed[:3, :3] = self._rotation(attributes, where)
        return placed

    def _rotation(self, attributes: Attributes, where: str) -> Array:
        if "quat" in attributes:
            return of_quaternion(numbers(attributes, "quat", where, count=4))
        if "axisangle" in attributes:
            *axis, angle = numbers(attributes, "axisangle", where, count=4)
            return matrix_about(np.array(axis), self.angle(angle))
        if "euler" in attributes:
            return self._euler(numbers(attributes, "euler", where))
        if "xyaxes" in attributes:
            values = np.array(numbers(attributes, "xyaxes", where, count=6))
            x = values[:3] / np.linalg.norm(values[:3])
            y = values[3:] - values[3:] @ x * x
            y /= np.linalg.norm(y)
            return np.column_stack([x, y, np.cross(x, y)])
        if "zaxis" in attributes:
            return turning_z_to(np.array(numbers(attributes, "zaxis", where)))
        return np.eye(3)

    def _euler(self, angles: tuple[float, ...]) -> Array:
        """Lower-case letters turn about the moving axes, capitals about the fixed ones."""
        rotation = np.eye(3)
        for letter, angle in zip(self.compiler.eulerseq, angles, strict=True):
            step = matrix_about(np.eye(3)["xyz".index(letter.lower())], self.angle(angle))
            rotation = rotation @ step if letter.islower() else step @ rotation
        return rotation

    def mesh(self, name: str, where: str) -> Mesh:
        """A mesh of the file by name."""
        if name not in self.meshes:
            raise BadRobot(f"{where} uses mesh '{name}', which <asset> does not define from a file")
        return self.meshes[name]

    def _name_meshes(self) -> None:
        for element in self.all("asset"):
            if element.tag == "mesh" and element.get("file"):
                attributes = self.attributes(element, "main")
                file = Path(attributes["file"])
                name = attributes.get("name", file.stem)
                where = f"mesh '{name}'"
                scale = numbers(attributes, "scale", where, (1.0, 1.0, 1.0))
                turned = of_quaternion(numbers(attributes, "refquat", where, (1.0, 0.0, 0.0, 0.0), count=4)).T
                if len(set(scale)) > 1 and not np.allclose(turned, np.eye(3)):
                    raise BadRobot(f"{where} is turned by refquat and then scaled unevenly; turn it in the file")
                shift = np.eye(4)  # MuJoCo scales last
                shift[:3, :3] = turned
                shift[:3, 3] = -np.array(scale) * (turned @ numbers(attributes, "refpos", where, (0.0, 0.0, 0.0)))
                inertia = attributes.get("inertia", "legacy")
                self.meshes[name] = Mesh(self.compiler.meshdir / file, scale, shift, inertia)


def of_quaternion(wxyz: tuple[float, ...]) -> Array:
    """Rotation of a quaternion of any length, with the scalar first."""
    return matrix_of_quaternion(np.roll(wxyz, -1) / np.linalg.norm(wxyz))


def turning_z_to(direction: Array) -> Array:
    """The smallest rotation that turns z into a direction."""
    z = np.array([0.0, 0.0, 1.0])
    target = direction / np.linalg.norm(direction)
    axis = np.cross(z, target)
    sine = float(np.linalg.norm(axis))
    if sine < 1e-12:
        return np.eye(3) if target[2] > 0 else np.diag([1.0, -1.0, -1.0])
    return matrix_about(axis, math.atan2(sine, float(target[2])))


def _splice(element: ET.Element, folder: Path, above: tuple[Path, ...]) -> None:
    """Put the contents of included files where they are included; paths start from the main file's folder."""
    position = 0
    while position < len(element):
        child = element[position]
        if child.tag != "include":
            _splice(child, folder, above)
            position += 1
            continue
        file = folder / child.get("file", "")
        if not file.is_file():
            raise BadRobot(f"{above[-1].name} includes '{child.get('file', '')}', which is not there")
        if file.resolve() in above:
            raise BadRobot(f"{above[-1].name} includes '{file.name}', which includes it again")
        content = xml_of(file, BadRobot)
        _splice(content, folder, (*above, file.resolve()))
        element.remove(child)
        for offset, each in enumerate(list(content)):
            element.insert(position + offset, each)
        position += len(content)


def _compiler(root: ET.Element, path: Path) -> Compiler:
    said: dict[str, str] = {}
    for element in root.findall("compiler"):
        said |= element.attrib
    low, high = numbers(said, "inertiagrouprange", "compiler", (0.0, 5.0), count=2)
    return Compiler(
        degrees=said.get("angle", "degree") == "degree",
        eulerseq=said.get("eulerseq", "xyz"),
        autolimits=said.get("autolimits", "true") == "true",
        inertia_from_geoms=said.get("inertiafromgeom", "auto"),
        inertia_groups=(int(low), int(high)),
        meshdir=path.parent / said.get("meshdir", said.get("assetdir", "")),
        least_mass=number(said, "boundmass", "compiler", 0.0),
        least_inertia=number(said, "boundinertia", "compiler", 0.0),
        total_mass=number(said, "settotalmass", "compiler", -1.0),
        balance_inertia=said.get("balanceinertia", "false") == "true",
    )


def _collect(
    element: ET.Element, above: Mapping[str, dict[str, str]], into: dict[str, dict[str, dict[str, str]]], name: str
) -> None:
    """Take in a default class and, over it, those inside it."""
    own = {kind: dict(values) for kind, values in above.items()}
    for child in element:
        if child.tag != "default":
            kind = "actuator" if child.tag in ACTUATORS else child.tag
            own[kind] = {**own.get(kind, {}), **child.attrib}
    into[name] = own
    for child in element.findall("default"):
        if "class" not in child.attrib:
            raise BadRobot("a <default> inside another has no class; give it one")
        _collect(child, own, into, child.get("class", ""))
