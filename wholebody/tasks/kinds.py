"""The kinds of tasks the kernels know, and how a task describes itself to them."""

from __future__ import annotations

from dataclasses import dataclass

CUSTOM, JOINT_POSITION, POSITION, ORIENTATION_2D, ORIENTATION_3D, POSE = 0, 1, 2, 3, 4, 5
CENTER_OF_MASS, MOMENTUM, EXTERNAL_FORCE, JOINT_LIMITS = 6, 7, 8, 9
CENTER_OF_PRESSURE, INTERNAL_FORCE, CONTACT_FORCE = 20, 21, 22
FIRST_OF_CONTACTS = CENTER_OF_PRESSURE
"""Kinds from here on say something about the forces of contacts, and nothing about motion."""

ERROR_LIMIT_OF_FRAMES = 1.0
"""m or rad: the limit of the error of what moves or turns in space, unless told."""

UNLIMITED = 1e9
"""The limit of what has none."""


@dataclass(frozen=True)
class Description:
    """What a kernel must know of a task besides its numbers: all of it fixed."""

    kind: int
    frame: int = -1
    reference: int = -1  # the frame it is measured in; −1 is the world
    mask: int = 0  # a bit for each axis that counts
    joints: tuple[int, ...] = ()  # columns of v
    contacts: tuple[str, ...] = ()  # names of constraints


AXES = {"x": 1, "y": 2, "z": 4}


def axes_mask(axes: str) -> int:
    """The bits of axes such as "xy"; 0 if they are none."""
    return sum(AXES.get(axis, 0) for axis in set(axes)) if set(axes) <= set(AXES) and axes else 0
