"""The process that owns the robot: newest references in, commands within limits out, state published."""
