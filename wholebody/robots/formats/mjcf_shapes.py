"""Geoms of MJCF as shapes: primitives, ellipsoids as capsules, and meshes where their files have them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from wholebody.errors import BadRobot, RobotWarning
from wholebody.robots.formats.mjcf_model import Compiled, placed, rotation
from wholebody.robots.robot import Array, Placement, Shape


def shapes(file: Compiled, body: int, name: str) -> Iterator[Shape]:
    """The geoms of a body; those that <pair> names collide, whatever their masks say."""
    model = file.model
    solid = (model.geom_contype | model.geom_conaffinity).astype(bool)
    for geom in range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body]):
        collides = bool(solid[geom]) or file.name("geom", geom) in file.paired
        shape = _shape(file, geom, collides, f"body '{name}', geom '{file.name('geom', geom)}'")
        if shape is not None:
            yield shape


def _shape(file: Compiled, geom: int, collides: bool, where: str) -> Shape | None:
    model, kinds = file.model, file.mujoco.mjtGeom
    at = placed(model.geom_pos[geom], model.geom_quat[geom])
    x, y, z = (float(value) for value in model.geom_size[geom])
    kind = int(model.geom_type[geom])
    if kind == kinds.mjGEOM_SPHERE:
        return Shape("sphere", (x,), Placement.of(at), collides)
    if kind in (kinds.mjGEOM_CAPSULE, kinds.mjGEOM_CYLINDER):
        round_ = "capsule" if kind == kinds.mjGEOM_CAPSULE else "cylinder"
        return Shape(round_, (x, 2 * y), Placement.of(at), collides)
    if kind == kinds.mjGEOM_BOX:
        return Shape("box", (2 * x, 2 * y, 2 * z), Placement.of(at), collides)
    if kind == kinds.mjGEOM_ELLIPSOID:
        warnings.warn(f"{where}: an ellipsoid collides as a capsule of its length", RobotWarning, stacklevel=6)
        return _capsule_like((x, y, z), at, collides)
    if kind == kinds.mjGEOM_MESH:
        return _mesh(file, geom, at, collides, where)
    return None  # planes, height fields and signed distances are of scenes


def _capsule_like(size: tuple[float, float, float], at: Array, collides: bool) -> Shape:
    longest = int(np.argmax(size))
    radius = float(np.mean([value for index, value in enumerate(size) if index != longest]))
    turned = np.eye(4)
    turned[:3, :3] = np.roll(np.eye(3), longest + 1, axis=1)  # its z is the longest axis
    length = max(2 * (size[longest] - radius), 1e-6)
    return Shape("capsule", (radius, length), Placement.of(at @ turned), collides)


def _mesh(file: Compiled, geom: int, at: Array, collides: bool, where: str) -> Shape:
    """The file's mesh where it was: MuJoCo keeps meshes in the frame of their inertia, scaled, after turn and shift."""
    model, number = file.model, int(file.model.geom_dataid[geom])
    name = file.name("mesh", number)
    mesh, mesh_file = file.spec.mesh(name), file.mesh_file(name)
    if mesh_file is None:
        first, count = int(model.mesh_vertadr[number]), int(model.mesh_vertnum[number])
        points = model.mesh_vert[first : first + count]
        low, high = points.min(axis=0), points.max(axis=0)
        middle = placed((low + high) / 2, np.array([1.0, 0.0, 0.0, 0.0]))
        x, y, z = (float(value) for value in np.maximum(high - low, 1e-4))
        text = f"{where}: mesh '{name}' has no file; its bounding box is taken"
        warnings.warn(text, RobotWarning, stacklevel=7)
        return Shape("box", (x, y, z), Placement.of(at @ middle), collides)
    scale = tuple(float(value) for value in mesh.scale)
    turned = rotation(np.array(mesh.refquat)).T
    if len(set(scale)) > 1 and not np.allclose(turned, np.eye(3)):
        raise BadRobot(f"mesh '{name}' is turned by refquat and then scaled unevenly; turn it in the file")
    shift = np.eye(4)
    shift[:3, :3], shift[:3, 3] = turned, -np.array(scale) * (turned @ np.array(mesh.refpos))
    written = at @ np.linalg.inv(placed(model.mesh_pos[number], model.mesh_quat[number]))
    return Shape("mesh", scale, Placement.of(written @ shift), collides, mesh_file)
