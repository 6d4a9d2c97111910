"""A behaviour as a process: `wholebody process behavior --behavior FILE.py:Class`, or begun by `wholebody start`."""

from __future__ import annotations

from wholebody import robots
from wholebody.behaviors.behavior import BehaviorServer, load
from wholebody.drivers.connection import connect
from wholebody.processes.main import Ready, StateLoop
from wholebody.realtime import until_told

SILENCE = 0.5
"""s without a word after which the joints that it moves are anybody's again."""


def behavior(name: str = "", robot: str = "", behavior: str = "", *, ready: Ready) -> None:
    """Do the goals of a behaviour, by entry point or in FILE.py:Class, until SIGTERM or SIGINT."""
    goes_on = until_told()
    called, loaded = load(behavior, robots.load(robot))
    with (
        connect(called, name, period=SILENCE, lease=True) as connection,
        BehaviorServer(called, loaded, connection, name) as server,
    ):
        ready()
        for going in StateLoop(connection, goes_on):
            if not going:
                server.end("the behaviour was told to end")
                return
            server.cycle()
