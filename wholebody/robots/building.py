"""Words to write a robot down with, so that its module stays short."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from wholebody.robots.figures import Figures
from wholebody.robots.robot import Gain, Joint, Placement, Robot, Sensor, Surface, Vector

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
