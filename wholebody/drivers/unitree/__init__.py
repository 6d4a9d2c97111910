"""Unitree's low-level interface: the driver of a G1, real or simulated by others, and our simulated G1 for others."""
