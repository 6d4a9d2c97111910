"""What the robot can do: behaviours that write references, and goals by which anybody tells them what to do."""

from typing import TYPE_CHECKING, Any

from wholebody.behaviors.behavior import Behavior, Goal, GoalHandle, Goals

if TYPE_CHECKING:
    from wholebody.behaviors.walking import Walking

__all__ = ["Behavior", "Goal", "GoalHandle", "Goals", "Walking"]


def __getattr__(name: str) -> Any:
    """Walking, imported when it is asked for: who gives goals does without its mathematics."""
    if name != "Walking":
        raise AttributeError(f"module 'wholebody.behaviors' has no attribute '{name}'")
    from wholebody.behaviors.walking import Walking

    return Walking
