"""Geoms of MJCF: their shapes, and the mass that bodies without an <inertial> get from them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from wholebody.errors import BadRobot, RobotWarning
from wholebody.robots.formats.meshes import moments, triangles
from wholebody.robots.formats.mjcf_document import ACTUATORS, Document, turning_z_to
from wholebody.robots.formats.xml import Attributes, number, numbers
from wholebody.robots.masses import Body, of_shape, volume
from wholebody.robots.robot import Array, Joint, Mimic, Placement, Robot, Sensor, Shape

WATER = 1000.0
"""The density of a geom that says nothing, kg/m³."""


def read_geom(document: Document, attributes: Attributes, where: str) -> tuple[Shape | None, Body | None]:
    """A geom as a shape and, unless it weighs nothing, as a body in its body's frame."""
    kind = attributes.get("type", "sphere")
    if "mesh" in attributes and kind not in ("mesh", "sdf"):
        raise BadRobot(f'{where}: a {kind} fitted to a mesh is not supported; say type="mesh", or give its size')
    if kind in ("plane", "hfield", "sdf"):
        return None, None
    at = document.placement(attributes, where)
    collides = attributes.get("contype", "1") != "0" or attributes.get("conaffinity", "1") != "0"
    if kind == "mesh":
        return _mesh(document, attributes, where, at, collides), _mass_of_mesh(document, attributes, where, at)
    size, at = _size(attributes, kind, at, where)
    solid = _solid(kind, size, at, collides, where)
    shape = solid
    if kind == "ellipsoid":
        shape = _capsule_like(size, at, collides)
        warnings.warn(f"{where}: an ellipsoid collides as a capsule of its length", RobotWarning, stacklevel=2)
    return shape, _mass(document, attributes, kind, size, at, solid, where)


def _size(attributes: Attributes, kind: str, at: Array, where: str) -> tuple[tuple[float, ...], Array]:
    """MuJoCo's size, with the length and the placement that fromto gives."""
    size = numbers(attributes, "size", where, (), count=None)
    if "fromto" not in attributes:
        return size, at
    ends = np.array(numbers(attributes, "fromto", where, count=6)).reshape(2, 3)
    # MuJoCo lets the axis point from the second end to the first.
    along = ends[0] - ends[1]
    length = float(np.linalg.norm(along))
    if length < 1e-9 or kind not in ("capsule", "cylinder", "box", "ellipsoid"):
        raise BadRobot(f"{where}: fromto gives a {kind} no length")
    placed = np.eye(4)
    placed[:3, 3] = ends.mean(axis=0)
    placed[:3, :3] = turning_z_to(along)
    half = (size[0], length / 2) if kind in ("capsule", "cylinder") else (size[0], size[0], length / 2)
    return half, placed


def _solid(kind: str, size: tuple[float, ...], at: Array, collides: bool, where: str) -> Shape:
    needed = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}
    if kind not in needed:
        raise BadRobot(f"{where} is a geom of unknown type '{kind}'; known: {', '.join(needed)}, mesh, plane")
    if len(size) < needed[kind] or not all(value > 0 for value in size[: needed[kind]]):
        raise BadRobot(f"{where}: a {kind} needs {needed[kind]} positive sizes, not {size}")
    placement = Placement.of(at)
    match kind:
        case "sphere":
            return Shape("sphere", size[:1], placement, collides)
        case "capsule" | "cylinder":
            return Shape(kind, (size[0], 2 * size[1]), placement, collides)
    return Shape("box", (2 * size[0], 2 * size[1], 2 * size[2]), placement, collides)


def _capsule_like(size: tuple[float, ...], at: Array, collides: bool) -> Shape:
    longest = int(np.argmax(size[:3]))
    radius = float(np.mean([value for index, value in enumerate(size[:3]) if index != longest]))
    turned = np.eye(4)
    turned[:3, :3] = turning_z_to(np.eye(3)[longest])
    length = max(2 * (size[longest] - radius), 1e-6)
    return Shape("capsule", (radius, length), Placement.of(at @ turned), collides)


