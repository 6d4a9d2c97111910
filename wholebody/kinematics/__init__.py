"""From poses to joint angles and back: closed-form legs and arms, iterative inverse kinematics, self-collision."""

from wholebody.kinematics.closed_form import ClosedForm, ManySolutions, Nearest, Solutions
from wholebody.kinematics.collision import Collisions, Touch, TouchAt
from wholebody.kinematics.inverse import GoalError, InverseKinematics, Solution
from wholebody.kinematics.inverse_goals import ComGoal, Goal, OrientationGoal, PointGoal, PoseGoal
from wholebody.kinematics.inverse_rates import GoalMotion, ResolvedMotion

__all__ = [
    "ClosedForm",
    "Collisions",
    "ComGoal",
    "Goal",
    "GoalError",
    "GoalMotion",
    "InverseKinematics",
    "ManySolutions",
    "Nearest",
    "OrientationGoal",
    "PointGoal",
    "PoseGoal",
    "ResolvedMotion",
    "Solution",
    "Solutions",
    "Touch",
    "TouchAt",
]
