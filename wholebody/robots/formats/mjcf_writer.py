"""MJCF: write a robot as MuJoCo reads it, with every inertia explicit, so that both engines agree."""

from __future__ import annotations

import math
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from wholebody.errors import RobotWarning
from wholebody.robots.formats.meshes import bounds, unreadable
from wholebody.robots.formats.xml import text_of
from wholebody.robots.masses import Body, fused, nearest_inertia
from wholebody.robots.robot import Array, Joint, Link, Placement, Robot, Shape
from wholebody.rotations import quaternion_of_matrix

Meshes = dict[tuple[str, tuple[float, ...]], str]
CAMERA_AXES = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""MuJoCo's cameras look along −z with y up; ours along x with z up."""


def write_mjcf(robot: Robot) -> str:
    """Write the robot alone: bodies, joints, shapes, sensor sites, one motor per actuated joint; no world around it."""
    root = mjcf_element(robot)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def mjcf_element(robot: Robot) -> ET.Element:
    """The same as an element tree, for a world to be built around it."""
    robot = _readable(robot)
    root = ET.Element("mujoco", model=robot.name)
    ET.SubElement(
        root, "compiler", angle="radian", eulerseq="XYZ", autolimits="true", inertiafromgeom="false", fusestatic="false"
    )
    meshes = _assets(root, robot)
    world = ET.SubElement(root, "worldbody")
    base = _body(world, robot, robot.root, None, meshes, fused(robot))
    if robot.floating:
        base.insert(0, ET.Element("freejoint", name="base"))
    _mimics(root, robot)
    _loops(root, robot)
    _exclusions(root, robot)
    _motors(root, robot)
    custom = ET.SubElement(root, "custom")
    for joint in robot.moving:
        if math.isfinite(joint.velocity):
            ET.SubElement(custom, "numeric", name=f"velocity {joint.name}", data=repr(float(joint.velocity)))
    return root


def _readable(robot: Robot) -> Robot:
    """The robot with meshes that MuJoCo reads: others become their bounding box to collide with, and are not seen."""
    links = tuple(replace(link, shapes=tuple(_readable_shapes(link))) for link in robot.links)
    return replace(robot, links=links)


def _readable_shapes(link: Link) -> Iterator[Shape]:
    for shape in link.shapes:
        fault = None if shape.mesh is None else unreadable(shape.mesh)
        if shape.mesh is None or fault is None:
            yield shape
        elif shape.collides:
            _warn(f"link '{link.name}': mesh {shape.mesh.name} collides as its bounding box: {fault}")
            yield _bounding_box(shape, shape.mesh)
        else:
            _warn(f"link '{link.name}': mesh {shape.mesh.name} is not shown: {fault}")


def _warn(text: str) -> None:
    warnings.warn(text + "; convert it to a binary STL or OBJ", RobotWarning, stacklevel=6)


def _bounding_box(shape: Shape, mesh: Path) -> Shape:
    low, high = (np.array(shape.size) * corner for corner in bounds(mesh))
    x, y, z = (float(value) for value in np.maximum(abs(high - low), 1e-4))
    middle = np.eye(4)
    middle[:3, 3] = (low + high) / 2
    return Shape("box", (x, y, z), Placement.of(shape.at.matrix @ middle), shape.collides)


def _assets(root: ET.Element, robot: Robot) -> Meshes:
    """Name every mesh file with its scale once."""
    names: Meshes = {}
    asset = ET.SubElement(root, "asset")
    for link in robot.links:
        for shape in link.shapes:
            if shape.mesh is None or (key := (str(shape.mesh), shape.size)) in names:
                continue
            names[key] = f"mesh_{len(names)}"
            # The inertia of a mesh is never used, and the shell needs no closed volume.
            ET.SubElement(asset, "mesh", name=names[key], file=key[0], scale=text_of(shape.size), inertia="shell")
    return names


def _quaternion(rotation: Array) -> str:
    """w x y z, MuJoCo's order."""
    return text_of(np.roll(quaternion_of_matrix(rotation), 1))


def _body(
    parent: ET.Element, robot: Robot, name: str, joint: Joint | None, meshes: Meshes, masses: dict[str, Body]
) -> ET.Element:
    link = robot.link(name)
    body = ET.SubElement(parent, "body", name=name)
    if joint is not None:
        body.set("pos", text_of(joint.at.xyz))
        body.set("quat", _quaternion(joint.at.rotation))
        if joint.kind != "fixed":
            _joint(body, joint)
    if name in masses and masses[name].mass > 0:
        mass = replace(masses[name], inertia=nearest_inertia(masses[name].inertia))
        pos, inertia = text_of(mass.com), text_of(mass.sixfold)
        ET.SubElement(body, "inertial", pos=pos, mass=repr(float(mass.mass)), fullinertia=inertia)
    for number, shape in enumerate(link.shapes):
        _geom(body, f"{name}_{number}", shape, meshes)
    for sensor in robot.sensors:
        if sensor.link == name:
            tag = "camera" if sensor.kind == "camera" else "site"
            turned = sensor.at.rotation @ CAMERA_AXES if tag == "camera" else sensor.at.rotation
            ET.SubElement(body, tag, name=sensor.name, pos=text_of(sensor.at.xyz), quat=_quaternion(turned))
    for each in robot.joints:
        if each.parent == name:
            _body(body, robot, each.child, each, meshes, masses)
    return body


