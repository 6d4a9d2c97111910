"""Repairs of other people's descriptions that are safe to make, each with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

from wholebody.errors import RobotWarning
from wholebody.robots import checks, inertia
from wholebody.robots.robot import Joint, Link

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
        lacks_inertia = sum(link.inertia[:3]) <= inertia.NOTHING
        moments = (moment, moment, moment, 0.0, 0.0, 0.0) if lacks_inertia else link.inertia
        mended[link.name] = replace(link, mass=mass, inertia=moments)
        given = f"it gets {mass:g} kg and {moment:g} kg·m²"
        _warn(f"link '{link.name}', moved by joint '{joint.name}', had no {what}; {given}")
    return tuple(mended[link.name] for link in links)


def _physical(link: Link) -> Link:
    fault = inertia.fault(link.inertia_matrix)
    if fault is None:
        return link
    _warn(f"link '{link.name}' had an inertia that no body has: {fault}; the nearest one that exists is taken")
    near = inertia.nearest(link.inertia_matrix)
    sixfold = tuple(float(near[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
    return replace(link, inertia=sixfold)


def _warn(text: str) -> None:
    warnings.warn(text, RobotWarning, stacklevel=6)
