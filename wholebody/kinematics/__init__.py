"""From poses to joint angles and back: closed-form legs and arms, iterative inverse kinematics, self-collision."""

from wholebody.kinematics.closed_form import ClosedForm, ManySolutions, Nearest, Solutions
from wholebody.kinematics.collision import Collisions, Touch
from wholebody.kinematics.inverse import GoalError, InverseKinematics, Solution
from wholebody.kinematics.inverse_rates import ResolvedMotion

__all__ = [
    "ClosedForm",
    "Collisions",
    "GoalError",
    "InverseKinematics",
    "ManySolutions",
    "Nearest",
    "ResolvedMotion",
    "Solution",
    "Solutions",
    "Touch",
]
