"""How a controller's process lives: it is woken by each state of its robot, and ends when told, or with its robot."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from wholebody.errors import NoRobot
from wholebody.hardware.connection import Connection

SLICE = 0.2
"""s of waiting for a state after which it looks around."""


def each_state(connection: Connection, goes_on: Callable[[], bool]) -> Iterator[bool]:
    """At each new state, whether to go on; where none comes, being told to end is the end. A robot may not go."""
    while True:
        if connection.wait(SLICE):
            yield goes_on()
        elif not goes_on():
            return
        elif not connection.alive:
            raise NoRobot("the robot has gone; start it again: wholebody start")
