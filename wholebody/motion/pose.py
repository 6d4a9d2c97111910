"""PoseTrajectory: a smooth motion of a frame through poses, with angular velocity and acceleration."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from wholebody import _kernels
from wholebody.errors import BadMotion
from wholebody.motion.splines import Spline, quintic, waypoints
from wholebody.motion.trajectory import Array, Sample, only


class PoseTrajectory:
    """A frame's motion through poses: p(t) = p₀ + Σ βᵢ(t) Δpᵢ,  R(t) = R₀ Πᵢ exp(βᵢ(t) φᵢ),  φᵢ = log(Rᵢᵀ Rᵢ₊₁).

    βᵢ is the spline through 0 at the waypoints up to i, and 1 at those after it. So position is the spline through
    the positions, and rotation goes exactly through the rotations, by the shorter way round, is as smooth as the
    spline, and is the spline of the angle where all turn about one axis.

    poses   one row each: 7 numbers (x y z, quaternion x y z w), or 4 × 4 transforms
    spline  any function of positions and times: cubic, quintic, via_cubic or quartic

    A sample has position (x y z, quaternion x y z w) and velocity and acceleration (linear, then angular, in world).
    """

    def __init__(self, poses: npt.ArrayLike, times: npt.ArrayLike, spline: Spline = quintic) -> None:
        given = _seven_numbers(np.array(poses, np.float64))
        numbers, instants = waypoints(given, times)
        rotations = Rotation.from_quat(numbers[:, 3:])
        turns = (rotations[:-1].inv() * rotations[1:]).as_rotvec()
        after = np.tri(len(instants), len(turns), -1)  # 1 where the waypoint comes after the piece
        self._spline = spline(np.hstack([numbers[:, :3], after]), instants)
        self._start = np.ascontiguousarray(rotations[0].as_matrix())
        self._turns = np.ascontiguousarray(turns)

    @property
    def duration(self) -> float:
        """Seconds from the beginning to the end."""
        return self._spline.duration

    def at(self, time: float) -> Sample:
        """Pose, velocity and acceleration at a time."""
        return only(self.sample((time,)))

    def sample(self, times: npt.ArrayLike) -> Sample:
        """The same at many times: one row for each."""
        now = self._spline.sample(times)
        quaternion, turning, turning_rate = (np.empty((len(now.time), n)) for n in (4, 3, 3))
        _kernels.motion_turn(
            self._start, self._turns, now.position, now.velocity, now.acceleration, quaternion, turning, turning_rate
        )
        pairs = ((now.position, quaternion), (now.velocity, turning), (now.acceleration, turning_rate))
        return Sample(now.time, *(np.hstack([linear[:, :3], angular]) for linear, angular in pairs))


def _seven_numbers(poses: Array) -> Array:
    """Position and unit quaternion of each pose, from either form."""
    if poses.ndim == 3 and poses.shape[1:] == (4, 4):
        for i, pose in enumerate(poses):
            R = pose[:3, :3]
            orthogonal = np.abs(R.T @ R - np.eye(3)).max() < 1e-6 and np.linalg.det(R) > 0
            if not orthogonal or not np.allclose(pose[3], (0.0, 0.0, 0.0, 1.0)):
                raise BadMotion(f"pose {i} is no rotation and translation:\n{pose}")
        return np.hstack([poses[:, :3, 3], Rotation.from_matrix(poses[:, :3, :3]).as_quat()])
    if poses.ndim != 2 or poses.shape[1] != 7:
        raise BadMotion(f"poses are rows of 7 numbers or 4 × 4 transforms, not an array of shape {poses.shape}")
    for i, pose in enumerate(poses):
        length = np.linalg.norm(pose[3:])
        if not abs(length - 1) < 1e-3:
            raise BadMotion(
                f"pose {i} has a quaternion of length {length:.4g}, and only those of length 1 are rotations"
            )
    return poses
