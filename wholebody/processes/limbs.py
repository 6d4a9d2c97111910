"""The behaviour server as a process: it merges what sources wish for limbs into one smooth reference to a robot.

`wholebody process limbs` begins it; sources are any processes with a LimbSource.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wholebody import robots
from wholebody.behaviors.limb_server import NOBODY, LimbDesk, LimbServer
from wholebody.drivers.connection import Connection, connect
from wholebody.errors import WrongRecord
from wholebody.motion.playback import posture_of
from wholebody.processes.main import Ready, StateLoop
from wholebody.realtime import until_told

CONTROLLER = "limbs"
LOOK_AROUND = 0.1
"""s between two looks for new sources."""


def main(name: str = "", robot: str = "", *, ready: Ready) -> None:
    """Serve until SIGTERM or SIGINT."""
    goes_on, loaded = until_told(), robots.load(robot)
    with connect(CONTROLLER, name) as connection:
        if connection.joints != loaded.joint_names:
            raise WrongRecord(f"the robot that runs as '{name}' has other joints than {robot}")
        connection.tick()
        begun = connection.tick()
        server = LimbServer(loaded, posture_of(connection.state), _period(connection, begun))
        ready()
        serve(connection, server, LimbDesk(name, server), goes_on)


def serve(connection: Connection, server: LimbServer, desk: LimbDesk, goes_on: Callable[[], bool]) -> None:
    """The loop: newest state, newest wishes, one step, one reference to the joints that were ever wished for."""
    looked, moved = -np.inf, np.zeros(len(server.follows), bool)
    for going in StateLoop(connection, goes_on):
        if not going:
            return
        now = connection.now
        if now - looked > LOOK_AROUND:
            desk.look_around()
            looked = now
        desk.listen(now)
        positions = server.step(now)
        moved |= server.follows != NOBODY
        if moved.any():
            connection.reference.position[:], connection.reference.mask[:] = positions, moved
            connection.put()


def _period(connection: Connection, begun: float) -> float:
    """Seconds of a cycle of the daemon, from two of its states."""
    beat = connection.state.tick
    now = connection.tick()
    return (now - begun) / max(1, connection.state.tick - beat)
