"""What all contacts of a problem can bear, laid out for the kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import coal
import numpy as np

from wholebody import _kernels
from wholebody._kernels import quadratic_closing_range as closing_range
from wholebody._kernels import quadratic_velocity_range as velocity_range
from wholebody.constraints import Constraint, FlatContact, LineContact, PointContact
from wholebody.control.contact_limits import ContactRows, line_rows, point_rows, sole_rows
from wholebody.control.problem import Problem
from wholebody.control.quadratic.result import Limit
from wholebody.kinematics.collision import Collisions, Solid, solids
from wholebody.model.layout import Array, Integers
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.robots.robot import Surface


@dataclass(frozen=True)
class ContactLimits:
    """Rows C, the least of C · wrench, and the scale; of each contact: constraint, frame, first row, rows."""

    rows: Array  # rows × 8
    contacts: Integers
    names: tuple[tuple[str, str], ...]  # of each row: what it keeps from, which contact


def contact_limits(
    problem: Problem,
    model: Model,
    friction: float | Mapping[str, float],
    least_force: float,
    inset: float,
    limited: bool,
) -> ContactLimits:
    """Collect them. A contact of a frame that is no surface of the robot has no outline.

    Then a flat one or an edge holds in all directions, as a bolt does, and a point has z of the world as its normal.
    """
    rows, contacts, names = [np.zeros((0, 8))], [], []
    surfaces = {each.name: each for each in model.robot.surfaces}
    weight = max(model.total_mass * float(np.linalg.norm(model.gravity)), 1.0)
    at = 0
    for index, each in enumerate(problem.constraints if limited else ()):
        mu = friction.get(each.name, 0.6) if isinstance(friction, Mapping) else friction
        found = _rows_of(each, surfaces, mu, least_force, inset)
        if found is None:
            continue
        count = len(found.matrix)
        lengths = np.where(np.abs(found.matrix[:, 3:]).max(axis=1) > 0, np.abs(found.matrix[:, 2]) + 0.01, 1.0)
        rows.append(np.column_stack([found.matrix, found.least, weight * lengths]))
        frame = model.frame(each.frame) if each.frame in surfaces else -1  # type: ignore[attr-defined]
        contacts.append((index, frame, at, count))
        names += [(what, each.name) for what in found.names]
        at += count
    return ContactLimits(np.vstack(rows), np.array(contacts, np.int64).reshape(-1), tuple(names))


def _rows_of(
    constraint: Constraint, surfaces: Mapping[str, Surface], friction: float, least_force: float, inset: float
) -> ContactRows | None:
    if isinstance(constraint, PointContact):
        return point_rows(friction, least_force)
    if isinstance(constraint, FlatContact) and constraint.frame in surfaces:
        return sole_rows(friction, least_force, surfaces[constraint.frame].outline, inset)
    if isinstance(constraint, LineContact) and constraint.frame in surfaces:
        outline = surfaces[constraint.frame].outline
        return line_rows(friction, least_force, outline, np.array(constraint.axis), np.array(constraint.point))
    return None


ROUND = (coal.Sphere, coal.Capsule)
NOBODY = Limit("distance", "no pair", "m/s²")


class Shapes(NamedTuple):
    """Shapes on frames, and where they are in this cycle: distances.h."""

    at: Array  # shapes × 4 × 4, shape to frame
    axis: Array  # shapes × 3: half the segment, in the shape's axes
    radius: Array  # shapes × 2: of the capsule, and of a sphere about it
    box: Array  # shapes × 3: half the size of a box about it, or zeros for one that is its capsule
    frame: Integers
    rotation: Array  # shapes × 3 × 3, shape to world: written by kernels, as all below
    centre: Array  # shapes × 3, in world
    half: Array  # shapes × 3, half the segment, in world
    velocity: Array  # shapes × 3, of the centre
    spin: Array  # shapes × 3, in world


class Measurement(NamedTuple):
    """Two shapes, and coal's way to measure between them."""

    one: int
    other: int
    of: Any


