"""Mass, centre of mass and inertia: add bodies up, move them, make them from shapes, mend what no body can have."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from wholebody.errors import RobotWarning
from wholebody.robots import checks
from wholebody.robots.robot import Array, Joint, Link, Robot, Shape


@dataclass(frozen=True)
class Body:
    """Mass, centre of mass and inertia about it, 3 × 3, in the axes of some frame."""

    mass: float
    com: Array
    inertia: Array

    @classmethod
    def of(cls, link: Link) -> Body:
        """The mass of a link, in its own frame."""
        return cls(link.mass, np.array(link.com, float), link.inertia_matrix)

    def seen_from(self, placement: Array) -> Body:
        """The same body in the frame in which its own stands at a 4 × 4 placement."""
        R = placement[:3, :3]
        return Body(self.mass, R @ self.com + placement[:3, 3], R @ self.inertia @ R.T)

    def __add__(self, other: Body) -> Body:
        """Both as one: I = Σ Iᵢ + mᵢ (dᵢᵀdᵢ 1 − dᵢ dᵢᵀ), d from the common centre of mass."""
        mass = self.mass + other.mass
        if mass <= 0:
            return Body(0.0, self.com, self.inertia + other.inertia)
        com = (self.mass * self.com + other.mass * other.com) / mass
        inertia = self.inertia + other.inertia
        for part in (self, other):
            d = part.com - com
            inertia = inertia + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
        return Body(mass, com, inertia)

    def on(self, link: Link) -> Link:
        """The link with this mass, centre of mass and inertia."""
        x, y, z = self.com.tolist()
        return replace(link, mass=self.mass, com=(x, y, z), inertia=self.sixfold)

    @property
    def sixfold(self) -> tuple[float, ...]:
        """The inertia as a link keeps it: xx, yy, zz, xy, xz, yz."""
        return tuple(float(self.inertia[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))


def of_shape(shape: Shape, mass: float) -> Body:
    """A primitive filled evenly with a mass, in the frame of its link."""
    return Body(mass, np.zeros(3), mass * np.diag(_moments(shape))).seen_from(shape.at.matrix)


def _moments(shape: Shape) -> tuple[float, float, float]:
    """Principal moments of a kilogram of the shape."""
    match shape.kind, shape.size:
        case "box", (x, y, z):
            return (y * y + z * z) / 12, (x * x + z * z) / 12, (x * x + y * y) / 12
        case "sphere", (r,):
            return 0.4 * r * r, 0.4 * r * r, 0.4 * r * r
        case "cylinder", (r, h):
            return (3 * r * r + h * h) / 12, (3 * r * r + h * h) / 12, r * r / 2
        case "capsule", (r, h):
            ball, rod = 4 * r / (4 * r + 3 * h), 3 * h / (4 * r + 3 * h)  # shares of the mass
            along = rod * r * r / 2 + ball * 0.4 * r * r
            across = rod * (3 * r * r + h * h) / 12 + ball * (0.4 * r * r + h * h / 4 + 3 * h * r / 8)
            return across, across, along
    raise ValueError(f"a {shape.kind} has no simple inertia")


def volume(shape: Shape) -> float:
    """Volume of a primitive."""
    match shape.kind, shape.size:
        case "box", (x, y, z):
            return x * y * z
        case "sphere", (r,):
            return 4 / 3 * math.pi * r**3
        case "cylinder", (r, h):
            return math.pi * r * r * h
        case "capsule", (r, h):
            return math.pi * r * r * h + 4 / 3 * math.pi * r**3
    raise ValueError(f"a {shape.kind} has no simple volume")


def fused(robot: Robot) -> dict[str, Body]:
    """Mass of each link that moves (or is the root), together with that of all links fixed to it, in its own frame."""
    bodies = {link.name: Body.of(link) for link in robot.links}
    for joint in reversed(robot.joints):
        if joint.kind == "fixed":
            bodies[joint.parent] += bodies.pop(joint.child).seen_from(joint.at.matrix)
    return bodies


GRAM = 1e-3
GYRATION = 0.01
"""A moving link without mass gets a gram; one without inertia that of its mass, a centimetre from its centre."""


def repaired(links: Sequence[Link], joints: Sequence[Joint]) -> tuple[Link, ...]:
    """Give moving links what they lack, and replace every inertia that no body has by the nearest one that exists."""
    mended = {link.name: _physical(link) for link in links}
    ordered = checks.depth_first(links, joints)
    for joint, what in checks.weightless(tuple(mended.values()), ordered):
        link = mended[joint.child]
        mass = max(link.mass, GRAM)
        moment = mass * GYRATION**2
        lacks_inertia = sum(link.inertia[:3]) <= checks.NOTHING
        moments = (moment, moment, moment, 0.0, 0.0, 0.0) if lacks_inertia else link.inertia
        mended[link.name] = replace(link, mass=mass, inertia=moments)
        given = f"it gets {mass:g} kg and {moment:g} kg·m²"
        _warn(f"link '{link.name}', moved by joint '{joint.name}', had no {what}; {given}")
    return tuple(mended[link.name] for link in links)


def _physical(link: Link) -> Link:
    inertia = link.inertia_matrix
    exists = existing_inertia(f"link '{link.name}'", inertia)
    return link if exists is inertia else replace(Body.of(link), inertia=exists).on(link)


def existing_inertia(where: str, inertia: Array) -> Array:
    """The nearest inertia that a body can have, with a RobotWarning if that is another one."""
    why = checks.inertia_fault(inertia)
    if why is not None:
        _warn(f"{where} had an inertia that no body has: {why}; the nearest one that exists is taken")
    return nearest_inertia(inertia)


MARGIN, LEAST = 1e-9, 1e-14
"""Of the largest, and kg·m²: MuJoCo takes no inertia that breaks the triangle inequality by the last bit."""


def nearest_inertia(inertia: Array) -> Array:
    """The nearest inertia that a body can have; the same one, bit by bit, if a body can have it.

    With J = ½ tr(I) 1 − I, the second moment of the mass, I is physical when J is positive semi-definite: J's negative
    eigenvalues become (next to) zero, and I = tr(J) 1 − J.
    """
    J = np.trace(inertia) / 2 * np.eye(3) - (inertia + inertia.T) / 2
    values, vectors = np.linalg.eigh(J)
    if not inertia.any() or values[2] <= 0:
        return inertia if not inertia.any() else np.zeros((3, 3))
    least = max(MARGIN * values[2], LEAST)
    if values[0] >= least:
        return inertia
    J = (vectors * np.maximum(values, least)) @ vectors.T
    return np.asarray(np.trace(J) * np.eye(3) - J)


def _warn(text: str) -> None:
    warnings.warn(text, RobotWarning, stacklevel=6)
