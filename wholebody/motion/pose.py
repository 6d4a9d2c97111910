"""PoseTrajectory: a smooth motion of a frame through poses, with angular velocity and acceleration."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from wholebody.errors import BadMotion
from wholebody.model.compiled import compiled
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
        self._start = rotations[0].as_matrix()
        self._turns = np.ascontiguousarray(turns)
        self.at(0.0)

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
        position, velocity, acceleration = (np.empty((len(now.time), n)) for n in (7, 6, 6))
        result = (position, velocity, acceleration)
        for value, spline in zip(result, (now.position, now.velocity, now.acceleration), strict=True):
            value[:, :3] = spline[:, :3]
        turn(self._start, self._turns, now.position, now.velocity, now.acceleration, *result)
        return Sample(now.time, *result)


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


@compiled
def turn(
    start: Array,
    turns: Array,
    betas: Array,
    rates: Array,
    second_rates: Array,
    position: Array,
    velocity: Array,
    acceleration: Array,
) -> None:
    """Write quaternion, ω and ω̇ of each row: with A the rotation so far and u = A φᵢ, ω̇ += ω × β̇ᵢu + β̈ᵢu; ω += β̇ᵢu."""
    for row in range(len(betas)):
        A = start.copy()
        w, dw = np.zeros(3), np.zeros(3)
        for i in range(len(turns)):
            u = A @ turns[i]
            b, db, ddb = betas[row, 3 + i], rates[row, 3 + i], second_rates[row, 3 + i]
            dw[0] += ddb * u[0] + db * (w[1] * u[2] - w[2] * u[1])
            dw[1] += ddb * u[1] + db * (w[2] * u[0] - w[0] * u[2])
            dw[2] += ddb * u[2] + db * (w[0] * u[1] - w[1] * u[0])
            w += db * u
            A = A @ _exponential(b * turns[i])
        position[row, 3:] = _quaternion(A)
        velocity[row, 3:] = w
        acceleration[row, 3:] = dw


@compiled
def _exponential(r: Array) -> Array:
    """exp(r) = 1 + (sin θ/θ) [r]× + ((1 − cos θ)/θ²) [r]×²,  θ = |r|."""
    angle = np.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
    half = np.sin(angle / 2) / (angle / 2) if angle > 1e-8 else 1.0
    s, c = np.sin(angle) / angle if angle > 1e-8 else 1.0, half * half / 2
    x, y, z = r
    return np.array(
        [
            [1 - c * (y * y + z * z), c * x * y - s * z, c * x * z + s * y],
            [c * x * y + s * z, 1 - c * (x * x + z * z), c * y * z - s * x],
            [c * x * z - s * y, c * y * z + s * x, 1 - c * (x * x + y * y)],
        ]
    )


@compiled
def _quaternion(R: Array) -> Array:
    """The unit quaternion x y z w of a rotation, from its largest component."""
    q = np.empty(4)
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    i = 0
    for j in range(1, 3):
        if R[j, j] > R[i, i]:
            i = j
    if trace > R[i, i]:
        q[:] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], 1 + trace
    else:
        j, k = (i + 1) % 3, (i + 2) % 3
        q[i] = 1 + 2 * R[i, i] - trace
        q[j], q[k] = R[i, j] + R[j, i], R[i, k] + R[k, i]
        q[3] = R[k, j] - R[j, k]
    q /= np.sqrt(q[0] ** 2 + q[1] ** 2 + q[2] ** 2 + q[3] ** 2)
    return q
