"""What moves: RobotInterface and Clock, and the robots behind them."""

from wholebody.hardware.clocks import SteadyClock
from wholebody.hardware.connection import Connection, connect
from wholebody.hardware.interface import Answer, Boards, Clock, Record, RobotInterface
from wholebody.hardware.loopback import Loopback
from wholebody.hardware.names import Names

__all__ = [
    "Answer",
    "Boards",
    "Clock",
    "Connection",
    "Loopback",
    "Names",
    "Record",
    "RobotInterface",
    "SteadyClock",
    "connect",
]
