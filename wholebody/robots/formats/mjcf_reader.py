"""MJCF: read any robot from one into a Robot, with MuJoCo's meaning of defaults, frames, joints and masses."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from wholebody.errors import BadRobot
from wholebody.robots.formats.mjcf_document import Compiler, Document
from wholebody.robots.formats.mjcf_parts import (
    actuators,
    counts,
    exclusions,
    followers,
    postures,
    read_geom,
    refuse_loops,
    sensors,
)
from wholebody.robots.formats.xml import Attributes, number, numbers
from wholebody.robots.masses import Body, repaired
from wholebody.robots.robot import Array, Joint, Link, Placement, Robot, Shape

MOTES = (1e-12, 1e-13)
"""Mass (kg) and moment (kg·m²) of links between several joints of one body: too little to matter, enough to exist."""
Placed = tuple[ET.Element, Array, str]
"""An element, the placement that frames around it give, and its default class."""
NOT_READ = ("composite", "flexcomp", "replicate", "attach")


@dataclass
class Parts:
    """What has been read so far."""

    document: Document
    links: list[Link] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    sites: dict[str, tuple[str, Array]] = field(default_factory=dict)
    cameras: dict[str, tuple[str, Array]] = field(default_factory=dict)
    floating: bool = False


def read_mjcf(path: Path, floating: bool | None = None, repair: bool = False) -> Robot:
    """Read a robot from an MJCF file; BadRobot names the body, joint or value that is wrong."""
    document = Document.read(path)
    refuse_loops(document)
    parts = Parts(document)
    bodies = [body for body in _top_bodies(document) if body[0].findall(".//joint") or body[0].findall(".//freejoint")]
    if len(bodies) != 1:
        names = ", ".join(body.get("name", "without a name") for body, _, _ in bodies)
        what = f"{len(bodies)} bodies that move, {names}; leave one" if bodies else "no body that moves"
        raise BadRobot(f"{path} has {what}: a robot is one tree of bodies with joints")
    body, above, childclass = bodies[0]
    _read_root(parts, body, above, childclass)
    links = _scaled(parts.links, document.compiler.total_mass)
    if repair:
        links = repaired(links, parts.joints)
    joints = followers(document, actuators(document, parts.joints))
    name = document.root.get("model") or path.stem
    robot = Robot(
        name,
        links,
        tuple(joints),
        floating=parts.floating if floating is None else floating,
        sensors=sensors(document, parts.sites, parts.cameras),
        may_touch=exclusions(document, {link.name for link in links}),
        source=path.name,
    )
    return replace(robot, postures=postures(document, robot, parts.floating))


def _top_bodies(document: Document) -> list[Placed]:
    """Bodies that stand in the world, with the placement and class that frames around them give."""
    found: list[Placed] = []
    for world in document.root.findall("worldbody"):
        found += [each for each in _children(document, world, np.eye(4), "main") if each[0].tag == "body"]
    return found


def _children(document: Document, element: ET.Element, above: Array, childclass: str) -> list[Placed]:
    """The elements of a body; those in a <frame> with its placement."""
    found: list[Placed] = []
    for child in element:
        if child.tag in NOT_READ:
            raise BadRobot(f"{document.path.name}: <{child.tag}> is not supported; write out what it makes")
        if child.tag == "frame":
            placed = above @ document.placement(child.attrib, "a frame")
            found += _children(document, child, placed, child.get("childclass", childclass))
        else:
            found.append((child, above, childclass))
    return found


def _read_root(parts: Parts, body: ET.Element, above: Array, childclass: str) -> None:
    """The root link is the body that floats; one that is bolted or jointed to the world hangs from a link 'world'."""
    inner = body.get("childclass", childclass)
    kinds = [parts.document.attributes(joint, inner).get("type") for joint in body.findall("joint")]
    free = "free" in kinds or body.find("freejoint") is not None
    if free:
        parts.floating = True
        _read_body(parts, body, None, np.eye(4), inner, placed=False)
        return
    parts.links.append(Link("world"))
    _read_body(parts, body, "world", above, inner)


def _read_body(
    parts: Parts, body: ET.Element, parent: str | None, above: Array, childclass: str, placed: bool = True
) -> None:
    document = parts.document
    name = body.get("name") or f"body_{len(parts.links)}"
    where = f"body '{name}'"
    at = above @ document.placement(body.attrib, where) if placed else np.eye(4)
    children = _children(document, body, np.eye(4), childclass)
    if parent is not None:
        jointed = [document.attributes(e, c) | _named(e, name) for e, _, c in children if e.tag == "joint"]
        _hang(parts, name, parent, at, jointed)
    use = document.compiler.inertia_from_geoms
    weighs = use == "true" or (use == "auto" and body.find("inertial") is None)
    shapes: list[Shape] = []
    mass: Body | None = None
    for element, frame, inner in children:
        if element.tag == "geom":
            shape, weight = _geom(document, element, frame, inner, where, weighs)
            shapes += [shape] if shape is not None else []
            mass = weight if mass is None else mass + weight if weight is not None else mass
        elif element.tag in ("site", "camera"):
            attributes = document.attributes(element, inner)
            there = parts.sites if element.tag == "site" else parts.cameras
            there[element.get("name") or f"{element.tag}_{len(there)}"] = (
                name,
                frame @ document.placement(attributes, where),
            )
    mass = _bounded(document.compiler, _inertial(document, body, mass, where))
    link = Link(name, shapes=tuple(shapes))
    parts.links.append(link if mass is None else mass.on(link))
    for element, frame, inner in children:
        if element.tag == "body":
            _read_body(parts, element, name, frame, element.get("childclass", inner))


def _named(element: ET.Element, body: str) -> dict[str, str]:
    return {} if element.get("name") else {"name": f"{body}_joint"}


def _geom(
    document: Document, element: ET.Element, frame: Array, childclass: str, where: str, weighs: bool
) -> tuple[Shape | None, Body | None]:
    attributes = document.attributes(element, childclass)
    weighs = weighs and counts(document, attributes)
    if not weighs:
        attributes = {**attributes, "mass": "0"}
    shape, mass = read_geom(document, attributes, f"{where}, geom '{element.get('name', '')}'")
    if shape is not None:
        shape = replace(shape, at=Placement.of(frame @ shape.at.matrix))
    return shape, None if mass is None or not weighs else mass.seen_from(frame)


def _inertial(document: Document, body: ET.Element, from_geoms: Body | None, where: str) -> Body | None:
    said = body.find("inertial")
    if said is None or document.compiler.inertia_from_geoms == "true":
        return from_geoms
    mass = number(said.attrib, "mass", where, math.nan)
    if math.isnan(mass):
        raise BadRobot(f"{where} has an <inertial> without mass")
    if "fullinertia" in said.attrib:
        xx, yy, zz, xy, xz, yz = numbers(said.attrib, "fullinertia", where, count=6)
    else:
        (xx, yy, zz), (xy, xz, yz) = numbers(said.attrib, "diaginertia", where, (0.0, 0.0, 0.0)), (0.0, 0.0, 0.0)
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Body(mass, np.zeros(3), inertia).seen_from(document.placement(said.attrib, where))


def _bounded(compiler: Compiler, mass: Body | None) -> Body | None:
    """A body as the compiler bounds it: mass and moments from below, moments that no body has to their mean."""
    if not (compiler.least_mass or compiler.least_inertia or compiler.balance_inertia):
        return mass
    body = Body(0.0, np.zeros(3), np.zeros((3, 3))) if mass is None else mass
    moments, axes = np.linalg.eigh(body.inertia)
    moments = np.maximum(moments, compiler.least_inertia)
    if compiler.balance_inertia and moments[0] + moments[1] < moments[2]:
        moments = np.full(3, moments.mean())
    return Body(max(body.mass, compiler.least_mass), body.com, (axes * moments) @ axes.T)


def _scaled(links: list[Link], total: float) -> tuple[Link, ...]:
    """The links with the total mass that the compiler sets."""
    factor = total / sum(link.mass for link in links) if total > 0 else 1.0
    return tuple(
        replace(link, mass=factor * link.mass, inertia=tuple(factor * moment for moment in link.inertia))
        for link in links
    )


def _hang(parts: Parts, name: str, parent: str, at: Array, joints: list[dict[str, str]]) -> None:
    """Connect a body to its parent: fixed, by a joint, or by several in a row with a mote of mass between them.

    A joint whose axis does not pass through the origin of its body gets a link of its own, to which the body is fixed.
    """
    if not joints:
        parts.joints.append(Joint(f"{name}_fixed", "fixed", parent, name, Placement.of(at)))
        return
    for number_, attributes in enumerate(joints):
        last = number_ == len(joints) - 1
        joint_name = attributes["name"] if not any(j.name == attributes["name"] for j in parts.joints) else ""
        joint_name = joint_name or f"{attributes['name']}_{number_}"
        anchor = _anchor(attributes, f"joint '{joint_name}'")
        shift = np.eye(4)
        shift[:3, 3] = anchor
        whole = last and not anchor.any()
        child = name if whole else f"{joint_name}_link"
        parts.joints.append(_joint(parts.document, attributes, joint_name, parent, child, at @ shift))
        if not whole:
            mass, moment = (0.0, 0.0) if last else MOTES
            parts.links.append(Link(child, mass, inertia=(moment, moment, moment, 0.0, 0.0, 0.0)))
        shift[:3, 3] = -anchor
        parent, at = child, shift
        if last and not whole:
            parts.joints.append(Joint(f"{name}_fixed", "fixed", child, name, Placement.of(at)))


def _anchor(attributes: Attributes, where: str) -> Array:
    if attributes.get("type", "hinge") == "slide":
        return np.zeros(3)
    return np.array(numbers(attributes, "pos", where, (0.0, 0.0, 0.0)))


def _joint(document: Document, attributes: Attributes, name: str, parent: str, child: str, at: Array) -> Joint:
    where = f"joint '{name}'"
    kind = attributes.get("type", "hinge")
    if kind not in ("hinge", "slide"):
        remedy = "write it as three hinges" if kind == "ball" else "only the body that stands in the world may float"
        raise BadRobot(f"{where} of link '{child}' is of type '{kind}', which is not supported: {remedy}")
    scale = document.angle if kind == "hinge" else float
    lower, upper = -math.inf, math.inf
    limited = attributes.get("limited", "auto")
    if limited == "true" or (limited == "auto" and document.compiler.autolimits and "range" in attributes):
        lower, upper = (scale(value) for value in numbers(attributes, "range", where, count=2))
    turns = "continuous" if lower == -math.inf else "revolute"
    x, y, z = numbers(attributes, "axis", where, (0.0, 0.0, 1.0))
    joint = Joint(
        name,
        "prismatic" if kind == "slide" else turns,
        parent,
        child,
        Placement.of(at),
        (x, y, z),
        lower,
        upper,
        rotor_inertia=number(attributes, "armature", where, 0.0),
        damping=number(attributes, "damping", where, 0.0),
        friction=number(attributes, "frictionloss", where, 0.0),
    )
    reference = scale(number(attributes, "ref", where, 0.0))
    if reference:
        joint = replace(joint, at=Placement.of(at @ joint.motion(-reference)))
    return joint
