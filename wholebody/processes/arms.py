"""The arms' controller as a process, `wholebody process arms`; `wholebody rcp` begins it.

It moves nothing before it is told to, and then only the arms that it is told to move, which are its own meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable

from wholebody import robots
from wholebody.behaviors.reaching import Reaching
from wholebody.behaviors.reaching_desk import ReachingDesk
from wholebody.behaviors.reaching_orders import CONTROLLER
from wholebody.drivers.connection import Connection, connect
from wholebody.processes.main import Ready, StateLoop
from wholebody.realtime import until_told

SILENCE = 0.5
"""s without a word after which the arms are anybody's again."""


def main(name: str = "", robot: str = "", *, ready: Ready) -> None:
    """Connect, and do what is ordered, until SIGTERM or SIGINT."""
    goes_on = until_told()
    reaching = Reaching(robots.load(robot))
    with connect(CONTROLLER, name, period=SILENCE, lease=True) as connection, ReachingDesk(reaching, name) as desk:
        ready()
        serve(connection, desk, goes_on)


def serve(connection: Connection, desk: ReachingDesk, goes_on: Callable[[], bool]) -> None:
    """The loop: newest state, one cycle, one reference if an arm is moved, one order."""
    moved = False
    for going in StateLoop(connection, goes_on):
        if not going:
            return
        desk.reaching.cycle(connection.state, connection.reference)
        if desk.reaching.moves or moved:
            connection.put()
        moved = desk.reaching.moves
        desk.serve(connection.now)
