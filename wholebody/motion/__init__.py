"""Movement: trajectories, on-line and optimal profiles, key frames, trajectory files, teaching."""

from wholebody.motion.joint_table import JointTable
from wholebody.motion.keyframes import KeyFrame, KeyFrames
from wholebody.motion.limits import CollisionChecker, Limits, Violation
from wholebody.motion.optimal import jerk_limited, slowed, time_optimal
from wholebody.motion.playback import Plan, Played, Teacher, plan, play
from wholebody.motion.plot import plot
from wholebody.motion.profile import OnlineProfile
from wholebody.motion.splines import (
    NATURAL,
    REST,
    STOP,
    End,
    PoseTrajectory,
    cubic,
    monotone,
    quartic,
    quintic,
    via_cubic,
)
from wholebody.motion.trajectory import PiecewisePolynomial, Sample, Trajectory

__all__ = [
    "NATURAL",
    "REST",
    "STOP",
    "CollisionChecker",
    "End",
    "JointTable",
    "KeyFrame",
    "KeyFrames",
    "Limits",
    "OnlineProfile",
    "PiecewisePolynomial",
    "Plan",
    "Played",
    "PoseTrajectory",
    "Sample",
    "Teacher",
    "Trajectory",
    "Violation",
    "cubic",
    "jerk_limited",
    "monotone",
    "plan",
    "play",
    "plot",
    "quartic",
    "quintic",
    "slowed",
    "time_optimal",
    "via_cubic",
]
