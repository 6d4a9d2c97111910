"""What all contacts of a problem can bear, laid out for the kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from wholebody.constraints import Constraint, FlatContact, LineContact, PointContact
from wholebody.control.friction import ContactRows, line_rows, point_rows, sole_rows
from wholebody.control.problem import Problem
from wholebody.model.layout import Array, Integers
from wholebody.model.model import Model
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
