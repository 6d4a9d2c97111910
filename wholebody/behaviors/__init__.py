"""What the robot can do: behaviours that write references."""
