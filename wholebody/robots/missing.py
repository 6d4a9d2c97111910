"""Figures that a file lacks and that are dangerous to lack: what is assumed instead, and how to say them.

The defaults follow from mass and size, so they fit robots of 0.1 m as of 5 m. With M the robot's mass, L how far its
longest limb reaches from the root, and ℓ the length of a joint's own limb:

    effort      τ = ¼ M g ℓ        what a bent knee, a hip or an ankle needs in a walk, and half as much again
    velocity    ω = 4 √(g / L)     twice what a joint of legs that long does in a walk
    rotor       I = τ · 2.5e-4 s²  as motors with gears have it, from servos of 1 N·m to knees of 300 N·m
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from wholebody.robots.geometry import placements
from wholebody.robots.robot import Joint, Link, Robot

GRAVITY = 9.81
LEVER, PACE, ROTOR = 0.25, 4.0, 2.5e-4
IMPLAUSIBLE = 20.0
"""Times the robot's weight at the reach of its longest limb: an effort limit of more is a stand-in for none."""
RACING = 1000.0
"""rad/s or m/s: likewise."""
LOW = 0.15
"""Of the robot's extent: ends of limbs that are so near to the lowest one are taken for feet."""


@dataclass(frozen=True)
class Finding:
    """Something that a robot's file does not say, or says in a way that does harm."""

    what: str
    where: tuple[str, ...]  # joints or links
    assumed: str
    remedy: str
    danger: bool = True

    def __str__(self) -> str:
        """As one line of the robot's gaps."""
        named = ", ".join(self.where[:4]) + (f" and {len(self.where) - 4} more" if len(self.where) > 4 else "")
        return f"{self.what}: {named}; {self.assumed}"


def completed(robot: Robot) -> tuple[Robot, tuple[Finding, ...]]:
    """The robot with safe figures where its file has none, and what was found on the way."""
    limits = Limits(robot)
    joints = tuple(limits.complete(joint) for joint in robot.joints)
    solid = {link.name: link for link in _feet_to_stand_on(robot)}
    links = tuple(solid.get(link.name, link) for link in robot.links)
    found = (*_lacking(robot, joints), *_untouchable(robot, solid), *_said(robot))
    if joints == robot.joints and not solid:
        return robot, found
    gaps = (*robot.gaps, *(str(each) for each in found if each.danger))
    return replace(robot, joints=joints, links=links, gaps=gaps), found


# --- joints ----------------------------------------------------------------------------------------


class Limits:
    """What the joints of a robot of this mass and size can be expected to do."""

    def __init__(self, robot: Robot) -> None:
        self.weight = robot.mass * GRAVITY
        self._from = {joint.child: joint for joint in robot.joints}
        self._below = _reaches(robot)
        self._branches = _branches(robot)
        self.reach = max(self._below[robot.root], 1e-3)

    def limb(self, joint: Joint) -> float:
        """Length of a joint's limb in metres: from where it leaves the trunk, hand or head to its end."""
        length, at = self._below[joint.child], joint
        while self._branches[at.parent] < 2 and at.parent in self._from:
            length += math.dist((0, 0, 0), at.at.xyz)
            at = self._from[at.parent]
        return max(length, 0.02 * self.reach)

    def effort(self, joint: Joint) -> float:
        """Largest effort: N·m, or N of a slide, which is to lift the robot."""
        return _rounded(self.weight * (1.0 if joint.kind == "prismatic" else LEVER * self.limb(joint)))

    def velocity(self, joint: Joint) -> float:
        """Largest velocity: rad/s, or m/s of a slide, which may run its limb's length in a second."""
        slides = joint.kind == "prismatic"
        return _rounded(self.limb(joint) if slides else PACE * math.sqrt(GRAVITY / self.reach))

    def rotor(self, joint: Joint, effort: float) -> float:
        """Inertia of rotor and gear: kg·m², or kg of a slide, a twentieth of the robot's mass."""
        if joint.kind == "prismatic":
            return _rounded(0.05 * self.weight / GRAVITY)
        return _rounded(ROTOR * min(effort, 4 * self.effort(joint)))

    def complete(self, joint: Joint) -> Joint:
        """The joint with what it lacks."""
        if joint.kind == "fixed" or joint.mimic is not None or not joint.actuated:
            return joint
        effort = self.effort(joint) if self.unlimited(joint) else joint.effort
        return replace(
            joint,
            effort=effort,
            velocity=self.velocity(joint) if joint.velocity > RACING else joint.velocity,
            rotor_inertia=joint.rotor_inertia or self.rotor(joint, effort),
        )

    def unlimited(self, joint: Joint) -> bool:
        """Whether a joint's effort limit is none: infinite, or far beyond what the robot could do with."""
        return joint.effort > IMPLAUSIBLE * self.weight * (1.0 if joint.kind == "prismatic" else self.reach)


def _reaches(robot: Robot) -> dict[str, float]:
    """Of each link how far its own centre of mass, and all that hangs from it, can be from its origin."""
    below = {link.name: _size(link) for link in robot.links}
    for joint in reversed(robot.joints):
        below[joint.parent] = max(below[joint.parent], math.dist((0, 0, 0), joint.at.xyz) + below[joint.child])
    return below


