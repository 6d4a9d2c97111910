"""What a contact can bear: rows on its wrench that must not be negative, C · wrench ≥ least.

The wrench (force, then torque) is that of the world on the robot at the origin of the contact's frame, in axes whose z
points from what is touched into the robot. A force f at a corner of the sole stays in a pyramid inside the friction
cone, |fx|, |fy| ≤ k fz with k = μ / √2. What the corners can do together is known row by row:

    not to pull        fz ≥ least
    not to slip        k fz ± fx ≥ 0,  k fz ± fy ≥ 0
    not to tip         the centre of pressure (−my, mx) / fz on the inner side of every edge
    not to spin        −k(X + Y) fz + |Y fx − k mx| + |X fy − k my| ≤ mz ≤ k(X + Y) fz − |Y fx + k mx| − |X fy + k my|

for a rectangle of 2X by 2Y about the origin; written out without | |, the last line has eight rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, NamedTuple, get_args

import numpy as np

from wholebody.errors import BadProblem
from wholebody.model.layout import Array
from wholebody.parameters.parameter import Bounds, Parameter

Outline = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class ContactRows:
    """C · wrench ≥ least; `names` says of each row what it keeps the contact from."""

    matrix: Array  # rows × 6
    least: Array
    names: tuple[str, ...]

    def __add__(self, other: ContactRows) -> ContactRows:
        """Both."""
        matrix, least = np.vstack([self.matrix, other.matrix]), np.concatenate([self.least, other.least])
        return ContactRows(matrix, least, self.names + other.names)


def point_rows(friction: float, least_force: float) -> ContactRows:
    """Of a contact at a point: not to pull, not to slip."""
    k = friction / np.sqrt(2.0)
    matrix = np.zeros((5, 6))
    matrix[:, 2] = 1.0, k, k, k, k
    matrix[1:3, 0] = 1.0, -1.0
    matrix[3:5, 1] = 1.0, -1.0
    return ContactRows(matrix, np.array([least_force, 0.0, 0.0, 0.0, 0.0]), ("pull",) + ("slip",) * 4)


def line_rows(friction: float, least_force: float, outline: Outline, axis: Array, point: Array) -> ContactRows:
    """Of an edge: as at a point, and the centre of pressure between the ends of the edge.

    s fz with s along the edge t, at the height of the contact, has the torque −s fz (z × t) about its point.
    """
    z = np.array([0.0, 0.0, 1.0])
    corners = np.column_stack([np.array(outline), np.zeros(len(outline))]) - point
    along = corners @ axis
    across = np.cross(z, axis)
    ends = np.zeros((2, 6))
    ends[0, 2], ends[0, 3:] = along.max(), across
    ends[1, 2], ends[1, 3:] = -along.min(), -across
    return point_rows(friction, least_force) + ContactRows(ends, np.zeros(2), ("tip",) * 2)


def sole_rows(friction: float, least_force: float, outline: Outline, inset: float) -> ContactRows:
    """Of a sole, with its centre of pressure kept away from the outline by `inset`."""
    corners = np.array(outline, float)
    return point_rows(friction, least_force) + _tip_rows(corners, inset) + _spin_rows(friction / np.sqrt(2.0), corners)


def _tip_rows(corners: Array, inset: float) -> ContactRows:
    """n · (p − corner) ≥ inset with the inner normal n of each edge, times fz."""
    rows = []
    turned = np.sign(_area(corners))
    for corner, following in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        edge = (following - corner) * turned
        length = np.linalg.norm(edge)
        if length > 1e-9:
            nx, ny = -edge[1] / length, edge[0] / length
            rows.append([0.0, 0.0, -(nx * corner[0] + ny * corner[1]) - inset, ny, -nx, 0.0])
    matrix = np.array(rows).reshape(-1, 6)
    centre = corners.mean(axis=0)
    if len(matrix) < 3 or np.any(matrix[:, 2] + matrix[:, 3] * centre[1] - matrix[:, 4] * centre[0] <= 0):
        raise BadProblem(f"a sole with corners {corners.tolist()} has no inside left at {inset} m from its outline")
    return ContactRows(matrix, np.zeros(len(matrix)), ("tip",) * len(matrix))


def _spin_rows(k: float, corners: Array) -> ContactRows:
    """The torque about z, for a rectangle inside the outline; it may stand beside the origin."""
    low, high = corners.min(axis=0), corners.max(axis=0)
    centre, half = (low + high) / 2, (high - low) / 2
    while not all(_inside(corners, centre + half * signs) for signs in product((-1, 1), repeat=2)):
        half = half * 0.98
    x, y = half
    cx, cy = centre
    # The wrench about the centre: m − c × f.
    shift = np.eye(6)
    shift[3:, :3] = -np.array([[0.0, 0.0, cy], [0.0, 0.0, -cx], [-cy, cx, 0.0]])
    rows = [
        [a * y * sign, b * x * sign, k * (x + y), -a * k, -b * k, sign]
        for sign in (1.0, -1.0)
        for a, b in product((1.0, -1.0), repeat=2)
    ]
    return ContactRows(np.array(rows) @ shift, np.zeros(8), ("spin",) * 8)


def _area(corners: Array) -> float:
    x, y = corners.T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


def _inside(corners: Array, point: Array) -> bool:
    turned = np.sign(_area(corners))
    edges = np.roll(corners, -1, axis=0) - corners
    to = point - corners
    return bool(np.all(turned * (edges[:, 0] * to[:, 1] - edges[:, 1] * to[:, 0]) >= -1e-12))


Feedback = Literal["none", "damping", "position"]
DAMPING, STIFFNESS = 10.0, 400.0
"""1/s on measured states, and 1/s² where positions count."""

PARAMETERS = {
    "contact_damping": Parameter("contact_damping", "1/s", Bounds(0, 1e4), None),
    "contact_stiffness": Parameter("contact_stiffness", "1/s²", Bounds(0, 1e8), None),
}


class ContactGains(NamedTuple):
    """kd in 1/s and kp in 1/s²."""

    damping: float
    stiffness: float


def contact_gains(feedback: Feedback, damping: float | None, stiffness: float | None, period: float) -> ContactGains:
    """The gains of a kind of feedback; without a damping given 10/s, or 2 √kp where positions count."""
    if feedback not in get_args(Feedback):
        raise BadProblem(f"contact_feedback is {' or '.join(get_args(Feedback))}, not {feedback!r}")
    if feedback == "none":
        if damping or stiffness:
            raise BadProblem("contact_feedback 'none' has no gains; leave contact_damping and contact_stiffness out")
        return ContactGains(0.0, 0.0)
    if feedback == "damping" and stiffness:
        raise BadProblem("contact_feedback 'damping' has no stiffness; 'position' has")
    kp = 0.0 if feedback == "damping" else STIFFNESS if stiffness is None else stiffness
    if not 0 <= kp <= period**-2:
        raise BadProblem(f"contact_stiffness must be from 0 to {period**-2:g}/s², one a period squared, not {kp}")
    kd = damping if damping is not None else DAMPING if feedback == "damping" else 2.0 * math.sqrt(kp)
    if not 0 <= kd <= 1.0 / period:
        raise BadProblem(f"contact_damping must be from 0 to {1.0 / period:g}/s, one a period, not {kd}")
    return ContactGains(kd, kp)
