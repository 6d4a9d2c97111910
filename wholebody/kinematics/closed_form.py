"""Closed-form inverse kinematics: a pose to all joint vectors that reach it, in microseconds.

leg = ClosedForm.of(robots.load("hubo2plus"), "Body_Hip", "left_sole")
leg.solve(sole_to_hip).joints                  # up to eight rows of six
leg.nearest(sole_to_hip, to=q).joints          # within limits: the nearest to a posture, or else to the pose
leg.solve_many(poses).joints                   # (n, 8, 6), one call for all
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wholebody import _kernels
from wholebody.errors import BadGoal, BadState
from wholebody.kinematics import chains
from wholebody.model.layout import Array
from wholebody.robots.robot import Robot

ARRIVED = 1e-8  # m, rad
REACHED = 1e-9  # m: nearer than that is there
AFTER_NEAREST = 18  # numbers of an answer after its joints: the pose they reach, m and rad from the goal
Booleans = npt.NDArray[np.bool_]
Pose = npt.ArrayLike


class Solutions(NamedTuple):
    """The joint vectors that reach a pose, or come nearest to it.

    If the goal is reachable, every row reaches it. If not, every row leads to the nearest pose: the goal moved until it
    is in reach, orientation kept (see ClosedForm).
    """

    table: Array  # joints, within limits or not, m, rad: a row per branch

    @property
    def joints(self) -> Array:
        """One row per branch, from the base to the tip; none if limits were asked for and no branch keeps them."""
        return self.table[:, :-3]

    @property
    def within_limits(self) -> Booleans:
        """Whether all joints of a branch are within their limits."""
        within: Booleans = self.table[:, -3] != 0.0
        return within

    @property
    def reachable(self) -> bool:
        """Whether the rows reach the goal's position, to 1e-9 m; with six joints, its orientation too."""
        return len(self.table) > 0 and self.distance <= REACHED

    @property
    def distance(self) -> float:
        """How far the tip stays from the goal, in m; NaN if there is no row."""
        return float(self.table[0, -2]) if len(self.table) else np.nan

    @property
    def turns(self) -> Array:
        """How far each row's orientation is from the goal's, in rad: zero with six joints."""
        return self.table[:, -1]


class Nearest(NamedTuple):
    """Joints within the limits, the pose they reach, and how far that is from the goal."""

    joints: Array
    pose: Array  # tip to base, 4 × 4
    distance: float  # m
    turn: float  # rad

    @property
    def reachable(self) -> bool:
        """Whether it reaches the goal's position, to 1e-8 m, and if it has six joints, its orientation."""
        return self.distance <= ARRIVED and (self.turn <= ARRIVED or len(self.joints) < 6)


class ManySolutions(NamedTuple):
    """The solutions of many poses; places without a branch are NaN."""

    table: Array  # (poses, branches, joints + 3)
    counts: npt.NDArray[np.int64]

    @property
    def joints(self) -> Array:
        """(poses, branches, joints)."""
        return self.table[:, :, :-3]

    @property
    def within_limits(self) -> Booleans:
        """(poses, branches)."""
        within: Booleans = self.table[:, :, -3] == 1.0
        return within

    @property
    def reachable(self) -> Booleans:
        """Of each pose."""
        return self.distance <= REACHED

    @property
    def distance(self) -> Array:
        """How far the tip stays from each goal, in m."""
        return self.table[:, 0, -2]

    @property
    def turns(self) -> Array:
        """(poses, branches): rad from the goal's orientation."""
        return self.table[:, :, -1]

    def __getitem__(self, index: int) -> Solutions:  # type: ignore[override]
        """The solutions of one pose."""
        return Solutions(self.table[index, : self.counts[index]])


