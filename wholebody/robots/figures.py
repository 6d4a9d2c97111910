"""Figures: the links and joints of a robot as numbers in a YAML file, with the source they were taken from.

    source: repository, path, commit, licence
    links:
      thigh: {mass: 2.8, com: [x, y, z], inertia: [xx, yy, zz, xy, xz, yz], shapes: [{box: [x, y, z], at: [x, y, z]}]}
    joints:
      knee: {parent: thigh, child: shin, at: [x, y, z, roll, pitch, yaw], axis: [0, 1, 0], range: [0, 2.6], effort: 95}

What is not said is zero, or no limit; a joint without an axis is fixed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from importlib import resources
from typing import Any

import yaml

from wholebody.errors import BadRobot
from wholebody.robots.masses import Body, of_shape
from wholebody.robots.robot import Joint, Link, Placement, Shape


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
