"""Imitator: configurations of a robot whose limbs and centre of mass are where a plan wants them, instant by instant.

Limbs that bear are weighted above limbs that fly; the centre of mass has two rows, its height is free (Crawl, Eq.
4.12–4.14). The base is free, so the limbs that bear are the root of all, weighted alike, and the centre of mass moves
with respect to them. Feet are as high behind their knees as in the robot's own posture, and a bit more. In what is left
free, joints stay near to that posture. Without CoM rows the trunk goes where the centre of mass would be.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter1d

from wholebody.errors import BadMotion
from wholebody.kinematics.inverse import InverseKinematics
from wholebody.model.model import Model
from wholebody.model.support import SupportPolygon
from wholebody.motion.capture.gait import Flags
from wholebody.motion.capture.limbs import ImitatingLimb, moving_joints
from wholebody.motion.trajectory import Array
from wholebody.tasks import CartesianPositionTask, CenterOfMassTask

Progress = Callable[[float], None]

BEARS, FLIES, COM, BEHIND = 100.0, 50.0, 50.0, 5.0
"""Weights of the tasks, per m²."""

TOLERANCE = 1e-5
"""Metres: coarser ones make joints tremble from row to row."""

OFF_GROUND = 0.03
"""Metres by which feet are higher than in the robot's own posture, so that knees bear."""


class Imitator:
    """Solves one instant after the other, each from the one before.

    home is a configuration on the ground, near to which joints stay.
    """

    def __init__(self, model: Model, limbs: tuple[ImitatingLimb, ...], home: Array, with_com: bool = True) -> None:
        self.model, self.limbs, self.home, self._with_com = model, limbs, home, with_com
        at = model.at(home)
        self._frames = [model.frame(limb.frame) for limb in limbs]
        self._corners = [np.array(limb.points) for limb in limbs]
        self._joints = moving_joints(model.robot, limbs)
        self._behind = {
            limb.part: max(float(at.position(model.frame(limb.behind))[2]), 0.0) + OFF_GROUND
            for limb in limbs
            if limb.behind
        }
        self._trunk_from_com = at.position(0)[:2] - at.com_in_world[:2]
        self._limbs = [CartesianPositionTask(limb.frame, limb.frame, 0.0) for limb in limbs]
        self._knees = {
            limb.part: CartesianPositionTask(limb.behind, limb.behind, 0.0, axes="z") for limb in limbs if limb.behind
        }
        root = model.robot.root
        self._balance = (
            CenterOfMassTask("com", 0.0, axes="xy") if with_com else CartesianPositionTask("com", root, 0.0, axes="xy")
        )
        self._solvers: dict[tuple[tuple[bool, ...], bool], InverseKinematics] = {}

    def solve(self, q: Array, places: Array, bearing: tuple[bool, ...], com: Array, homing: bool = True) -> Array:
        """The configuration near q with limbs at places (over the ground) and the centre of mass at com (x y).

        homing: in what that leaves free, near to home; without, near to q.
        """
        if (bearing, homing) not in self._solvers:
            self._solvers[bearing, homing] = self._solver(bearing, homing)
        for task, target in zip(self._limbs, self.targets(places, q), strict=True):
            task.goal = target
        for limb, place in zip(self.limbs, places, strict=True):
            if limb.behind:
                self._knees[limb.part].goal[2] = self._behind[limb.part] + place[2]
        self._balance.goal[:2] = com if self._with_com else com + self._trunk_from_com
        return self._solvers[bearing, homing].solve(q).q

    def targets(self, places: Array, q: Array) -> Array:
        """Where the frames of the limbs are to be when limbs are at places over the ground, turned as they are at q.

        What is tilted stands on its lowest corner.
        """
        at, result = self.model.at(q), places.copy()
        for index, (frame, points) in enumerate(zip(self._frames, self._corners, strict=True)):
            result[index, 2] -= (points @ at.placement(frame)[2, :3]).min()
        return np.asarray(result)

    def follow(self, q: Array, places: Array, bearing: Flags, com: Array, progress: Progress | None = None) -> Array:
        """Configurations (rows × nq) for rows of places (limbs × 3), of which bear, and of centres of mass."""
        found = np.empty((len(places), self.model.nq))
        for row in range(len(places)):
            q = self.solve(q, places[row], tuple(map(bool, bearing[row])), com[row])
            found[row] = q
            if progress is not None:
                progress((row + 1) / len(places))
        return found

    def smoothed(self, q: Array, places: Array, bearing: Flags, com: Array, rows: float, stride: float) -> Array:
        """The same configurations, without what is faster than some rows; limbs and centre of mass stay where they are.

        stride: how far along x the motion begins anew after its last row, which is the first of the next; 0: it ends.
        """
        drift = np.linspace(0.0, 1.0, len(q))[:, None] * (stride, *np.zeros(self.model.nq - 1))
        once = q - drift
        if stride:
            calm = gaussian_filter1d(once[:-1], rows, axis=0, mode="wrap")
            calm = np.vstack([calm, calm[:1]])
        else:
            calm = gaussian_filter1d(once, rows, axis=0, mode="nearest")
        calm += drift
        calm[:, 3:7] /= np.linalg.norm(calm[:, 3:7], axis=1, keepdims=True)
        flags = [tuple(map(bool, row)) for row in bearing]
        return np.array([self.solve(*each, homing=False) for each in zip(calm, places, flags, com, strict=True)])

    def _solver(self, bearing: tuple[bool, ...], homing: bool) -> InverseKinematics:
        weights = {task.name: BEARS if bears else FLIES for task, bears in zip(self._limbs, bearing, strict=True)}
        weights |= {knee.name: BEHIND for knee in self._knees.values()} | {self._balance.name: COM}
        return InverseKinematics(
            self.model,
            [*self._limbs, *self._knees.values(), self._balance],
            fixed=None,
            weights=weights,
            joints=self._joints,
            home=self.home if homing else None,
            max_iterations=25,
            locality=0.2,
            position_tolerance=TOLERANCE,
        )


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
