"""The CAN boards of Hubo: their frames, their wiring, the robot on them, and simulated ones in their place."""
