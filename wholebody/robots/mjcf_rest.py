"""The rest of MJCF: actuators, joints that follow others, sensors, pairs that may touch, key frames."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from wholebody.errors import BadRobot, RobotWarning
from wholebody.robots.mjcf_document import ACTUATORS, Attributes, Document, numbers
from wholebody.robots.robot import Array, Joint, Mimic, Placement, Robot, Sensor

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
