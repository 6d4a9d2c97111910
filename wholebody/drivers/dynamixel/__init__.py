"""The servos of Mini-Hubo: their bus, the robot on it, and simulated ones in their place."""
