"""URDF: read any robot from one, write a robot of ours as one."""

from __future__ import annotations

import math
import os
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from wholebody.errors import BadRobot, RobotWarning
from wholebody.files import xml_of
from wholebody.robots.formats.meshes import missing_mesh
from wholebody.robots.formats.xml import number, numbers, text_of
from wholebody.robots.masses import Body, repaired
from wholebody.robots.robot import Joint, Link, Mimic, Placement, Robot, Shape, Vector, resolved_mimics

DRAKE = "http://drake.mit.edu"
WORLD, BASE = "world", "world_base"
"""What URDF calls the link that a robot is bolted to, and what we do: MuJoCo keeps the first name to itself."""

# --- reading ---------------------------------------------------------------------------------------


def read_urdf(path: Path, floating: bool | None = None, repair: bool = False) -> Robot:
    """Read a robot from a URDF file; BadRobot names the link, joint or value that is wrong."""
    root = xml_of(path, BadRobot)
    if root.tag != "robot":
        raise BadRobot(f"{path} is no URDF: its root element is <{root.tag}>, not <robot>")
    links = tuple(_link(element, path) for element in root.findall("link"))
    rotors = _rotors(root)
    joints = resolved_mimics([_driven(_joint(element), rotors) for element in root.findall("joint")])
    if not links:
        raise BadRobot(f"{path} describes no links")
    links, joints, bolted = _bolted(links, joints)
    if repair:
        links = repaired(links, joints)
    floats = not bolted if floating is None else floating
    return Robot(
        root.get("name") or path.stem,
        links,
        tuple(joints),
        floating=floats,
        may_touch=_untouchable(root, {link.name for link in links}),
        source=path.name,
        from_file=True,
    )


def _bolted(links: tuple[Link, ...], joints: list[Joint]) -> tuple[tuple[Link, ...], list[Joint], bool]:
    """Whether a robot hangs from a link "world", which is no part of it; that link gets a name that MuJoCo permits."""
    if not any(link.name == WORLD for link in links):
        return links, joints, False
    named = tuple(replace(link, name=BASE) if link.name == WORLD else link for link in links)
    hung = [replace(joint, parent=BASE) if joint.parent == WORLD else joint for joint in joints]
    return named, hung, True


def _untouchable(root: ET.Element, links: set[str]) -> frozenset[frozenset[str]]:
    """Pairs of links by <disable_collisions link1 link2>, the word of SRDF."""
    pairs = [(each.get("link1", ""), each.get("link2", "")) for each in root.findall("disable_collisions")]
    return frozenset(frozenset(pair) for pair in pairs if links.issuperset(pair))


def _rotors(root: ET.Element) -> dict[str, float]:
    """Joints with a <transmission>, and the inertia of rotor and gear where Drake's words for it are used."""
    found: dict[str, float] = {}
    for transmission in root.findall("transmission"):
        figures = {"rotor_inertia": 0.0, "gear_ratio": 1.0}
        for element in (each for actuator in transmission.findall("actuator") for each in actuator):
            word = element.tag.removeprefix(f"{{{DRAKE}}}")
            if word in figures:
                where = f"transmission '{transmission.get('name', '')}'"
                figures[word] = number(element.attrib, "value", where)
        inertia = figures["rotor_inertia"] * figures["gear_ratio"] ** 2
        for joint in transmission.findall("joint"):
            name = joint.get("name", "")
            found[name] = found.get(name, 0.0) + inertia
    return found


def _driven(joint: Joint, rotors: Mapping[str, float]) -> Joint:
    """The joint with its motor; where a file has transmissions, joints without one have none."""
    if not rotors:
        return joint
    return replace(joint, actuated=joint.name in rotors, rotor_inertia=rotors.get(joint.name, 0.0))


def _vector(element: ET.Element | None, attribute: str, where: str, default: Vector = (0.0, 0.0, 0.0)) -> Vector:
    x, y, z = default if element is None else numbers(element.attrib, attribute, where, default)
    return x, y, z


def _placement(element: ET.Element | None, where: str) -> Placement:
    return Placement(_vector(element, "xyz", where), _vector(element, "rpy", where))


def _link(element: ET.Element, path: Path) -> Link:
    name = element.get("name", "")
    where = f"link '{name}'"
    shapes = [_shape(each, where, path, collides=True) for each in element.findall("collision")]
    shapes += [_shape(each, where, path, collides=False) for each in element.findall("visual")]
    solid = {replace(shape, collides=False) for shape in shapes if shape is not None and shape.collides}
    found = tuple(shape for shape in shapes if shape is not None and shape not in solid)
    inertial = element.find("inertial")
    if inertial is None:
        return Link(name, shapes=found)
    mass, inertia = inertial.find("mass"), inertial.find("inertia")
    if mass is None or inertia is None:
        raise BadRobot(f"{where} has an <inertial> without <mass> or <inertia>")
    at = _placement(inertial.find("origin"), where)
    xx, yy, zz, xy, xz, yz = (
        number(inertia.attrib, f"i{key}", where, 0.0) for key in ("xx", "yy", "zz", "xy", "xz", "yz")
    )
    turned = at.rotation @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ at.rotation.T
    return Body(number(mass.attrib, "value", where), np.array(at.xyz), turned).on(Link(name, shapes=found))


