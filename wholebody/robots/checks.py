"""What must hold for a robot: a tree of named links, masses and inertias that can exist, limits that make sense."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadRobot

if TYPE_CHECKING:
    from wholebody.robots.robot import Joint, Link, Robot

KINDS = ("revolute", "continuous", "prismatic", "fixed")
TOLERANCE = 1e-6
"""Relative to the largest moment: figures are rounded, and round-off makes the smallest moments negative."""
NOTHING = 1e-15
"""Less than this, in kg or kg·m², is nothing: it comes of round-off."""
SHAPES = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2, "mesh": 3}


def depth_first(links: Sequence[Link], joints: Sequence[Joint], name: str = "the robot") -> tuple[Joint, ...]:
    """Return the joints depth first from the root, branches in the order given; BadRobot if they form no tree."""
    known = _unique(name, "link", [link.name for link in links])
    _unique(name, "joint", [joint.name for joint in joints])
    children: dict[str, list[Joint]] = {link: [] for link in known}
    hangs_from: dict[str, str] = {}
    for joint in joints:
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in known:
                raise BadRobot(f"{name}: joint '{joint.name}' has {role} '{link}', but there is no such link")
        if joint.child in hangs_from:
            raise BadRobot(
                f"{name}: link '{joint.child}' hangs from two joints, '{hangs_from[joint.child]}' and '{joint.name}'; "
                "closed loops are not supported: cut one of them"
            )
        hangs_from[joint.child] = joint.name
        children[joint.parent].append(joint)
    root = _root(name, [link.name for link in links if link.name not in hangs_from])
    ordered: list[Joint] = []
    waiting = list(reversed(children[root]))
    while waiting:
        ordered.append(waiting.pop())
        waiting.extend(reversed(children[ordered[-1].child]))
    if len(ordered) != len(joints):
        lost = sorted({joint.name for joint in joints} - {joint.name for joint in ordered})
        raise BadRobot(f"{name}: joints {', '.join(lost)} form a closed loop apart from the root '{root}'; cut it")
    return tuple(ordered)


def _root(name: str, roots: list[str]) -> str:
    if len(roots) == 1:
        return roots[0]
    if not roots:
        raise BadRobot(f"{name} has no root: every link hangs from a joint, in a closed loop; cut it")
    raise BadRobot(f"{name} has {len(roots)} roots: {', '.join(roots)}; join them by fixed joints")


def check(robot: Robot) -> None:
    """Check all that is not the tree itself."""
    for link in robot.links:
        _check_link(robot, link)
    for joint in robot.joints:
        _check_joint(robot, joint)
    _check_moving_masses(robot)
    _check_names(robot)
    for posture, values in robot.postures.items():
        for name, position in values.items():
            joint = robot.joint(name)
            if not joint.lower - 1e-9 <= position <= joint.upper + 1e-9:
                raise BadRobot(
                    f"{robot.name}: posture '{posture}' puts joint '{name}' at {position:g}, outside its limits "
                    f"{joint.lower:g} to {joint.upper:g}"
                )


def _unique(robot: str, what: str, names: list[str]) -> set[str]:
    seen: set[str] = set()
    for name in names:
        if not name:
            raise BadRobot(f"{robot}: a {what} has no name; give it one")
        if name in seen:
            raise BadRobot(f"{robot}: two {what}s are called '{name}'; rename one")
        seen.add(name)
    return seen


def _check_link(robot: Robot, link: Link) -> None:
    where = f"{robot.name}: link '{link.name}'"
    if not np.isfinite([link.mass, *link.com, *link.inertia]).all():
        raise BadRobot(f"{where} has a mass, centre of mass or inertia that is not a number")
    if link.mass < 0:
        raise BadRobot(f"{where} has a negative mass, {link.mass:g} kg")
    refuse_inertia(where, link.inertia_matrix)
    for shape in link.shapes:
        if shape.kind not in SHAPES:
            raise BadRobot(f"{where} has a shape of unknown kind '{shape.kind}'; known: {', '.join(SHAPES)}")
        if len(shape.size) != SHAPES[shape.kind] or not all(math.isfinite(s) and s != 0 for s in shape.size):
            raise BadRobot(f"{where} has a {shape.kind} of size {shape.size}")


def _check_joint(robot: Robot, joint: Joint) -> None:
    where = f"{robot.name}: joint '{joint.name}'"
    if joint.kind not in KINDS:
        known = ", ".join(KINDS)
        remedy = (
            "leave it out, the root floats by itself" if joint.kind == "floating" else "write it as several of these"
        )
        raise BadRobot(f"{where} is of unknown kind '{joint.kind}'; known: {known}; {remedy}")
    if joint.kind == "fixed":
        return
    if not np.isfinite(joint.axis).all() or np.linalg.norm(joint.axis) < 1e-9:
        raise BadRobot(f"{where} turns about no axis: {joint.axis}")
    if joint.kind in ("revolute", "prismatic") and not joint.lower < joint.upper:
        raise BadRobot(f"{where} has limits {joint.lower:g} to {joint.upper:g}; the lower must be below the upper")
    positive = {"velocity limit": joint.velocity, "effort limit": joint.effort}
    for what, value in positive.items():
        if not value > 0:
            raise BadRobot(f"{where} has a {what} of {value:g}; it must be positive (inf if there is none)")
    for what, value in {
        "rotor inertia": joint.rotor_inertia,
        "damping": joint.damping,
        "friction": joint.friction,
    }.items():
        if not 0 <= value < math.inf:
            raise BadRobot(f"{where} has a {what} of {value:g}; it must be zero or more")
    if joint.mimic is not None:
        leader = next((other for other in robot.joints if other.name == joint.mimic.of), None)
        if leader is None or leader.mimic is not None or leader.kind == "fixed" or leader is joint:
            raise BadRobot(f"{where} mimics '{joint.mimic.of}', which is no joint that moves by itself")


def refuse_inertia(where: str, inertia: npt.NDArray[np.float64]) -> None:
    """Raise BadRobot if no body has this inertia, 3 × 3."""
    fault = inertia_fault(inertia)
    if fault is not None:
        raise BadRobot(
            f"{where} has an inertia that no body has: {fault}. Correct it, or load the file with repair=True "
            "(--repair) to take the nearest inertia that exists"
        )


def inertia_fault(inertia: npt.NDArray[np.float64]) -> str | None:
    """Say why no body has this inertia, 3 × 3: a moment is negative, or more than the sum of the other two."""
    moments = np.linalg.eigvalsh(inertia)
    shown = ", ".join(f"{moment:.3g}" for moment in moments)
    if moments[0] < -TOLERANCE * abs(moments[2]) - NOTHING:
        return f"principal moments {shown} kg·m²; none may be negative"
    if moments[0] + moments[1] < moments[2] * (1 - TOLERANCE) - NOTHING:
        return (
            f"principal moments {shown} kg·m² break the triangle inequality (the largest, {moments[2]:.3g}, is more "
            "than the sum of the others)"
        )
    return None


def weightless(links: Iterable[Link], joints: Iterable[Joint]) -> list[tuple[Joint, str]]:
    """Joints that move no mass, or no inertia, of their own link and those fixed to it; and which of the two.

    Joints come parents first.
    """
    mass = {link.name: link.mass for link in links}
    moment = {link.name: float(np.trace(link.inertia_matrix)) for link in links}
    ordered = list(joints)
    for joint in reversed(ordered):
        if joint.kind == "fixed":
            mass[joint.parent] += mass[joint.child]
            moment[joint.parent] += moment[joint.child]
    found = []
    for joint in ordered:
        if joint.kind != "fixed" and mass[joint.child] <= NOTHING:
            found.append((joint, "mass"))
        elif joint.kind != "fixed" and moment[joint.child] <= NOTHING:
            found.append((joint, "inertia"))
    return found


def _check_moving_masses(robot: Robot) -> None:
    for joint, what in weightless(robot.links, robot.joints):
        raise BadRobot(
            f"{robot.name}: joint '{joint.name}' moves link '{joint.child}', which has no {what}; give it some, make "
            "the joint fixed, or load the file with repair=True to give it a very small one"
        )


def _check_names(robot: Robot) -> None:
    """Everything that refers to a link or joint must find it (the look-up raises)."""
    for name, members in robot.groups.items():
        for member in members:
            if member not in robot.index:
                raise BadRobot(f"{robot.name}: group '{name}' names '{member}', which is no moving joint")
    for surface in robot.surfaces:
        robot.link(surface.link)
        if len(surface.outline) < 3:
            raise BadRobot(f"{robot.name}: surface '{surface.name}' has {len(surface.outline)} corners; it needs three")
    for sensor in robot.sensors:
        robot.link(sensor.link)
    for joint in robot.gains:
        robot.joint(joint)
    for loop in robot.loops:
        robot.link(loop.one)
        robot.link(loop.other)
    for coupling in robot.couplings:
        robot.joint(coupling.master)
        robot.joint(coupling.slave)
    for pair in robot.may_touch:
        for link in pair:
            robot.link(link)