def _size(link: Link) -> float:
    """How far the mass of a link is from its origin: its centre, or, if that is nearer, its radius of gyration."""
    if link.mass <= 0:
        return 0.0
    return max(math.dist((0, 0, 0), link.com), math.sqrt(max(sum(link.inertia[:3]), 0.0) / 2 / link.mass))


def _branches(robot: Robot) -> dict[str, int]:
    """Of each link, with what is fixed to it, how many limbs that move hang from it."""
    count = dict.fromkeys((link.name for link in robot.links), 0)
    for joint in reversed(robot.joints):
        count[joint.parent] += count[joint.child] if joint.kind == "fixed" else 1
    for joint in robot.joints:
        if joint.kind == "fixed":
            count[joint.child] = count[joint.parent]
    return count


def _rounded(value: float) -> float:
    """Two digits: a figure that is assumed should not look measured."""
    return float(f"{value:.2g}")


def _lacking(robot: Robot, completed_joints: tuple[Joint, ...]) -> Iterator[Finding]:
    figures = {
        "effort": ("no effort limit", "N·m", '<limit effort="…"> in a URDF, actuatorfrcrange or forcerange in an MJCF'),
        "velocity": (
            "no velocity limit",
            "rad/s",
            '<limit velocity="…"> in a URDF; <numeric name="velocity JOINT" data="…"> in an MJCF',
        ),
        "rotor_inertia": ("no rotor inertia", "kg·m²", "armature in an MJCF, <drake:rotor_inertia> in a URDF"),
    }
    for field, (what, unit, remedy) in figures.items():
        given = {
            new.name: getattr(new, field)
            for old, new in zip(robot.joints, completed_joints, strict=True)
            if getattr(old, field) != getattr(new, field)
        }
        if given:
            low, high = min(given.values()), max(given.values())
            figure = f"{low:g}" if low == high else f"{low:g} to {high:g}"
            yield Finding(what, tuple(given), f"{figure} {unit} assumed", f"give it: {remedy}; or a YAML beside it")


# --- shapes ----------------------------------------------------------------------------------------


def _feet_to_stand_on(robot: Robot) -> Iterator[Link]:
    """Low ends of limbs that collide with nothing, with their visible shapes made solid."""
    for members in _low_ends(robot):
        links = [robot.link(name) for name in members]
        if not any(shape.collides for link in links for shape in link.shapes):
            for link in links:
                if link.shapes:
                    yield replace(link, shapes=tuple(replace(shape, collides=True) for shape in link.shapes))


def _low_ends(robot: Robot) -> list[list[str]]:
    """The links fixed to one another at the end of each limb that comes as low as any, joints at zero; none of arms."""
    if not robot.moving or not robot.floating:
        return []
    count, ends = _branches(robot), dict[str, list[str]]()
    base = {joint.child: joint.parent for joint in robot.joints if joint.kind == "fixed"}
    for link in robot.links:
        top = link.name
        while top in base:
            top = base[top]
        if count[link.name] == 0:
            ends.setdefault(top, []).append(link.name)
    where = placements(robot, np.array([np.clip(0.0, joint.lower, joint.upper) for joint in robot.moving]))
    heights = {top: float((where[top] @ [*robot.link(top).com, 1.0])[2]) for top in ends}
    every = [float(place[2, 3]) for place in where.values()]
    if not heights:
        return []
    low = min(heights.values()) + LOW * (max(every) - min(every))
    found = [members for top, members in ends.items() if heights[top] <= low]
    return found if len(found) > 1 else []


def _untouchable(robot: Robot, solid: Mapping[str, Link]) -> Iterator[Finding]:
    remedy = "give it <collision> shapes in a URDF, or geoms with contype and conaffinity in an MJCF"
    if solid:
        yield Finding("no collision shape on a foot", tuple(solid), "its visible shapes collide", remedy)
    bare = [
        members[0]
        for members in _low_ends(robot)
        if not any(robot.link(name).shapes for name in members) and not any(name in solid for name in members)
    ]
    if bare:
        yield Finding("no shape at all on a foot", tuple(bare), "it falls through the ground", remedy)


def _said(robot: Robot) -> Iterator[Finding]:
    """What is worth knowing, but does no harm."""
    bare = tuple(joint.name for joint in robot.moving if joint.actuated and joint.name not in robot.gains)
    if bare:
        text = "full effort at an error of 0.05 rad assumed"
        yield Finding("no gains", bare, text, "give kp and kv of <position> actuators, or gains in a YAML", False)
    passive = tuple(joint.name for joint in robot.moving if not joint.actuated)
    if passive:
        yield Finding("no motor", passive, "it moves freely", "give it an actuator, or a <transmission>", False)
    undamped = tuple(name for name, g in robot.gains.items() if g.damping == 0 and robot.joint(name).damping == 0)
    if undamped:
        yield Finding("a servo without damping", undamped, "it rings", "give kv, or damping of the joint", False)
    for loop in robot.loops:
        text = "closed in simulation; a model is the tree"
        yield Finding(
            "a closed loop", (loop.one, loop.other), text, "give controllers constraints.ClosedLoop.of(model)", False
        )
