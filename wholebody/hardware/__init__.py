"""What moves: RobotInterface and Clock, and the robots behind them."""

from wholebody.hardware.clocks import SteadyClock
from wholebody.hardware.interface import Answer, Boards, Clock, Record, RobotInterface
from wholebody.hardware.names import Names

__all__ = ["Answer", "Boards", "Clock", "Names", "Record", "RobotInterface", "SteadyClock"]
