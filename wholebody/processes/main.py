"""How a module of ours is a process: python -m wholebody.cli.MODULE WORD …"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

from wholebody.drivers.connection import Connection
from wholebody.errors import NoRobot, WholebodyError


def as_process(name: str, main: Callable[..., None]) -> None:
    """Run it with the words of the command line; an error of ours becomes a line, and status 1."""
    try:
        main(*sys.argv[1:])
    except WholebodyError as error:
        print(f"{name}: {error}", file=sys.stderr, flush=True)
        sys.exit(1)


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
