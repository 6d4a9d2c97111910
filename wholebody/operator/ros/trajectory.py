"""JointMotion: a JointTrajectory of ROS as a motion of a robot's joints, checked before anything moves.

As ros2_control does: points with positions alone are joined by lines, with velocities by cubics, with accelerations by
quintics. What it would command in every period is within the limits that the daemon's gate keeps, or it is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wholebody.errors import BadTrajectory, closest
from wholebody.motion.limits import Limits
from wholebody.motion.trajectory import Array, PiecewisePolynomial, Sample, steps
from wholebody.ros.standard import JointTrajectory

INVALID_GOAL, INVALID_JOINTS, OLD_STAMP = -1, -2, -3
"""Error codes of FollowJointTrajectory."""
MOST_POINTS = 10_000
LONGEST = 3600.0
"""s"""
SLACK = 1e-6
"""As a share of a limit: what rounding to nanoseconds makes of times. Who is so near to one gets as much more time."""


@dataclass(frozen=True, eq=False)
class JointMotion:
    """Positions of some joints over time, from where they were told to be when it began."""

    joints: tuple[str, ...]
    index: Array
    polynomial: PiecewisePolynomial

    @property
    def duration(self) -> float:
        """Seconds."""
        return self.polynomial.duration

    def at(self, time: float) -> Sample:
        """Where the joints are to be, and how fast."""
        return self.polynomial.at(min(time, self.duration))


def joint_motion(
    trajectory: JointTrajectory,
    names: Sequence[str],
    start: Mapping[str, tuple[float, float]],
    limits: Limits,
    period: float,
    late: float = 0.0,
) -> JointMotion:
    """A motion from where joints are told to be (`start`: position and velocity); BadTrajectory says what is wrong.

    late  how long ago (s) the trajectory was to begin: points before that are left out
    """
    joints = tuple(trajectory.joint_names)
    index = _indices(joints, names)
    times, rows = _points(trajectory, joints)
    keep = times >= late
    if not keep.any():
        raise BadTrajectory(f"all of it lies {late - times[-1]:.3f} s in the past; stamp it 0 to begin now", OLD_STAMP)
    times, rows = times[keep] - late, [each[keep] if len(each) else each for each in rows]
    first = np.array([start[joint] for joint in joints]).T
    if times[0] > 0:
        times = np.concatenate([[0.0], times])
        rest = (first[0], first[1], np.zeros(len(joints)))
        rows = [np.vstack([begin, each]) if len(each) else each for begin, each in zip(rest, rows, strict=True)]
    if len(times) == 1:  # one point, at once
        times, rows = np.array([0.0, period]), [np.vstack([each, each]) if len(each) else each for each in rows]
    coefficients = _coefficients(times, *rows)
    motion = JointMotion(joints, index, PiecewisePolynomial(times, coefficients))
    if not _is_at_limit(motion, first[0], _of(limits, index, joints), period):
        return motion
    slower = (1 + 2 * SLACK) ** np.arange(coefficients.shape[1])[None, :, None]
    return JointMotion(joints, index, PiecewisePolynomial(times * (1 + 2 * SLACK), coefficients / slower))


def _indices(joints: tuple[str, ...], names: Sequence[str]) -> Array:
    if not joints:
        raise BadTrajectory("it names no joint; give joint_names", INVALID_JOINTS)
    for joint in joints:
        if joint not in names:
            raise BadTrajectory(f"this robot has no joint '{joint}'{closest(joint, names)}", INVALID_JOINTS)
    if len(set(joints)) < len(joints):
        twice = next(joint for joint in joints if joints.count(joint) > 1)
        raise BadTrajectory(f"joint {twice} is named twice; name it once", INVALID_JOINTS)
    return np.array([list(names).index(joint) for joint in joints])


def _points(trajectory: JointTrajectory, joints: tuple[str, ...]) -> tuple[Array, list[Array]]:
    """Times, and rows of positions, velocities and accelerations; the latter empty if none are given."""
    points = trajectory.points
    if not 0 < len(points) <= MOST_POINTS:
        raise BadTrajectory(f"it has {len(points)} points; give 1 to {MOST_POINTS}", INVALID_GOAL)
    times = np.array([point.time_from_start.seconds for point in points])
    for number, (before, time) in enumerate(zip([-1e-9, *times[:-1]], times, strict=True)):
        if not before < time <= LONGEST:
            raise BadTrajectory(
                f"point {number + 1} comes at {time:g} s, after one at {max(before, 0):g} s; times must "
                f"increase, to at most {LONGEST:g} s",
                INVALID_GOAL,
            )
    rows = [_rows([getattr(point, what) for point in points], what, joints) for what in _QUANTITIES]
    if not len(rows[0]):
        raise BadTrajectory("its points have no positions; give a position for each joint", INVALID_GOAL)
    if len(rows[2]) and not len(rows[1]):
        raise BadTrajectory("it has accelerations without velocities; give both, or neither", INVALID_GOAL)
    return times, rows


_QUANTITIES = ("positions", "velocities", "accelerations")


def _rows(given: list[Array], what: str, joints: tuple[str, ...]) -> Array:
    lengths = [len(each) for each in given]
    if not any(lengths):
        return np.zeros((0, len(joints)))
    for number, length in enumerate(lengths):
        if length != len(joints):
            raise BadTrajectory(
                f"point {number + 1} has {length} {what} for {len(joints)} joints; give one each, or none at all",
                INVALID_GOAL,
            )
    rows = np.array(given, np.float64)
    for row, joint in np.argwhere(~np.isfinite(rows))[:1]:
        raise BadTrajectory(f"point {row + 1}: {what} of joint {joints[joint]} is {rows[row, joint]}", INVALID_GOAL)
    return rows


def _coefficients(times: Array, x: Array, v: Array, a: Array) -> Array:
    """Of each piece, with τ = t − tᵢ from 0 to T: a line, a cubic, or a quintic through its ends."""
    T, d = np.diff(times)[:, None], np.diff(x, axis=0)
    if not len(v):
        return np.stack([x[:-1], d / T], axis=1)
    v0, v1 = v[:-1], v[1:]
    if not len(a):
        return np.stack([x[:-1], v0, (3 * d / T - 2 * v0 - v1) / T, (v0 + v1 - 2 * d / T) / T**2], axis=1)
    a0, a1 = a[:-1], a[1:]
    third = (20 * d - (8 * v1 + 12 * v0) * T - (3 * a0 - a1) * T**2) / (2 * T**3)
    fourth = (-30 * d + (14 * v1 + 16 * v0) * T + (3 * a0 - 2 * a1) * T**2) / (2 * T**4)
    fifth = (12 * d - 6 * (v1 + v0) * T + (a1 - a0) * T**2) / (2 * T**5)
    return np.stack([x[:-1], v0, a0 / 2, third, fourth, fifth], axis=1)


def _of(limits: Limits, index: Array, joints: tuple[str, ...]) -> Limits:
    """The limits of some joints."""
    return Limits.make(
        joints, lower=limits.lower[index], upper=limits.upper[index], velocity=limits.velocity[index] * (1 + SLACK)
    )


def _is_at_limit(motion: JointMotion, begin: Array, limits: Limits, period: float) -> bool:
    """Whether a joint goes as fast as it may; BadTrajectory, with joint, instant and limit, if one goes beyond."""
    times = np.minimum(steps(motion.duration, period), motion.duration)
    positions = motion.polynomial.sample(times).position
    moved = np.diff(np.vstack([begin, positions]), axis=0) / period

    def where(row: int) -> str:
        return f"{times[row]:.3f} s"

    found = [*limits.violations("position", positions, where), *limits.violations("velocity", moved, where)]
    if found:
        remedy = "go less far" if found[0].quantity == "position" else "give it more time"
        raise BadTrajectory(f"{found[0]}; {remedy}", INVALID_GOAL)
    return bool((np.abs(moved) > limits.velocity * (1 - 2 * SLACK)).any())
