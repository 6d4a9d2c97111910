"""Simulated boards, sensors and buses in place of Hubo's CAN hardware."""