def _shape(element: ET.Element, where: str, path: Path, collides: bool) -> Shape | None:
    at = _placement(element.find("origin"), where)
    geometry = element.find("geometry")
    kinds = [] if geometry is None else list(geometry)
    if len(kinds) != 1:
        raise BadRobot(f"{where} has a <{element.tag}> without a shape in <geometry>")
    kind = kinds[0]
    match kind.tag:
        case "box":
            return Shape("box", numbers(kind.attrib, "size", where), at, collides)
        case "sphere":
            return Shape("sphere", (number(kind.attrib, "radius", where),), at, collides)
        case "cylinder" | "capsule":
            return Shape(
                kind.tag, (number(kind.attrib, "radius", where), number(kind.attrib, "length", where)), at, collides
            )
        case "mesh":
            return _mesh(kind, where, path, at, collides)
    raise BadRobot(f"{where} has a shape of unknown kind <{kind.tag}>")


def _mesh(element: ET.Element, where: str, path: Path, at: Placement, collides: bool) -> Shape | None:
    uri = element.get("filename", "")
    found = _resolve(uri, path)
    if found is None:
        missing_mesh(where, uri, path, collides)
        return None
    return Shape("mesh", numbers(element.attrib, "scale", where, (1.0, 1.0, 1.0)), at, collides, found)


def _resolve(uri: str, path: Path) -> Path | None:
    """Find a mesh: beside the URDF, or, for package://NAME/REST, in a folder above it or in ROS_PACKAGE_PATH."""
    rest = uri.removeprefix("file://")
    if not uri.startswith("package://"):
        found = Path(rest) if Path(rest).is_absolute() else path.parent / rest
        return found if found.is_file() else None
    rest = uri.removeprefix("package://")
    inner = rest.partition("/")[2]
    elsewhere = [Path(each) for each in os.environ.get("ROS_PACKAGE_PATH", "").split(":") if each]
    for folder in (*path.resolve().parents, *elsewhere):
        for candidate in (folder / rest, folder / inner):
            if candidate.is_file():
                return candidate
    return None


def _joint(element: ET.Element) -> Joint:
    name = element.get("name", "")
    where = f"joint '{name}'"
    kind = element.get("type", "")
    parent, child = element.find("parent"), element.find("child")
    if parent is None or child is None:
        raise BadRobot(f"{where} lacks its <parent> or <child>")
    ends = parent.get("link", ""), child.get("link", "")
    at = _placement(element.find("origin"), where)
    if kind == "fixed":
        return Joint(name, kind, *ends, at)
    limit, dynamics, mimic = element.find("limit"), element.find("dynamics"), element.find("mimic")
    lower, upper = -math.inf, math.inf
    if kind in ("revolute", "prismatic"):
        if limit is None or (limit.get("lower") is None and limit.get("upper") is None):
            raise BadRobot(f"{where} is {kind} but has no limits; give it some, or make it continuous")
        lower, upper = number(limit.attrib, "lower", where, 0.0), number(limit.attrib, "upper", where, 0.0)
        lower, upper = _within_safety(element.find("safety_controller"), lower, upper, where)
        if lower == upper:
            warnings.warn(f"{where} may not move, its limits are {lower:g} to {upper:g}; it is fixed", RobotWarning, 4)
            fixed = Joint(name, kind, *ends, at, _vector(element.find("axis"), "xyz", where, (1.0, 0.0, 0.0)))
            return Joint(name, "fixed", *ends, Placement.of(at.matrix @ fixed.motion(lower)))
    return Joint(
        name,
        kind,
        *ends,
        at,
        _vector(element.find("axis"), "xyz", where, (1.0, 0.0, 0.0)),
        lower,
        upper,
        velocity=_limit(limit, "velocity", where),
        effort=_limit(limit, "effort", where),
        damping=0.0 if dynamics is None else number(dynamics.attrib, "damping", where, 0.0),
        friction=0.0 if dynamics is None else number(dynamics.attrib, "friction", where, 0.0),
        mimic=None if mimic is None else _mimic(mimic, where),
    )


def _within_safety(element: ET.Element | None, lower: float, upper: float, where: str) -> tuple[float, float]:
    """Limits narrowed to those that the file's own safety controller keeps, where they leave room to move."""
    if element is None:
        return lower, upper
    low = max(lower, number(element.attrib, "soft_lower_limit", where, lower))
    high = min(upper, number(element.attrib, "soft_upper_limit", where, upper))
    return (low, high) if low < high else (lower, upper)


