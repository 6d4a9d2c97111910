"""What moves: RobotInterface and Clock, and the robots behind them."""

from wholebody.drivers.connection import Connection, connect
from wholebody.drivers.interface import Answer, Boards, Clock, RobotInterface, SteadyClock
from wholebody.drivers.loopback import Loopback
from wholebody.drivers.names import Names

__all__ = [
    "Answer",
    "Boards",
    "Clock",
    "Connection",
    "Loopback",
    "Names",
    "RobotInterface",
    "SteadyClock",
    "connect",
]
