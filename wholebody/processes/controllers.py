"""Controllers as processes: walk, crawl, arms and behaviours take goals from anybody, limbs merges requests for limbs.

`wholebody process walk` (crawl, arms, limbs) begins one; `wholebody walk`, `crawl`, `rcp` and `page` begin them too;
`wholebody process behavior --behavior FILE.py:Class` or `wholebody start --behavior` begins a behaviour.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wholebody import robots
from wholebody.behaviors import Walking, crawling_goals, reaching_goals, walking_goals
from wholebody.behaviors.behavior import BehaviorServer, load
from wholebody.behaviors.crawling import Crawling, SupportDisplay, crawling_parameters
from wholebody.behaviors.crawling_goals import CrawlingServer
from wholebody.behaviors.limb_server import NOBODY, LimbRequests, LimbServer
from wholebody.behaviors.reaching import Reaching
from wholebody.behaviors.reaching_goals import ReachingServer
from wholebody.behaviors.walking import walking_parameters
from wholebody.behaviors.walking_goals import WalkingServer
from wholebody.channels import Channel, Reader
from wholebody.drivers import Names
from wholebody.drivers.connection import Connection, StateLoop, connect
from wholebody.errors import WrongRecord
from wholebody.estimation.support_view import SupportPublisher
from wholebody.messages import Report
from wholebody.motion.playback import posture_of
from wholebody.parameters.records import ControllerNames, Description
from wholebody.parameters.server import ParameterServer
from wholebody.processes.main import Ready
from wholebody.realtime import until_told

SILENCE = 0.02
"""s without a reference after which the daemon holds the joints of a robot that walks or crawls."""
LEASE_SILENCE = 0.5
"""s without a word after which the joints of arms and behaviours are anybody's again."""
LOOK_AROUND = 0.1
"""s between two looks for new sources."""


def walk(name: str = "", robot: str = "", stabilizer: str = "dcm", *, ready: Ready) -> None:
    """Walk as asked, until SIGTERM or SIGINT; `wholebody set` changes the gait."""
    goes_on = until_told()
    walking = Walking(robots.load(robot), stabilizer=stabilizer)
    names = ControllerNames(Names(name).robot, walking_goals.CONTROLLER)
    with (
        connect(walking_goals.CONTROLLER, name, period=SILENCE) as connection,
        ParameterServer(names, walking_parameters(walking), Description(robot)) as tuning,
        WalkingServer(walking, name) as server,
        Channel(Names(name).report, kind=Report) as channel,
        channel.reader() as report,
    ):
        ready()
        serve_walking(connection, server, tuning, report, goes_on)


def serve_walking(
    connection: Connection,
    server: WalkingServer,
    tuning: ParameterServer,
    report: Reader[Report],
    goes_on: Callable[[], bool],
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


def crawl(name: str = "", robot: str = "", *, ready: Ready) -> None:
    """Crawl as asked, until SIGTERM or SIGINT; `wholebody motion support NAME` shows what bears."""
    goes_on = until_told()
    crawling = Crawling(robots.load(robot))
    names = ControllerNames(Names(name).robot, crawling_goals.CONTROLLER)
    with (
        connect(crawling_goals.CONTROLLER, name, period=SILENCE) as connection,
        ParameterServer(names, crawling_parameters(crawling), Description(robot)) as tuning,
        CrawlingServer(crawling, name) as server,
        SupportPublisher(Names(name).robot) as publisher,
    ):
        ready()
        serve_crawling(connection, server, tuning, SupportDisplay(crawling.crawler, publisher), goes_on)


def serve_crawling(
    connection: Connection,
    server: CrawlingServer,
    tuning: ParameterServer,
    shown: SupportDisplay,
    goes_on: Callable[[], bool],
) -> None:
    """The loop: newest state, goals, parameters, one cycle, one reference. Told to end, it rests on all limbs first."""
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


def arms(name: str = "", robot: str = "", *, ready: Ready) -> None:
    """Move arms as asked, until SIGTERM or SIGINT; only those that it is told to move, which are its own meanwhile."""
    goes_on, moved = until_told(), False
    reaching = Reaching(robots.load(robot))
    with (
        connect(reaching_goals.CONTROLLER, name, period=LEASE_SILENCE, lease=True) as connection,
        ReachingServer(reaching, name) as server,
    ):
        ready()
        for going in StateLoop(connection, goes_on):
            if not going:
                return
            reaching.cycle(connection.state, connection.reference)
            if reaching.moves or moved:
                connection.put()
            moved = reaching.moves
            server.serve(connection.now)


def limbs(name: str = "", robot: str = "", *, ready: Ready) -> None:
    """Merge requests of sources (any process with a LimbSource) into one reference, until SIGTERM or SIGINT."""
    goes_on, loaded = until_told(), robots.load(robot)
    with connect("limbs", name) as connection:
        if connection.joints != loaded.joint_names:
            raise WrongRecord(f"the robot that runs as '{name}' has other joints than {robot}")
        connection.tick()
        begun, beat = connection.tick(), connection.state.tick
        period = (connection.tick() - begun) / max(1, connection.state.tick - beat)
        server = LimbServer(loaded, posture_of(connection.state), period)
        ready()
        serve_limbs(connection, server, LimbRequests(name, server), goes_on)


def serve_limbs(
    connection: Connection, server: LimbServer, requests: LimbRequests, goes_on: Callable[[], bool]
) -> None:
    """The loop: newest state, newest requests, one step, one reference to the joints that were ever requested."""
    looked, moved = -np.inf, np.zeros(len(server.follows), bool)
    for going in StateLoop(connection, goes_on):
        if not going:
            return
        now = connection.now
        if now - looked > LOOK_AROUND:
            requests.look_around()
            looked = now
        requests.listen(now)
        positions = server.step(now)
        moved |= server.follows != NOBODY
        if moved.any():
            connection.reference.position[:], connection.reference.mask[:] = positions, moved
            connection.put()


def behavior(name: str = "", robot: str = "", behavior: str = "", *, ready: Ready) -> None:
    """Do the goals of a behaviour, by entry point or in FILE.py:Class, until SIGTERM or SIGINT."""
    goes_on = until_told()
    called, loaded = load(behavior, robots.load(robot))
    with (
        connect(called, name, period=LEASE_SILENCE, lease=True) as connection,
        BehaviorServer(called, loaded, connection, name) as server,
    ):
        ready()
        for going in StateLoop(connection, goes_on):
            if not going:
                server.end("the behaviour was told to end")
                return
            server.cycle()