def _limit(element: ET.Element | None, attribute: str, where: str) -> float:
    """A limit that is missing or not positive, as in many files, is none."""
    if element is None or element.get(attribute) is None:
        return math.inf
    value = number(element.attrib, attribute, where)
    return value if value > 0 else math.inf


def _mimic(element: ET.Element, where: str) -> Mimic:
    ratio, offset = number(element.attrib, "multiplier", where, 1.0), number(element.attrib, "offset", where, 0.0)
    return Mimic(element.get("joint", ""), ratio, offset)


# --- writing ---------------------------------------------------------------------------------------


def write_urdf(robot: Robot) -> str:
    """Write a robot as URDF, for any tool that reads it, motors as Drake knows them; sensors have no place in it."""
    root = ET.Element("robot", {"name": robot.name, "xmlns:drake": DRAKE})
    for link in robot.links:
        _write_link(root, link)
    for joint in robot.joints:
        _write_joint(root, joint)
    for joint in robot.joints:
        if joint.kind != "fixed" and joint.mimic is None and joint.actuated:
            _write_motor(root, joint)
    for one, other in sorted(tuple(sorted(pair)) for pair in robot.may_touch):
        ET.SubElement(root, "disable_collisions", link1=one, link2=other)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def _origin(parent: ET.Element, at: Placement) -> None:
    ET.SubElement(parent, "origin", xyz=text_of(at.xyz), rpy=text_of(at.rpy))


def _write_link(root: ET.Element, link: Link) -> None:
    element = ET.SubElement(root, "link", name=link.name)
    if link.mass > 0:
        inertial = ET.SubElement(element, "inertial")
        _origin(inertial, Placement(link.com))
        ET.SubElement(inertial, "mass", value=repr(float(link.mass)))
        keys = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
        ET.SubElement(inertial, "inertia", {k: repr(float(v)) for k, v in zip(keys, link.inertia, strict=True)})
    for shape in link.shapes:
        for tag in ("collision", "visual") if shape.collides else ("visual",):
            for kind, attributes, at in _primitives(shape):
                part = ET.SubElement(element, tag)
                _origin(part, at)
                ET.SubElement(ET.SubElement(part, "geometry"), kind, attributes)


def _primitives(shape: Shape) -> list[tuple[str, dict[str, str], Placement]]:
    """A shape in URDF's words: a capsule, which URDF lacks, is a cylinder and two spheres."""
    match shape.kind:
        case "box":
            return [("box", {"size": text_of(shape.size)}, shape.at)]
        case "sphere":
            return [("sphere", {"radius": text_of(shape.size)}, shape.at)]
        case "mesh":
            return [("mesh", {"filename": str(shape.mesh), "scale": text_of(shape.size)}, shape.at)]
    radius, length = shape.size
    parts = [("cylinder", {"radius": repr(float(radius)), "length": repr(float(length))}, shape.at)]
    if shape.kind == "capsule":
        for end in (-length / 2, length / 2):
            shift = Placement((0.0, 0.0, end)).matrix
            parts.append(("sphere", {"radius": repr(float(radius))}, Placement.of(shape.at.matrix @ shift)))
    return parts


def _write_joint(root: ET.Element, joint: Joint) -> None:
    element = ET.SubElement(root, "joint", name=joint.name, type=joint.kind)
    _origin(element, joint.at)
    ET.SubElement(element, "parent", link=joint.parent)
    ET.SubElement(element, "child", link=joint.child)
    if joint.kind == "fixed":
        return
    ET.SubElement(element, "axis", xyz=text_of(joint.axis))
    limits = {"velocity": _finite(joint.velocity), "effort": _finite(joint.effort)}
    if joint.kind != "continuous":
        limits |= {"lower": _finite(joint.lower), "upper": _finite(joint.upper)}
    ET.SubElement(element, "limit", limits)
    ET.SubElement(element, "dynamics", damping=repr(float(joint.damping)), friction=repr(float(joint.friction)))
    if joint.mimic is not None:
        ratio, offset = repr(float(joint.mimic.ratio)), repr(float(joint.mimic.offset))
        ET.SubElement(element, "mimic", joint=joint.mimic.of, multiplier=ratio, offset=offset)


def _write_motor(root: ET.Element, joint: Joint) -> None:
    transmission = ET.SubElement(root, "transmission", name=joint.name)
    ET.SubElement(transmission, "type").text = "transmission_interface/SimpleTransmission"
    ET.SubElement(transmission, "joint", name=joint.name)
    actuator = ET.SubElement(transmission, "actuator", name=joint.name)
    ET.SubElement(actuator, "drake:rotor_inertia", value=repr(float(joint.rotor_inertia)))
    ET.SubElement(actuator, "drake:gear_ratio", value="1.0")


def _finite(limit: float) -> str:
    """URDF has no word for "no limit"."""
    return repr(float(np.clip(limit, -1e9, 1e9)))