def _joint(body: ET.Element, joint: Joint) -> None:
    element = ET.SubElement(body, "joint", name=joint.name, type="slide" if joint.kind == "prismatic" else "hinge")
    element.set("axis", text_of(joint.axis))
    if math.isfinite(joint.lower) and math.isfinite(joint.upper):
        element.set("range", text_of((joint.lower, joint.upper)))
    element.set("armature", repr(float(joint.rotor_inertia)))
    element.set("damping", repr(float(joint.damping)))
    element.set("frictionloss", repr(float(joint.friction)))


def _geom(body: ET.Element, name: str, shape: Shape, meshes: Meshes) -> None:
    geom = ET.SubElement(body, "geom", name=name, type=shape.kind, pos=text_of(shape.at.xyz))
    geom.set("quat", _quaternion(shape.at.rotation))
    if shape.mesh is not None:
        geom.set("mesh", meshes[str(shape.mesh), shape.size])
    else:
        half = {"box": 0.5, "sphere": 1.0}.get(shape.kind)
        size = tuple(half * s for s in shape.size) if half else (shape.size[0], shape.size[1] / 2)
        geom.set("size", text_of(size))
    if not shape.collides:
        geom.set("contype", "0")
        geom.set("conaffinity", "0")
        geom.set("group", "2")


def _mimics(root: ET.Element, robot: Robot) -> None:
    equality = ET.SubElement(root, "equality")
    for joint in robot.joints:
        if joint.mimic is not None:
            polynomial = text_of((joint.mimic.offset, joint.mimic.ratio, 0, 0, 0))
            ET.SubElement(equality, "joint", joint1=joint.name, joint2=joint.mimic.of, polycoef=polynomial)
    for coupling in robot.couplings:
        ET.SubElement(
            equality,
            "joint",
            joint1=coupling.slave,
            joint2=coupling.master,
            polycoef=text_of((0, coupling.ratio, 0, 0, 0)),
        )


def _loops(root: ET.Element, robot: Robot) -> None:
    """Loops as MuJoCo closes them: a site in each of the two links, and an equality of both."""
    bodies = {str(body.get("name")): body for body in root.iter("body")}
    equality = ET.SubElement(root, "equality")
    for loop in robot.loops:
        sites = [f"{loop.name} {link}" for link in (f"of {loop.one}", f"to {loop.other}")]
        for site, link, at in zip(sites, (loop.one, loop.other), (loop.one_at, loop.other_at), strict=True):
            ET.SubElement(bodies[link], "site", name=site, pos=text_of(at.xyz), quat=_quaternion(at.rotation))
        ET.SubElement(equality, "weld" if loop.welded else "connect", name=loop.name, site1=sites[0], site2=sites[1])


def _exclusions(root: ET.Element, robot: Robot) -> None:
    """Pairs that may touch; and, as MuJoCo forgets it for a bolted base, links that share a joint."""
    contact = ET.SubElement(root, "contact")
    allowed = {tuple(sorted(pair)) for pair in robot.may_touch}
    if not robot.floating:
        allowed |= _around_base(robot)
    for one, other in sorted(allowed):
        ET.SubElement(contact, "exclude", body1=one, body2=other)


def _around_base(robot: Robot) -> set[tuple[str, ...]]:
    """Links fixed to the root, paired with those that hang from them by one moving joint."""
    base, near = {robot.root}, set()
    for joint in robot.joints:
        if joint.parent in base and joint.kind == "fixed":
            base.add(joint.child)
        elif joint.parent in base or (joint.parent in near and joint.kind == "fixed"):
            near.add(joint.child)
    return {tuple(sorted((one, other))) for one in base for other in near}


def _motors(root: ET.Element, robot: Robot) -> None:
    actuator = ET.SubElement(root, "actuator")
    for joint in robot.moving:
        if joint.actuated:
            motor = ET.SubElement(actuator, "general", name=joint.name, joint=joint.name, biastype="affine")
            if math.isfinite(joint.effort):
                motor.set("forcerange", text_of((-joint.effort, joint.effort)))
