"""The behaviour server as a process: it merges what sources wish for limbs into one smooth reference to a robot.

python -m wholebody.processes.limbs NAME ROBOT; sources are any processes with a LimbSource.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wholebody import robots
from wholebody.behaviors.limb_server import NOBODY, LimbDesk, LimbServer
from wholebody.drivers.connection import Connection, connect
from wholebody.errors import WrongRecord
from wholebody.motion.playback import posture_of
from wholebody.processes.main import as_process, each_state
from wholebody.realtime import until_told
from wholebody.robots.robot import Robot

CONTROLLER = "limbs"
LOOK_AROUND = 0.1
"""s between two looks for new sources."""


def run(name: str, robot: Robot, goes_on: Callable[[], bool]) -> None:
    """Serve until told to end."""
    with connect(CONTROLLER, name) as connection:
        if connection.joints != robot.joint_names:
            raise WrongRecord(f"the robot that runs as '{name}' has other joints than {robot.name}")
        connection.tick()
        begun = connection.tick()
        server = LimbServer(robot, posture_of(connection.state), _period(connection, begun))
        serve(connection, server, LimbDesk(name, server), goes_on)


def serve(connection: Connection, server: LimbServer, desk: LimbDesk, goes_on: Callable[[], bool]) -> None:
    """The loop: newest state, newest wishes, one step, one reference to the joints that were ever wished for."""
    looked, moved = -np.inf, np.zeros(len(server.follows), bool)
    for going in each_state(connection, goes_on):
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


def main(name: str, robot: str) -> None:
    """Serve until SIGTERM or SIGINT."""
    run(name, robots.load(robot), until_told())


if __name__ == "__main__":
    as_process("limbs", main)
