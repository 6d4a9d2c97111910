"""The walking controller as a process: it takes goals from anybody through channels, and says what becomes of them.

`wholebody process walk`; `wholebody walk` begins it too, a WalkingClient talks to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wholebody import robots
from wholebody.behaviors import Walking
from wholebody.behaviors.gait_parameters import walking_parameters
from wholebody.behaviors.walking_goals import CONTROLLER
from wholebody.behaviors.walking_server import WalkingServer
from wholebody.channels import Channel, Reader
from wholebody.drivers import Names
from wholebody.drivers.connection import Connection, connect
from wholebody.messages import Report
from wholebody.parameters.desk import Desk
from wholebody.parameters.records import ControllerNames
from wholebody.processes.main import Ready, StateLoop
from wholebody.realtime import until_told

SILENCE = 0.02
"""s without a reference after which the daemon holds the joints."""
NOTHING_ELSE: dict[str, Any] = {"tasks": [], "constraints": [], "events": {}, "settings": {}}
"""What controllers of tasks tell of themselves besides their parameters."""


def main(name: str = "", robot: str = "", stabilizer: str = "dcm", *, ready: Ready) -> None:
    """Connect, and do what is asked, until SIGTERM or SIGINT."""
    goes_on = until_told()
    walking = Walking(robots.load(robot), stabilizer=stabilizer)
    names = ControllerNames(Names(name).robot, CONTROLLER)
    with (
        connect(CONTROLLER, name, period=SILENCE) as connection,
        Desk(names, walking_parameters(walking), {"robot": robot, **NOTHING_ELSE}) as tuning,
        WalkingServer(walking, name) as server,
        Channel(Names(name).report, kind=Report) as channel,
        channel.reader() as report,
    ):
        ready()
        serve(connection, server, tuning, report, goes_on)


def serve(
    connection: Connection, server: WalkingServer, tuning: Desk, report: Reader[Report], goes_on: Callable[[], bool]
) -> None:
    """The loop: newest state, goals, parameters, one cycle, one reference. Told to end, it comes to a stand first.

    Joints on which others have a lease, by the daemon's report, are left to them.
    """
    walking, ending = server.walking, False
    for going in StateLoop(connection, goes_on):
        time = connection.now
        if not ending and not going:
            ending = True
            server.preempt(time, "the controller was told to end")
            walking.stop()
        if not ending:
            server.serve(time)
        tuning.serve(time)
        if report.latest():
            walking.leave(np.flatnonzero(report.message.leased))
        if server.moves:
            walking.cycle(connection.state, connection.reference)
            connection.put()
        server.tell(time)
        if ending and (walking.standing or not walking.up):
            return
