"""Where the centre of mass is to be above contacts: inside their polygon by a margin, and near to where it would be."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadMotion
from wholebody.model.support import SupportPolygon
from wholebody.motion.trajectory import Array


def within(points_in_world: npt.ArrayLike, wish: npt.ArrayLike, margin: float) -> Array:
    """The point (x, y) nearest to a wish that is a margin inside the polygon of points of contact (k × 3).

    Where the polygon is too narrow for the margin, the point that is farthest inside it.
    """
    corners = SupportPolygon.of(points_in_world).corners
    if len(corners) < 3:
        return np.asarray(corners.mean(axis=0))
    normals, bounds = _half_planes(corners)
    wanted = np.array(wish, np.float64)[:2]
    if not np.isfinite(wanted).all() or not np.isfinite(margin):
        raise BadMotion(f"the centre of mass is wished at {wanted}, {margin} m inside; these must be numbers")
    found = _candidates(normals, bounds - margin, wanted)
    if not found:
        return deepest(corners)
    return min(found, key=lambda point: float(np.linalg.norm(point - wanted)))


def deepest(corners: Array) -> Array:
    """The point (x, y) of a convex polygon, counter-clockwise, that is farthest from its nearest edge."""
    normals, bounds = _half_planes(corners)
    best, depth = corners.mean(axis=0), -np.inf
    for three in combinations(range(len(normals)), 3):
        rows = list(three)
        matrix = np.column_stack([normals[rows], np.ones(3)])
        if abs(np.linalg.det(matrix)) < 1e-12:
            continue
        x, y, inside = np.linalg.solve(matrix, bounds[rows])
        if inside > depth and (normals @ (x, y) + inside <= bounds + 1e-9).all():
            best, depth = np.array([x, y]), inside
    return np.asarray(best)


def _half_planes(corners: Array) -> tuple[Array, Array]:
    """n · x ≤ b of each edge, with unit normals that point outwards."""
    edges = np.roll(corners, -1, axis=0) - corners
    normals = np.column_stack([edges[:, 1], -edges[:, 0]])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return normals, np.einsum("ij,ij->i", normals, corners)


def _candidates(normals: Array, bounds: Array, wish: Array) -> list[Array]:
    """The wish, its feet on the edges and the corners, as far as they are inside of all edges."""
    points = [wish, *(wish - (n @ wish - b) * n for n, b in zip(normals, bounds, strict=True))]
    for i, j in combinations(range(len(normals)), 2):
        pair = normals[[i, j]]
        if abs(np.linalg.det(pair)) > 1e-9:
            points.append(np.linalg.solve(pair, bounds[[i, j]]))
    return [point for point in points if (normals @ point <= bounds + 1e-9).all()]
