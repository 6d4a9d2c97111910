"""Asking another process over channels: requests that are done once, and goals that take time."""

from wholebody.services.client import Client, is_alive
from wholebody.services.records import AtMost
from wholebody.services.server import Asked, Cancel, GoalServer, Server, UnderWay
from wholebody.services.stage import Report, Stage

__all__ = ["Asked", "AtMost", "Cancel", "Client", "GoalServer", "Report", "Server", "Stage", "UnderWay", "is_alive"]