def _mass(
    document: Document, attributes: Attributes, kind: str, size: tuple[float, ...], at: Array, solid: Shape, where: str
) -> Body | None:
    if attributes.get("shellinertia", "false") == "true":
        raise BadRobot(f"{where}: shellinertia is not supported; give the body an <inertial>")
    ellipsoid = kind == "ellipsoid"
    space = 4 / 3 * math.pi * size[0] * size[1] * size[2] if ellipsoid else volume(solid)
    mass = number(attributes, "mass", where, space * number(attributes, "density", where, WATER))
    if mass <= 0:
        return None
    if not ellipsoid:
        return of_shape(solid, mass)
    a, b, c = (value * value for value in size[:3])
    return Body(mass, np.zeros(3), mass / 5 * np.diag([b + c, a + c, a + b])).seen_from(at)


def _mesh(document: Document, attributes: Attributes, where: str, at: Array, collides: bool) -> Shape | None:
    mesh = document.mesh(attributes.get("mesh", ""), where)
    if not mesh.file.is_file():
        if collides:
            raise BadRobot(
                f"{where} collides with mesh '{mesh.file}', which is not there; put it there, or set meshdir"
            )
        text = f"{where} looks like mesh '{mesh.file}', which is not there; it will not be seen"
        warnings.warn(text, RobotWarning, stacklevel=2)
        return None
    return Shape("mesh", mesh.scale, Placement.of(at @ mesh.shift), collides, mesh.file)


def _mass_of_mesh(document: Document, attributes: Attributes, where: str, at: Array) -> Body | None:
    """A mesh filled evenly, as MuJoCo fills it."""
    if number(attributes, "mass", where, number(attributes, "density", where, WATER)) == 0:
        return None
    mesh = document.mesh(attributes.get("mesh", ""), where)
    if mesh.inertia not in ("legacy", "exact") or not mesh.file.is_file():
        why = f"is of kind '{mesh.inertia}'" if mesh.file.is_file() else f"is not there: {mesh.file}"
        raise BadRobot(f"{where} gets its mass from a mesh that {why}; give its body an <inertial>")
    space, centre, inertia = moments(triangles(mesh.file) * mesh.scale, exact=mesh.inertia == "exact")
    mass = number(attributes, "mass", where, space * number(attributes, "density", where, WATER))
    return Body(mass, centre, mass / space * inertia).seen_from(at @ mesh.shift)


def counts(document: Document, attributes: Attributes) -> bool:
    """Whether a geom's mass counts: its group must be one of the compiler's."""
    low, high = document.compiler.inertia_groups
    return low <= int(float(attributes.get("group", "0"))) <= high


