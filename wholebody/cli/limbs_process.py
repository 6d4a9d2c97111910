"""The behaviour server as a process: it merges what sources wish for limbs into one smooth reference to a robot.

python -m wholebody.cli.limbs_process NAME ROBOT; sources are any processes with a LimbSource.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from wholebody import robots
from wholebody.behaviors.limb_server import NOBODY, LimbDesk, LimbServer
from wholebody.errors import NoRobot, WholebodyError, WrongRecord
from wholebody.hardware.connection import Connection, connect
from wholebody.motion.playing import posture_of
from wholebody.realtime import until_told
from wholebody.robots.robot import Robot

CONTROLLER = "limbs"
SLICE = 0.2
"""s of waiting for a state after which it looks around."""
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
    while goes_on():
        if not connection.wait(SLICE):
            if not connection.alive:
                raise NoRobot("the robot has gone; start it again: wholebody start")
            continue
        now = connection.now
        if now - looked > LOOK_AROUND:
            desk.look_around()
            looked = now
        desk.listen(now)
        positions = server.step(now)
        moved |= server.follows != NOBODY
        if moved.any():
            connection.reference["position"], connection.reference["mask"] = positions, moved
            connection.put()


def _period(connection: Connection, begun: float) -> float:
    """Seconds of a cycle of the daemon, from two of its states."""
    beat = int(connection.state["tick"])
    now = connection.tick()
    return (now - begun) / max(1, int(connection.state["tick"]) - beat)


def main(name: str, robot: str) -> None:
    """Serve until SIGTERM or SIGINT."""
    run(name, robots.load(robot), until_told())


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except WholebodyError as error:
        print(f"limbs: {error}", file=sys.stderr, flush=True)
        sys.exit(1)
