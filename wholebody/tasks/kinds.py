"""The kinds of tasks the kernels know, how a task describes itself to them, and the columns they fill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from wholebody.model.layout import Array, Integers

CUSTOM, JOINT_POSITION, POSITION, ORIENTATION_2D, ORIENTATION_3D, POSE = 0, 1, 2, 3, 4, 5
CENTER_OF_MASS, MOMENTUM, EXTERNAL_FORCE, JOINT_LIMITS = 6, 7, 8, 9
CENTER_OF_PRESSURE, INTERNAL_FORCE, CONTACT_FORCE = 20, 21, 22
FIRST_OF_CONTACTS = CENTER_OF_PRESSURE
"""Kinds from here on say something about the forces of contacts, and nothing about motion."""

INTEGRAL_LIMIT, ERROR_LIMIT, GAINS = 1, 2, 3
"""Where in a task's numbers, after its state, the limits stand, and where the parameters of each row begin."""

ERROR_LIMIT_OF_FRAMES = 1.0
"""m or rad: the limit of the error of what moves or turns in space, unless told."""

UNLIMITED = 1e9
"""The limit of what has none."""

PER_ROW = 6
"""Parameters of each row: stiffness, damping, integral gain, goal velocity, goal acceleration, accumulated error."""


@dataclass(frozen=True)
class Description:
    """What a kernel must know of a task besides its numbers: all of it fixed."""

    kind: int
    frame: int = -1
    reference: int = -1  # the frame it is measured in; −1 is the world
    mask: int = 0  # a bit for each axis that counts
    joints: tuple[int, ...] = ()  # columns of v
    contacts: tuple[str, ...] = ()  # names of constraints


class Columns(NamedTuple):
    """Where a task's rows go: Jacobians as columns of one wide matrix, the rest as vectors alongside."""

    J: Array  # nv × all rows: Jᵀ
    error: Array
    velocity: Array
    bias: Array  # J̇ v
    source: Integers  # the row of the task that this is, which tells its gains
    activation: Array  # from 0, where a row comes or goes, to 1, where it counts in full
    B: Array  # 6 × 6: memory for the rows of one frame


AXES = {"x": 1, "y": 2, "z": 4}


def axes_mask(axes: str) -> int:
    """The bits of axes such as "xy"; 0 if they are none."""
    return sum(AXES.get(axis, 0) for axis in set(axes)) if set(axes) <= set(AXES) and axes else 0


def axes_index(axes: str) -> list[int]:
    """The rows of axes such as "xy"."""
    return ["xyz".index(axis) for axis in sorted(set(axes))]
