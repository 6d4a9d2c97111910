"""Limits: within what the daemon keeps each joint; safe ones where the robot's description says none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wholebody.robots.robot import Joint, Robot

VELOCITY, SLIDING_VELOCITY = 6.0, 1.0
"""rad/s and m/s, of a joint whose description has no velocity limit."""
WEIGHT_AT = 0.5
"""m. A joint without an effort limit gets the torque of the robot's weight so far away; one that slides, the weight."""
GRAVITY = 9.81
FULL_EFFORT_AT = 0.05
"""rad. At this error the stiffness bound of a joint without gains takes all of its effort."""
DAMPING_SHARE = 0.02
"""s. Its damping bound, as a part of that stiffness."""

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Limits:
    """Limits of all joints, SI units; `said` tells which of them the robot's description does not have."""

    lower: Array
    upper: Array
    velocity: Array
    effort: Array
    stiffness: Array
    damping: Array
    said: tuple[str, ...] = field(default=())


def safe_limits(robot: Robot, servo_period: float = 0.0) -> Limits:
    """The limits of a robot, with safe ones for those that it lacks.

    Stiffness and damping are at most the robot's own gains. Where the inertia I of rotor and gear is known, and a joint
    computes its effort once in a servo period T (0: continuously), they are also at most I / (8 T²) and I / (2 T):
    with both, and measurements one period late, such a joint still comes to rest.
    """
    joints = robot.moving
    velocity, effort = np.array([j.velocity for j in joints]), np.array([j.effort for j in joints])
    sliding = np.array([j.kind == "prismatic" for j in joints])
    said = _missing("velocity", joints, velocity, f"{VELOCITY:g} rad/s") + _missing(
        "effort", joints, effort, f"the robot's weight at {WEIGHT_AT:g} m"
    )
    weight = max(robot.mass, 1.0) * GRAVITY
    velocity = np.where(np.isfinite(velocity), velocity, np.where(sliding, SLIDING_VELOCITY, VELOCITY))
    effort = np.where(np.isfinite(effort), effort, np.where(sliding, weight, weight * WEIGHT_AT))
    stiffness, damping = _gains(robot, effort)
    if servo_period > 0:
        inertia = np.array([j.rotor_inertia if j.rotor_inertia > 0 else np.inf for j in joints])
        stiffness = np.minimum(stiffness, inertia / (8 * servo_period**2))
        damping = np.minimum(damping, inertia / (2 * servo_period))
    lower, upper = np.array([(j.lower, j.upper) for j in joints]).T.copy()
    return Limits(lower, upper, velocity, effort, stiffness, damping, said)


def _gains(robot: Robot, effort: Array) -> tuple[Array, Array]:
    """The most stiffness and damping: the robot's own gains; for a joint without, by its effort."""
    own = [robot.gains.get(name) for name in robot.joint_names]
    pairs = [
        (gain.stiffness, gain.damping) if gain else (full / FULL_EFFORT_AT, full / FULL_EFFORT_AT * DAMPING_SHARE)
        for gain, full in zip(own, effort.tolist(), strict=True)
    ]
    stiffness, damping = np.array(pairs).T.copy()
    return stiffness, damping


def _missing(what: str, joints: Sequence[Joint], limit: Array, instead: str) -> tuple[str, ...]:
    names = [joint.name for joint, value in zip(joints, limit, strict=True) if not np.isfinite(value)]
    if not names:
        return ()
    shown = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    return (f"no {what} limit: {shown}; {instead} is taken. Write {what} limits into the robot's YAML or URDF",)
