"""What the robot can do: behaviours that write references, and goals by which anybody tells them what to do."""

from wholebody.behaviors.behavior import Behavior, Goal
from wholebody.behaviors.goals import GoalHandle, Goals
from wholebody.behaviors.walking import Walking

__all__ = ["Behavior", "Goal", "GoalHandle", "Goals", "Walking"]