Sites = Mapping[str, tuple[str, Array]]
FROM_CAMERA = np.array([[0.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
"""Our axes of a camera (it looks along x, z up) in MuJoCo's (along −z, y up)."""
INERTIAL = ("gyro", "accelerometer")
FORCES = ("force", "torque")


def refuse_loops(document: Document) -> None:
    """Bodies welded or pinned together make a closed loop."""
    for element in document.all("equality"):
        if element.tag in ("connect", "weld") and element.get("body2", "world") != "world":
            pair = f"'{element.get('body1')}' and '{element.get('body2')}'"
            raise BadRobot(f"<{element.tag}> of {pair} closes a loop, which is not supported: cut it")


def actuators(document: Document, joints: list[Joint]) -> list[Joint]:
    """Joints with the effort limits of their actuators; where a file has actuators, the others have no motor."""
    listed = [element for element in document.all("actuator") if element.tag in ACTUATORS]
    known = {joint.name for joint in joints}
    efforts: dict[str, float] = {}
    for element in listed:
        attributes = document.attributes(element, "main")
        joint = attributes.get("joint", attributes.get("jointinparent", ""))
        if not joint:
            what = next((key for key in ("tendon", "site", "body", "cranksite") if key in attributes), "nothing")
            text = f"actuator '{element.get('name', '')}' drives a {what}, not a joint; it is left out"
            warnings.warn(text, RobotWarning, stacklevel=3)
        elif joint not in known:
            raise BadRobot(f"actuator '{element.get('name', '')}' drives joint '{joint}', but there is no such joint")
        else:
            efforts[joint] = efforts.get(joint, 0.0) + _effort(element.tag, attributes)
    if not listed:
        return joints
    return [replace(j, actuated=j.name in efforts, effort=efforts.get(j.name) or math.inf) for j in joints]


def _effort(tag: str, attributes: Attributes) -> float:
    """The largest effort at the joint: force range, or a motor's control range, times the gear."""
    where = f"actuator '{attributes.get('name', '')}'"
    gear = abs(numbers(attributes, "gear", where, (1.0,), count=None)[0])
    limit = math.inf
    if "forcerange" in attributes and attributes.get("forcelimited", "auto") != "false":
        limit = max(map(abs, numbers(attributes, "forcerange", where, count=2)))
    if tag == "motor" and "ctrlrange" in attributes and attributes.get("ctrllimited", "auto") != "false":
        limit = min(limit, max(map(abs, numbers(attributes, "ctrlrange", where, count=2))))
    return limit * gear if gear else limit


def followers(document: Document, joints: list[Joint]) -> list[Joint]:
    """Joints that an equality makes follow another."""
    known = {joint.name for joint in joints}
    following: dict[str, Mimic] = {}
    for element in document.all("equality"):
        if element.tag != "joint" or "joint2" not in element.attrib:
            continue
        attributes = document.attributes(element, "main")
        one, other = attributes.get("joint1", ""), attributes["joint2"]
        for name in (one, other):
            if name not in known:
                raise BadRobot(f"an equality names joint '{name}', but there is no such joint")
        offset, ratio, *more = numbers(attributes, "polycoef", f"joint '{one}'", (0.0, 1.0), count=None)
        if any(more):
            raise BadRobot(f"joint '{one}' follows '{other}' by a polynomial; only a ratio and an offset are supported")
        following[one] = Mimic(other, ratio, offset)
    return [replace(joint, mimic=following.get(joint.name)) for joint in joints]


def sensors(document: Document, sites: Sites, cameras: Sites) -> tuple[Sensor, ...]:
    """IMUs and force-torque sensors at the sites where the file has such sensors, and its cameras."""
    kinds: dict[str, str] = {}
    for element in document.all("sensor"):
        site = element.get("site", "")
        if element.tag in INERTIAL + FORCES and site in sites:
            kinds[site] = "imu" if element.tag in INERTIAL else kinds.get(site, "force_torque")
    found = [Sensor(site, kind, sites[site][0], Placement.of(sites[site][1])) for site, kind in kinds.items()]
    for name, (link, at) in cameras.items():
        found.append(Sensor(name, "camera", link, Placement.of(at @ FROM_CAMERA)))
    return tuple(found)


def exclusions(document: Document, links: set[str]) -> frozenset[frozenset[str]]:
    """Pairs of bodies whose contact the file excludes."""
    excluded = [each for each in document.all("contact") if each.tag == "exclude"]
    pairs = [(each.get("body1", ""), each.get("body2", "")) for each in excluded]
    return frozenset(frozenset(pair) for pair in pairs if links.issuperset(pair))


def postures(document: Document, robot: Robot, free: bool) -> dict[str, dict[str, float]]:
    """Key frames as postures; one outside the limits is left out with a warning."""
    found: dict[str, dict[str, float]] = {}
    movable = [joint for joint in robot.joints if joint.kind != "fixed"]
    for element in document.all("keyframe"):
        name = element.get("name", "")
        if not name or "qpos" not in element.attrib:
            continue
        values = numbers(element.attrib, "qpos", f"key '{name}'", count=None)[7 if free else 0 :]
        if len(values) != len(movable):
            text = f"key '{name}' is of another robot: {len(values)} joints, not {len(movable)}"
            warnings.warn(text, RobotWarning, stacklevel=3)
            continue
        posture = {joint.name: value for joint, value in zip(movable, values, strict=True) if joint.name in robot.index}
        outside = [j.name for j in robot.moving if not j.lower - 1e-9 <= posture[j.name] <= j.upper + 1e-9]
        if outside:
            text = f"key '{name}' puts {', '.join(outside)} outside the limits; left out"
            warnings.warn(text, RobotWarning, stacklevel=3)
        else:
            found[name] = posture
    return found
