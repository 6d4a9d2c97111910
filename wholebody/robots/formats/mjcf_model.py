"""MuJoCo's own compiled model of an MJCF file; what MuJoCo would refuse is said by name.

MuJoCo refuses bodies without mass, inertias that no body has, and meshes that are not there. Here the first two are
left to the checks of every robot, and a mesh that is only to be seen is left out with a warning.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wholebody.errors import BadRobot
from wholebody.files import xml_of
from wholebody.robots.checks import refuse_inertia
from wholebody.robots.formats.meshes import missing_mesh
from wholebody.robots.masses import Body, existing_inertia
from wholebody.robots.robot import Array
from wholebody.rotations import matrix_of_quaternion

LEAST = 1e-14
"""kg and kg·m² that a body without any is compiled with; less than ten times that is read as nothing."""


@dataclass(frozen=True)
class Compiled:
    """A file as MuJoCo understands it: what was written (spec), and what comes of it (model)."""

    path: Path
    spec: Any
    model: Any
    mujoco: Any
    paired: frozenset[str]
    """Names of geoms that <pair> names."""

    def name(self, kind: str, number: int) -> str:
        """The name of a body, joint, geom, …; empty if it has none."""
        found = self.mujoco.mj_id2name(self.model, getattr(self.mujoco.mjtObj, f"mjOBJ_{kind.upper()}"), number)
        return str(found or "")

    def mesh_file(self, name: str) -> Path | None:
        """The file of a mesh; none if its points stand in the MJCF itself."""
        mesh = self.spec.mesh(name)
        return _file(self.path, self.spec, mesh) if mesh.file else None

    def mass(self, body: int) -> Body:
        """Mass, centre and inertia of a body in its own frame."""
        model = self.model
        mass, moments = float(model.body_mass[body]), np.array(model.body_inertia[body])
        R = rotation(model.body_iquat[body])
        inertia = (R * np.where(moments < 10 * LEAST, 0.0, moments)) @ R.T
        return Body(0.0 if mass < 10 * LEAST else mass, np.array(model.body_ipos[body]), (inertia + inertia.T) / 2)


def compiled(path: Path, repair: bool) -> Compiled:
    """Have MuJoCo read a file; BadRobot says what it refuses, and where."""
    import mujoco  # when a file is read, so that whoever runs a finished robot loads none

    root = xml_of(path, BadRobot)
    if root.tag != "mujoco":
        raise BadRobot(f"{path} is no MJCF: its root element is <{root.tag}>, not <mujoco>")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*deprecated.*")
        try:
            spec = mujoco.MjSpec.from_file(str(path))
            spec.compiler.fusestatic = spec.compiler.discardvisual = False
            spec.compiler.boundmass = max(spec.compiler.boundmass, LEAST)
            spec.compiler.boundinertia = max(spec.compiler.boundinertia, LEAST)
            _leave_out_looks(spec)
            paired = _pairs(spec)
            _leave_out_missing_meshes(path, spec, paired)
            _check_inertias(mujoco, spec, repair)
            model = spec.compile()
        except ValueError as error:
            raise BadRobot(f"MuJoCo refuses {path}: {' '.join(str(error).split())}") from error
    return Compiled(path, spec, model, mujoco, paired)


def rotation(wxyz: Array) -> Array:
    """The rotation matrix of a quaternion as MuJoCo writes it, scalar first."""
    return matrix_of_quaternion(np.roll(wxyz, -1) / np.linalg.norm(wxyz))


def placed(position: Array, wxyz: Array) -> Array:
    """The 4 × 4 placement of a position and a quaternion, scalar first."""
    placement = np.eye(4)
    placement[:3, :3], placement[:3, 3] = rotation(wxyz), position
    return placement


def _file(path: Path, spec: Any, mesh: Any) -> Path:
    file = Path(mesh.file).name if spec.strippath else mesh.file
    folder = mesh.compiler.meshdir if mesh.compiler is not None else spec.compiler.meshdir
    return path.parent / (folder or "") / file


def _leave_out_looks(spec: Any) -> None:
    """Materials and their pictures say nothing of a robot, and may not be there."""
    for geom in spec.geoms:
        geom.material = ""
    for kind in (spec.skins, spec.materials, spec.textures):
        for each in list(kind):
            spec.delete(each)


def _pairs(spec: Any) -> frozenset[str]:
    """The geoms that <pair> names; pairs with those of a scene, which is another file, are taken out."""
    known = {geom.name for geom in spec.geoms}
    names: set[str] = set()
    for pair in list(spec.pairs):
        both = {pair.geomname1, pair.geomname2}
        names |= both
        if not both <= known:
            spec.delete(pair)
    return frozenset(names)


def _leave_out_missing_meshes(path: Path, spec: Any, paired: frozenset[str]) -> None:
    """Refuse to collide with, or to weigh by, a mesh that is not there; one to look at is left out with a warning."""
    lost = {m.name: _file(path, spec, m) for m in spec.meshes if m.file and not _file(path, spec, m).is_file()}
    for geom in list(spec.geoms):
        if geom.meshname in lost:
            collides = bool(geom.contype or geom.conaffinity) or geom.name in paired
            missing_mesh(f"body '{geom.parent.name}'", lost[geom.meshname], path, collides)
            spec.delete(geom)
    for mesh in list(spec.meshes):
        if mesh.name in lost:
            spec.delete(mesh)


def _check_inertias(mujoco: Any, spec: Any, repair: bool) -> None:
    """Say which inertia no body has, before MuJoCo does; with repair the nearest one that exists is taken."""
    always = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    if spec.compiler.balanceinertia or spec.compiler.inertiafromgeom == always:
        return
    for body in spec.bodies:
        full = np.array(body.fullinertia)
        diagonal = bool(np.isnan(full[0]))
        xx, yy, zz, xy, xz, yz = (*np.array(body.inertia), 0.0, 0.0, 0.0) if diagonal else full
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if not body.explicitinertial or not np.isfinite(inertia).all():
            continue
        if not repair:
            refuse_inertia(f"{spec.modelname}: link '{body.name}'", inertia)
        exists = existing_inertia(f"link '{body.name}'", inertia)
        if exists is not inertia and diagonal:
            body.inertia = np.diag(exists)
        elif exists is not inertia:
            body.fullinertia = [exists[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
