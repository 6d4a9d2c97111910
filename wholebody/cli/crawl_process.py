"""The crawling controller as a process: it takes orders from anybody through channels, and says what becomes of them.

python -m wholebody.cli.crawl_process NAME ROBOT; a CrawlingClient talks to it, `wholebody set` changes its gait.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from wholebody import robots
from wholebody.behaviors.crawling import Crawling
from wholebody.behaviors.crawling_desk import CONTROLLER, CrawlingDesk
from wholebody.behaviors.crawling_parameters import crawling_parameters
from wholebody.cli.walk_process import NOTHING_ELSE, SILENCE, SLICE
from wholebody.errors import NoRobot, WholebodyError
from wholebody.hardware import Names
from wholebody.hardware.connection import Connection, connect
from wholebody.parameters.desk import Desk
from wholebody.parameters.records import ControllerNames
from wholebody.realtime import until_told


def run(name: str, robot: str, goes_on: Callable[[], bool]) -> None:
    """Connect, and do what is ordered, until told to end."""
    crawling = Crawling(robots.load(robot))
    names = ControllerNames(Names(name).robot, CONTROLLER)
    with (
        connect(CONTROLLER, name, period=SILENCE) as connection,
        Desk(names, crawling_parameters(crawling), {"robot": robot, **NOTHING_ELSE}) as tuning,
        CrawlingDesk(crawling, name) as desk,
    ):
        serve(connection, desk, tuning, goes_on)


def serve(connection: Connection, desk: CrawlingDesk, tuning: Desk, goes_on: Callable[[], bool]) -> None:
    """The loop: newest state, parameters, orders, one cycle, one reference. Told to end, it comes to rest first."""
    ending = False
    while not ending or desk.moving:
        if not connection.wait(SLICE):
            if not goes_on():
                return
            if not connection.alive:
                raise NoRobot("the robot has gone; start it again: wholebody start")
            continue
        if not ending and not goes_on():
            ending = True
            desk.end(connection.now, "the controller was told to end")
        tuning.serve(connection.now)
        if desk.cycle(connection.state, connection.reference):
            connection.put()


def main(name: str, robot: str) -> None:
    """Serve until SIGTERM or SIGINT."""
    run(name, robot, until_told())


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except WholebodyError as error:
        print(f"crawl: {error}", file=sys.stderr, flush=True)
        sys.exit(1)