class ClosedForm:
    """All joint vectors of a leg or arm for a pose of its tip, by formulas; made once with `ClosedForm.of`.

    Six joints: three at one end that meet in a point, each perpendicular to the next (hip, shoulder, wrist), and
    three others of which two neighbours are parallel (knee and ankle) or meet (a wrist): up to eight branches.
    Four or five joints: a spherical shoulder, an elbow, and perhaps a last joint whose axis goes through the tip:
    up to four branches, which reach the position and turn as near to the orientation as can be, or as `swivel` says.

    Poses are tip_to_base, 4 × 4. Joints are in the order of `joint_names`, from the base to the tip.

    Singular: with the first and third axis of the hip or shoulder in line, the first of them (the last, if the
    spherical end is at the tip) keeps the value it has in `to`, or else the value nearest to zero within its limits;
    with C on the axis of a joint of the pair (a straight arm: shoulder yaw and wrist yaw in line) that joint does. A
    straight knee or elbow, to 1e-7 rad, is one branch, not two.

    Unreachable: the goal is moved, orientation kept, to the nearest position in reach. For legs whose ankle axes meet,
    and for arms whose elbow, forearm and wrist are perpendicular, there is no nearer pose of that orientation; with
    other shapes, and within the inner bounds (folded up), the answer is near but not proven nearest. The distance is
    always the true one. Limits do not count there. `nearest` keeps them, and gives up orientation as well as position.
    """

    def __init__(self, chain: chains.Chain) -> None:
        self.chain = chain
        self.joint_names = chain.joint_names
        numbers = chains.closed_form_numbers(chain)
        self.size = numbers.joints
        self.radian = numbers.radian
        self.handle = _kernels.kinematics_closed_form(numbers.packed)
        self._branches = chains.BRANCHES[self.size]
        self._shape = (self._branches, self.size + 3)
        self._rest = numbers.rest[: self.size].copy()

    @classmethod
    def of(cls, robot: Robot, base: str, tip: str) -> ClosedForm:
        """The chain between two frames (links, surfaces, sensors); NoClosedForm says why if it has none."""
        return cls(chains.chain(robot, base, tip))

    def __repr__(self) -> str:
        """Name and joints."""
        return f"<ClosedForm of {self.chain.name}: {', '.join(self.joint_names)}>"

    def forward(self, joints: npt.ArrayLike) -> Array:
        """Where the tip stands in the base: a 4 × 4 matrix, or (n, 4, 4) for n rows of joints."""
        rows = np.ascontiguousarray(joints, np.float64)
        if rows.ndim not in (1, 2) or rows.shape[-1] != self.size:
            raise BadState(f"{self.chain.name}: {self.size} joints in a row, or rows of them, not {rows.shape}")
        poses = np.empty((rows.size // self.size, 4, 4))
        _kernels.kinematics_forward(self.handle, rows, poses)
        return poses if rows.ndim == 2 else poses[0]

    def solve(self, pose: Pose, *, limits: bool = False, swivel: float | None = None) -> Solutions:
        """All branches; with limits, only those within the joints' limits.

        swivel (4 or 5 joints): the angle in rad of the elbow about the line from shoulder to goal, from hanging down.
        """
        table = np.empty(self._shape)
        angle = np.nan if swivel is None else self._swivel(swivel)
        try:
            count = _kernels.kinematics_solve(self.handle, pose, angle, limits, table)
        except ValueError:  # an array laid out differently, or none
            count = _kernels.kinematics_solve(self.handle, self._matrix(pose), angle, limits, table)
        if count == self._branches:
            return Solutions(table)
        if count < 0:
            raise self._bad(pose)
        return Solutions(table[:count])

    def nearest(
        self, pose: Pose, to: npt.ArrayLike | None = None, *, swivel: float | None = None, radian: float | None = None
    ) -> Nearest:
        """The joints within limits that come nearest to a pose; of several that reach it, those nearest to a posture.

        If none reaches it: least √(distance² + (radian · turn)²), found from every branch (see closed_form_nearest.c).
        radian: how many metres a radian counts; half the chain's length, and with four or five joints, whose
        orientation is never theirs to choose, a hundredth of it. A swivel is kept as long as limits and reach allow it.
        """
        posture = self._rest if to is None else self._vector(to)
        angle = np.nan if swivel is None else self._swivel(swivel)
        counts = self.radian if radian is None else self._metres(radian)
        answer = np.empty(self.size + AFTER_NEAREST)
        wrong = _kernels.kinematics_nearest(self.handle, self._matrix(pose), posture, angle, counts, answer)
        if wrong:
            raise self._bad(pose) if wrong == -1 else self._not_finite(posture)
        distance, turn = answer[-2:].tolist()
        return Nearest(answer[: self.size], answer[self.size : -2].reshape(4, 4), distance, turn)

    def solve_many(self, poses: Pose) -> ManySolutions:
        """All branches of many poses, (n, 4, 4), in one call."""
        goals = self._matrices(poses)
        table = np.empty((len(goals), *self._shape))
        counts = np.empty(len(goals), np.int64)
        bad = _kernels.kinematics_solve_many(self.handle, goals, table, counts)
        if bad >= 0:
            raise self._bad(goals[bad], f"row {bad}: ")
        return ManySolutions(table, counts)

    # --- at the door -------------------------------------------------------------------------------

    def _matrix(self, pose: Pose) -> Array:
        if type(pose) is np.ndarray and pose.shape == (4, 4) and pose.dtype == np.float64 and pose.flags.c_contiguous:
            return pose
        array = _floats(pose)
        if array.shape != (4, 4):
            raise BadGoal(f"a pose is a 4 × 4 matrix, not one of shape {array.shape}")
        return array

    def _matrices(self, poses: Pose) -> Array:
        array = _floats(poses)
        if array.ndim != 3 or array.shape[1:] != (4, 4):
            raise BadGoal(f"poses have the shape (n, 4, 4), not {array.shape}")
        return array

    def _vector(self, joints: npt.ArrayLike) -> Array:
        if (
            type(joints) is np.ndarray
            and joints.shape == (self.size,)
            and joints.dtype == float
            and joints.flags.c_contiguous
        ):
            return joints
        array = np.ascontiguousarray(joints, np.float64)
        if array.shape != (self.size,):
            raise BadState(
                f"{self.chain.name}: not {self.size} joints but {array.shape}: {', '.join(self.joint_names)}"
            )
        return array

    def _not_finite(self, joints: Array) -> BadState:
        return BadState(f"{self.chain.name}: a joint is not finite: {joints.tolist()}")

    def _swivel(self, angle: float) -> float:
        if self.size == 6:
            raise BadGoal(f"{self.chain.name} has six joints: its pose leaves no swivel to choose")
        if not np.isfinite(angle):
            raise BadGoal(f"the swivel is {angle}; it is an angle in rad")
        return float(angle)

    def _metres(self, radian: float) -> float:
        if not (np.isfinite(radian) and radian > 0):
            raise BadGoal(f"a radian counts {radian} m; it is a positive number of metres, such as {self.radian:.2g}")
        return float(radian)

    def _bad(self, pose: Pose, where: str = "") -> BadGoal:
        matrix = self._matrix(pose)
        if not np.isfinite(matrix).all():
            return BadGoal(f"{where}the goal has values that are not finite: {matrix.tolist()}")
        if np.abs(matrix[3] - (0, 0, 0, 1)).max() > 1e-6:
            return BadGoal(f"{where}the last row of a pose is 0 0 0 1, not {matrix[3].tolist()}")
        R = matrix[:3, :3]
        off, det = np.abs(R.T @ R - np.eye(3)).max(), np.linalg.det(R)
        return BadGoal(
            f"{where}the goal is no rotation: RᵀR is off the identity by {off:.2g}, its determinant is {det:.4g}"
        )


def _floats(values: npt.ArrayLike) -> Array:
    try:
        return np.ascontiguousarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise BadGoal(f"a pose is a 4 × 4 matrix of numbers: {error}") from None