class Distances:
    """The pairs of shapes that may come too near: d̈ = n · (p̈_other − p̈_one), n from one to the other.

    Pairs of links nearer than the clearance in the robot's own postures, such as fingers, are left out, and in each
    cycle those that stay far enough apart even if they close with SUDDEN in addition. The turning of n itself is not
    counted: between points, it only ever makes the distance grow. A pair keeps its row as long as it is near.
    """

    SUDDEN = 100.0  # m/s²

    def __init__(self, collisions: Collisions, clearance: float, braking: float, period: float, most: int = 32) -> None:
        self.most = most
        self.limits: tuple[Limit, ...] = (NOBODY,) * most
        self._clearance, self._reach = clearance, np.array([clearance, braking, self.SUDDEN, period])
        self._solids = solids(collisions.robot, 1.0 + collisions.margin)
        self._pairs = _pairs(collisions, self._solids, clearance)
        self._shapes = _shapes(collisions, self._solids)
        self._handle = _kernels.quadratic_shapes(self._shapes)
        self._placed = [coal.Transform3s() for _ in self._solids]
        self._near, self._room = np.zeros(len(self._pairs), np.int64), np.zeros(len(self._pairs))
        self._row_of: dict[int, int] = {}  # of each pair that has one
        self._measured: dict[int, Measurement] = {}  # in each row that is taken
        self.gaps, self.frames = np.zeros((most, 10)), np.zeros((most, 2), np.int64)
        self.gaps[:, 9] = np.inf
        self._request, self._result = coal.DistanceRequest(), coal.DistanceResult()

    def update(self, snapshot: Snapshot) -> None:
        """Measure the pairs that are near: to `gaps` and `frames`, which the kernels read."""
        count = _kernels.quadratic_near(self._handle, snapshot.handle, self._pairs, self._reach, self._near, self._room)
        near = self._near[:count]
        if count > self.most:  # those with the least room
            near = near[np.argpartition(self._room[:count], self.most)[: self.most]]
        if count or self._row_of:
            self._give_rows(near.tolist())
            self._measure()

    def _give_rows(self, near: list[int]) -> None:
        """Take back the rows of pairs that are far by now, and give them to those that have come near."""
        gone = [pair for pair in self._row_of if pair not in near]
        come = [pair for pair in near if pair not in self._row_of]
        for pair in gone:
            row = self._row_of.pop(pair)
            self.gaps[row, 9] = np.inf
            del self._measured[row]
        free = [row for row in range(self.most) if row not in self._row_of.values()] if come else []
        for pair, row in zip(come, free, strict=False):
            self._row_of[pair] = row
            self.frames[row] = self._shapes.frame[self._pairs[pair]]
            self._measured[row] = self._measurement(pair)
        if gone or come:
            named = {row: self._name(pair) for pair, row in self._row_of.items()}
            self.limits = tuple(named.get(row, NOBODY) for row in range(self.most))

    def _name(self, pair: int) -> Limit:
        one, other = (self._solids[shape].link for shape in self._pairs[pair])
        return Limit("distance", f"'{one}' and '{other}'", "m/s²")

    def _measurement(self, pair: int) -> Measurement:
        one, other = self._pairs[pair].tolist()
        return Measurement(one, other, coal.ComputeDistance(self._solids[one].geometry, self._solids[other].geometry))

    def _measure(self) -> None:
        """The nearest points of all pairs with a row; what is nearer than the clearance need not come apart."""
        placed, result, least = self._placed, self._result, self._clearance
        for shape in {shape for each in self._measured.values() for shape in each[:2]}:
            placed[shape].setTransform(self._shapes.rotation[shape], self._shapes.centre[shape])
        for row, each in self._measured.items():
            result.clear()
            distance = each.of(placed[each.one], placed[each.other], self._request, result)
            gap = self.gaps[row]
            gap[:3], gap[3:6], gap[6:9] = result.getNearestPoint1(), result.getNearestPoint2(), result.normal
            gap[9] = max(distance, least)


def _pairs(collisions: Collisions, shapes: list[Solid], clearance: float) -> Integers:
    """Pairs of shapes whose links must not touch, and stand apart in all of the robot's own postures."""
    model = collisions.model
    postures = [model.neutral(), *(model.posture(each) for each in model.robot.postures)]
    tight = {frozenset((gap.one, gap.other)) for q in postures for gap in collisions.near(q, clearance)}
    watched = collisions.pairs - tight
    found = [
        (other, one)
        for one in range(len(shapes))
        for other in range(one)
        if frozenset((shapes[one].link, shapes[other].link)) in watched
    ]
    return np.array(found, np.int64).reshape(-1, 2)


def _shapes(collisions: Collisions, shapes: list[Solid]) -> Shapes:
    """Segments and radii of the capsules around shapes, and where they hang."""
    count = len(shapes)
    axis, radius, box = np.zeros((count, 3)), np.zeros((count, 2)), np.zeros((count, 3))
    for index, each in enumerate(shapes):
        if not isinstance(each.geometry, ROUND):
            box[index] = each.half
        along, reach, thick = _capsule_around(each)
        axis[index, along] = reach
        radius[index] = thick, reach + thick
    frames = np.array([collisions.model.frame(each.link) for each in shapes], np.int64)
    at = np.array([each.at for each in shapes]).reshape(-1, 4, 4)
    rotation, centre, half, velocity, spin = (np.zeros((count, *shape)) for shape in ((3, 3), *[(3,)] * 4))
    return Shapes(at, axis, radius, box, frames, rotation, centre, half, velocity, spin)


def _capsule_around(shape: Solid) -> tuple[int, float, float]:
    """Which of the shape's axes it lies along, half its segment, and its radius."""
    half = shape.half
    if isinstance(shape.geometry, coal.Sphere):
        return 2, 0.0, half[0]
    if isinstance(shape.geometry, coal.Capsule):
        return 2, half[2] - half[0], half[0]
    if isinstance(shape.geometry, coal.Cylinder):
        return 2, half[2], half[0]
    longest = int(np.argmax(half))
    return longest, half[longest], float(np.linalg.norm(np.delete(half, longest)))


__all__ = ["closing_range", "velocity_range"]
