"""The crawling controller as a process: it takes goals from anybody through channels, and says what becomes of them.

`wholebody process crawl` begins it, a CrawlingClient talks to it, `wholebody set` changes its gait,
`wholebody motion support NAME` shows what bears and where the centre of mass is.
"""

from __future__ import annotations

from collections.abc import Callable

from wholebody import robots
from wholebody.behaviors.crawling import Crawling
from wholebody.behaviors.crawling_goals import CONTROLLER
from wholebody.behaviors.crawling_server import CrawlingServer
from wholebody.behaviors.gait_parameters import crawling_parameters
from wholebody.behaviors.support_display import SupportDisplay
from wholebody.drivers import Names
from wholebody.drivers.connection import Connection, connect
from wholebody.estimation.support_view import SupportPublisher
from wholebody.parameters.desk import Desk
from wholebody.parameters.records import ControllerNames
from wholebody.processes.main import Ready, StateLoop
from wholebody.processes.walk import NOTHING_ELSE, SILENCE
from wholebody.realtime import until_told


def main(name: str = "", robot: str = "", *, ready: Ready) -> None:
    """Connect, and do what is asked, until SIGTERM or SIGINT."""
    goes_on = until_told()
    crawling = Crawling(robots.load(robot))
    names = ControllerNames(Names(name).robot, CONTROLLER)
    with (
        connect(CONTROLLER, name, period=SILENCE) as connection,
        Desk(names, crawling_parameters(crawling), {"robot": robot, **NOTHING_ELSE}) as tuning,
        CrawlingServer(crawling, name) as server,
        SupportPublisher(Names(name).robot) as publisher,
    ):
        ready()
        serve(connection, server, tuning, SupportDisplay(crawling.crawler, publisher), goes_on)


def serve(
    connection: Connection, server: CrawlingServer, tuning: Desk, shown: SupportDisplay, goes_on: Callable[[], bool]
) -> None:
    """The loop: newest state, parameters, goals, one cycle, one reference. Told to end, it comes to rest first."""
    ending = False
    for going in StateLoop(connection, goes_on):
        if not ending and not going:
            ending = True
            server.end(connection.now, "the controller was told to end")
        tuning.serve(connection.now)
        if server.cycle(connection.state, connection.reference):
            connection.put()
        if server.on_limbs:
            shown.look(connection.state)
        if ending and not server.moving:
            return
