"""What moves: RobotInterface and Clock, and the robots behind them."""

from wholebody.hardware.interface import Clock, Record, RobotInterface

__all__ = ["Clock", "Record", "RobotInterface"]
