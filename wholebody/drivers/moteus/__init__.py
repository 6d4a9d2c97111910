"""moteus controllers on CAN-FD: their frames, which joint is whose, the robot on them, and simulated ones."""
