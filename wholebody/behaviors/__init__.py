"""What the robot can do: behaviours that write references."""

from wholebody.behaviors.walking import Walking

__all__ = ["Walking"]
