"""Mesh files: which of them MuJoCo can read, and the bounding box of those it cannot."""

from __future__ import annotations

import struct
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import numpy as np

from wholebody.errors import BadRobot, RobotWarning
from wholebody.files import MOST_BYTES, bytes_of, xml_of
from wholebody.robots.robot import Array
from wholebody.rotations import matrix_about

MOST_FACES = 200_000
"""MuJoCo reads no STL file with more."""


def unreadable(path: Path) -> str | None:
    """Say why MuJoCo cannot read a mesh, or None if it can."""
    suffix = path.suffix.lower()
    if suffix in (".obj", ".msh"):
        return None
    if suffix != ".stl":
        return f"MuJoCo does not read {suffix or 'files without a suffix'}"
    faces = _faces_of_stl(path)
    if faces is None:
        return "MuJoCo reads no STL in text form"
    if not 1 <= faces <= MOST_FACES:
        return f"it has {faces} faces, MuJoCo reads 1 to {MOST_FACES}"
    return None


def bounds(path: Path) -> tuple[Array, Array]:
    """The lowest and highest corner of a mesh, in its own frame; BadRobot if it is of no kind that we can read."""
    found = points(path)
    return found.min(axis=0), found.max(axis=0)


def points(path: Path) -> Array:
    """The points of a mesh, n × 3, in its own frame; BadRobot if it is of no kind that we can read."""
    readers = {".stl": _stl_points, ".dae": _dae_points, ".obj": _obj_points}
    reader = readers.get(path.suffix.lower())
    try:
        found = np.zeros((0, 3)) if reader is None else reader(path)
    except (ValueError, LookupError, ArithmeticError) as error:
        raise BadRobot(f"mesh {path} cannot be read: {error}; convert it to a binary STL") from error
    if not len(found) or not np.isfinite(found).all():
        raise BadRobot(f"mesh {path} has no points that can be read; convert it to a binary STL")
    return found


def missing_mesh(where: str, mesh: Path | str, file: Path, collides: bool) -> None:
    """Refuse to collide with a mesh that is not there, and warn of one that is only to be seen."""
    if collides:
        raise BadRobot(f"{where} collides with mesh '{mesh}', which is not there; put it beside {file.name}")
    text = f"{file.name} looks like meshes of {Path(mesh).parent} that are not there; they will not be seen"
    warnings.warn(text, RobotWarning, stacklevel=4)


def _faces_of_stl(path: Path) -> int | None:
    """Number of faces of a binary STL, None of one in text form."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(84)
    except OSError as error:
        raise BadRobot(f"mesh {path} cannot be read: {error.strerror}") from error
    (faces,) = struct.unpack_from("<I", head, 80) if len(head) == 84 else (None,)
    if faces is None or size != 84 + 50 * faces:
        return None
    if size > MOST_BYTES:
        raise BadRobot(f"mesh {path} has more than {MOST_BYTES >> 20} MB; give one with fewer faces")
    return int(faces)


def _stl_points(path: Path) -> Array:
    faces = _faces_of_stl(path)
    if faces is not None:
        record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
        return np.fromfile(path, record, faces, offset=84)["corners"].reshape(-1, 3).astype(float)
    words = bytes_of(path, BadRobot).decode(errors="replace").split("vertex")[1:]
    return np.array([[float(value) for value in word.split()[:3]] for word in words]).reshape(-1, 3)


def _obj_points(path: Path) -> Array:
    lines = (line.split() for line in bytes_of(path, BadRobot).decode(errors="replace").splitlines())
    return np.array([[float(value) for value in line[1:4]] for line in lines if line[:1] == ["v"]]).reshape(-1, 3)


def _dae_points(path: Path) -> Array:
    """Points of a COLLADA file as its scene places them, in metres, z up."""
    root = xml_of(path, BadRobot)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    sources = {source.get("id", ""): source for source in root.iter("source")}
    points = {}
    for geometry in root.iter("geometry"):
        inputs = [each for each in geometry.iter("input") if each.get("semantic") == "POSITION"]
        arrays = [sources[each.get("source", "")[1:]].find("float_array") for each in inputs]
        values = [np.array((array.text or "").split(), float).reshape(-1, 3) for array in arrays if array is not None]
        points[geometry.get("id", "")] = np.concatenate(values) if values else np.zeros((0, 3))
    placed: list[Array] = []
    for scene in root.iter("visual_scene"):
        for node in scene.findall("node"):
            _place(node, np.eye(4), points, placed)
    unit = root.find("asset/unit")
    up = root.findtext("asset/up_axis", "Z_UP")
    every = np.concatenate(placed or list(points.values()) or [np.zeros((0, 3))])
    if up.strip() == "Y_UP":
        every = every[:, [0, 2, 1]] * (1, -1, 1)
    return every * (1.0 if unit is None else float(unit.get("meter", "1")))


def _place(node: ET.Element, above: Array, points: dict[str, Array], placed: list[Array]) -> None:
    here = above
    for element in node:
        numbers = np.array((element.text or "").split(), float) if element.tag in _MOVES else None
        if numbers is not None:
            here = here @ _MOVES[element.tag](numbers)
    for instance in node.findall("instance_geometry"):
        found = points.get(instance.get("url", "")[1:], np.zeros((0, 3)))
        placed.append(found @ here[:3, :3].T + here[:3, 3])
    for child in node.findall("node"):
        _place(child, here, points, placed)


def _moved(rotation: Array, translation: Array) -> Array:
    return np.block([[rotation, translation[:, None]], [np.zeros(3), 1.0]])


_MOVES: dict[str, Callable[[Array], Array]] = {
    "matrix": lambda values: values.reshape(4, 4),
    "translate": lambda values: _moved(np.eye(3), values),
    "rotate": lambda values: _moved(matrix_about(values[:3], np.radians(values[3])), np.zeros(3)),
    "scale": lambda values: np.diag([*values, 1.0]),
}
