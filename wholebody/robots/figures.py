"""Figures: the links and joints of a robot as numbers in a YAML file, with the source they were taken from.

    source: repository, path, commit, licence
    links:
      thigh: {mass: 2.8, com: [x, y, z], inertia: [xx, yy, zz, xy, xz, yz], shapes: [{box: [x, y, z], at: [x, y, z]}]}
    joints:
      knee: {parent: thigh, child: shin, at: [x, y, z, roll, pitch, yaw], axis: [0, 1, 0], range: [0, 2.6], effort: 95}

What is not said is zero, or no limit; a joint without an axis is fixed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from importlib import resources
from typing import Any

import yaml

from wholebody.errors import BadRobot
from wholebody.robots.masses import Body, of_shape
from wholebody.robots.robot import Gain, Joint, Link, Placement, Robot, Sensor, Shape, Surface, Vector


@dataclass(frozen=True)
class Figures:
    """Links and joints by name, in the order of the file, and where the numbers come from."""

    links: Mapping[str, Link]
    joints: Mapping[str, Joint]
    source: str

    @classmethod
    def read(cls, name: str) -> Figures:
        """Read the figures that belong to a robot of ours."""
        text = resources.files("wholebody.robots").joinpath(f"figures/{name}.yaml").read_text()
        document = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        links = {key: _link(key, value or {}) for key, value in document["links"].items()}
        joints = {key: _joint(key, value) for key, value in document["joints"].items()}
        return cls(links, joints, document["source"])

    def with_joints(self, pattern: str, **values: Any) -> Figures:
        """Set fields of the joints whose names match one of the patterns ("?HP ?KN", "*_knee")."""
        names = [name for name in self.joints if any(fnmatchcase(name, each) for each in pattern.split())]
        if not names:
            raise BadRobot(f"no joint matches '{pattern}'")
        return replace(self, joints={**self.joints, **{name: replace(self.joints[name], **values) for name in names}})

    def with_link(self, name: str, **values: Any) -> Figures:
        """Set fields of a link."""
        return replace(self, links={**self.links, name: replace(self.links[name], **values)})

    def with_mass(self, name: str, shape: Shape, mass: float) -> Figures:
        """Add a mass to a link, spread evenly over a shape: what the figures lack."""
        body = Body.of(self.links[name]) + of_shape(shape, mass)
        return self.with_link(name, mass=body.mass, com=body.com_as_vector, inertia=body.sixfold)


def box(x: float, y: float, z: float, *at: float) -> Shape:
    """A box to lump a mass into, or to collide with."""
    return Shape("box", (x, y, z), _placement(list(at)))


def _placement(values: list[float]) -> Placement:
    x, y, z, roll, pitch, yaw = (*map(float, values), *(0.0,) * (6 - len(values)))
    return Placement((x, y, z), (roll, pitch, yaw))


def _shape(values: Mapping[str, list[float]]) -> Shape:
    (kind, size), *_ = values.items()
    return Shape(kind, tuple(map(float, size)), _placement(values.get("at", [])), collides="seen" not in values)


def _link(name: str, values: Mapping[str, Any]) -> Link:
    x, y, z = map(float, values.get("com", (0, 0, 0)))
    inertia = tuple(map(float, values.get("inertia", (0,) * 6)))
    return Link(name, float(values.get("mass", 0)), (x, y, z), inertia, tuple(map(_shape, values.get("shapes", ()))))


def _joint(name: str, values: Mapping[str, Any]) -> Joint:
    at = _placement(values.get("at", []))
    if "axis" not in values:
        return Joint(name, "fixed", values["parent"], values["child"], at)
    x, y, z = map(float, values["axis"])
    more: dict[str, Any] = {
        key: float(values[key]) for key in ("velocity", "effort", "rotor_inertia", "damping") if key in values
    }
    kind = values.get("kind", "revolute")
    lower, upper = map(float, values.get("range", ("-inf", "inf")))
    joint = Joint(name, kind, values["parent"], values["child"], at, (x, y, z), lower, upper)
    return replace(joint, **more)


UP: Vector = (0.0, 0.0, 0.0)
"""The rotation of a surface on which its link stands upright."""
FACING_LEFT: Vector = (math.pi / 2, 0.0, 0.0)
"""The rotation of a surface that faces along +y of its link, such as the palm of a right hand that hangs down."""
FACING_RIGHT: Vector = (-math.pi / 2, 0.0, 0.0)


def assemble(
    name: str,
    figures: Figures,
    groups: Mapping[str, str],
    rotors: Mapping[str, float],
    servos: Mapping[str, tuple[float, float]],
    **more: Any,
) -> Robot:
    """Make a robot of figures; groups, rotor inertias and servo gains go to joints by patterns of names."""
    for patterns, inertia in rotors.items():
        figures = figures.with_joints(patterns, rotor_inertia=inertia)
    joints = tuple(figures.joints.values())
    moving = [joint.name for joint in joints if joint.kind != "fixed" and joint.mimic is None]
    members = {group: matching(moving, patterns) for group, patterns in groups.items()}
    gains = stiff(joints, servos)
    links = tuple(figures.links.values())
    return Robot(name, links, joints, groups=members, gains=gains, source=figures.source, **more)


def rectangle(length: float, width: float) -> tuple[tuple[float, float], ...]:
    """Corners around the origin, counter-clockwise: length along x, width along y."""
    x, y = length / 2, width / 2
    return ((x, y), (-x, y), (-x, -y), (x, -y))


def surface(name: str, link: str, xyz: Vector, length: float, width: float, rpy: Vector = UP) -> Surface:
    """A rectangular sole or palm around a point of its link."""
    return Surface(name, link, Placement(xyz, rpy), rectangle(length, width))


def sensor(name: str, kind: str, link: str, *at: float) -> Sensor:
    """A sensor at x, y, z and, if it is turned, roll, pitch, yaw in its link."""
    x, y, z, roll, pitch, yaw = (*at, *(0.0,) * (6 - len(at)))
    return Sensor(name, kind, link, Placement((x, y, z), (roll, pitch, yaw)))


def both_sides(values: Mapping[str, float], mirrored: str = "") -> dict[str, float]:
    """Joint values of both sides from those of the right one; "?" in a name stands for R and L, "!" for r
    and l, "%" for right and left.

    Joints named in `mirrored` (such as roll and yaw, where both sides turn about the same axis) get the opposite sign
    on the left.
    """
    opposite = mirrored.split()
    result = {}
    for name, value in values.items():
        for side in _sides(name):
            result[side] = -value if name in opposite and side != _sides(name)[0] else value
    return result


def _sides(text: str) -> tuple[str, ...]:
    """A text with "?" (R, L), "!" (r, l) or "%" (right, left) once for each side; any other only once."""
    for mark, (right, left) in {"?": "RL", "!": "rl", "%": ("right", "left")}.items():
        if mark in text:
            return text.replace(mark, right), text.replace(mark, left)
    return (text,)


def matching(names: Iterable[str], patterns: str) -> tuple[str, ...]:
    """The names that match one of the patterns ("?HP ?KN", "*_knee"), in their own order."""
    return tuple(name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns.split()))


def stiff(joints: Iterable[Joint], table: Mapping[str, tuple[float, float]]) -> dict[str, Gain]:
    """Gains of the actuated joints, by the first pattern of the table that matches: (stiffness, damping)."""
    gains = {}
    for joint in joints:
        if joint.kind != "fixed" and joint.mimic is None and joint.actuated:
            for patterns, (stiffness, damping) in table.items():
                if matching([joint.name], patterns):
                    gains[joint.name] = Gain(stiffness, damping)
                    break
    return gains


def gaps_in(doc: str | None) -> tuple[str, ...]:
    """What a robot's docstring lists, "- " by "- ", as missing, estimated or chosen: said once, shown everywhere."""
    items = ("\n" + (doc or "")).split("\n- ")[1:]
    return tuple(" ".join(item.split("\n\n")[0].split()) for item in items)


def pairs(*texts: str) -> frozenset[frozenset[str]]:
    """Pairs of links that may touch, each written "one other"; ?, ! and % stand for both sides, as in a posture."""
    return frozenset(frozenset(side.split()) for text in texts for side in _sides(text))
