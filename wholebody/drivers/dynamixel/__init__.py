"""Dynamixel servos: their lines by protocol 1.0 or 2.0, the robot on them, and simulated ones in their place."""
