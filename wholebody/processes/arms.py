"""The arms' controller as a process, `wholebody process arms`; `wholebody rcp` begins it.

It moves nothing before it is told to, and then only the arms that it is told to move, which are its own meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable

from wholebody import robots
from wholebody.behaviors.reaching import Reaching
from wholebody.behaviors.reaching_goals import CONTROLLER
from wholebody.behaviors.reaching_server import ReachingServer
from wholebody.drivers.connection import Connection, connect
from wholebody.processes.main import Ready, StateLoop
from wholebody.realtime import until_told

SILENCE = 0.5
"""s without a word after which the arms are anybody's again."""


def main(name: str = "", robot: str = "", *, ready: Ready) -> None:
    """Connect, and do what is asked, until SIGTERM or SIGINT."""
    goes_on = until_told()
    reaching = Reaching(robots.load(robot))
    with connect(CONTROLLER, name, period=SILENCE, lease=True) as connection, ReachingServer(reaching, name) as server:
        ready()
        serve(connection, server, goes_on)


def serve(connection: Connection, server: ReachingServer, goes_on: Callable[[], bool]) -> None:
    """The loop: newest state, one cycle, one reference if an arm is moved, one goal."""
    moved = False
    for going in StateLoop(connection, goes_on):
        if not going:
            return
        server.reaching.cycle(connection.state, connection.reference)
        if server.reaching.moves or moved:
            connection.put()
        moved = server.reaching.moves
        server.serve(connection.now)
