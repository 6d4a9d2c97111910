"""The walking controller as a process: it takes orders from anybody through channels, and says what becomes of them.

python -m wholebody.processes.walk NAME ROBOT [STABILIZER]; `wholebody walk` begins it, a WalkingClient talks to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wholebody import robots
from wholebody.behaviors import Walking
from wholebody.behaviors.gait_parameters import walking_parameters
from wholebody.behaviors.walking_desk import WalkingDesk
from wholebody.behaviors.walking_orders import CONTROLLER
from wholebody.channels import Channel, Reader
from wholebody.drivers import Names
from wholebody.drivers.connection import Connection, connect
from wholebody.messages import Report
from wholebody.parameters.desk import Desk
from wholebody.parameters.records import ControllerNames
from wholebody.processes.main import as_process, each_state
from wholebody.realtime import until_told

SILENCE = 0.02
"""s without a reference after which the daemon holds the joints."""
NOTHING_ELSE: dict[str, Any] = {"tasks": [], "constraints": [], "events": {}, "settings": {}}
"""What controllers of tasks tell of themselves besides their parameters."""


def run(name: str, robot: str, stabilizer: str, goes_on: Callable[[], bool]) -> None:
    """Connect, and do what is ordered, until told to end."""
    walking = Walking(robots.load(robot), stabilizer=stabilizer)
    names = ControllerNames(Names(name).robot, CONTROLLER)
    with (
        connect(CONTROLLER, name, period=SILENCE) as connection,
        Desk(names, walking_parameters(walking), {"robot": robot, **NOTHING_ELSE}) as tuning,
        WalkingDesk(walking, name) as desk,
        Channel(Names(name).report, kind=Report) as channel,
        channel.reader() as report,
    ):
        serve(connection, desk, tuning, report, goes_on)


def serve(
    connection: Connection, desk: WalkingDesk, tuning: Desk, report: Reader[Report], goes_on: Callable[[], bool]
) -> None:
    """The loop: newest state, orders, parameters, one cycle, one reference. Told to end, it comes to a stand first.

    Joints on which others have a lease, by the daemon's report, are left to them.
    """
    walking, ending = desk.walking, False
    for going in each_state(connection, goes_on):
        time = connection.now
        if not ending and not going:
            ending = True
            desk.end(time, "the controller was told to end")
            walking.stop()
        if not ending:
            desk.serve(time)
        tuning.serve(time)
        if report.latest():
            walking.leave(np.flatnonzero(report.message.leased))
        if desk.moves:
            walking.cycle(connection.state, connection.reference)
            connection.put()
        desk.tell(time)
        if ending and (walking.standing or not walking.up):
            return


def main(name: str, robot: str, stabilizer: str = "dcm") -> None:
    """Serve until SIGTERM or SIGINT."""
    run(name, robot, stabilizer, until_told())


if __name__ == "__main__":
    as_process("walk", main)
