"""The names of a robot's channels: what daemon, controllers, consoles and simulators must agree on.

    robot.state                 what was measured, every cycle
    robot.commanded             what was written to the robot, every cycle
    robot.<controller>.reference   what a controller wants, as often as it likes
    robot.<controller>.unfiltered  the same, for a filter process that passes it on
    robot.<controller>.requests, .replies, .doing   the goals of a behaviour, their reports, and what it does now
    robot.daemon                the service by which anybody asks the daemon and the boards (drivers/boards.py)
    robot.stop                  any message here stops the robot
    robot.tick, robot.timing    the beat, and how long each stage of the cycle took
    robot.report                who moves which joint, what was refused
    robot.events                what happened once
    robot.to_simulator, robot.from_simulator, robot.simulated   the handshake with a simulator, and its state
    robot.boards                where simulated boards or servos can be reached
    robot.objects               where base and objects that can be moved are, as the simulator knows it

A machine has one robot, as a rule, and it is called `robot`; WHOLEBODY_ROBOT, or the option --name, calls it otherwise.
"""

from __future__ import annotations

import os

SUFFIX = ".reference"


def default_name() -> str:
    """What the robot is called if nobody says otherwise."""
    return os.environ.get("WHOLEBODY_ROBOT") or "robot"


def nothing_runs(name: str) -> str:
    """What to say when there is no daemon."""
    return f"no robot called '{name}' is running; start one: wholebody start hubo2plus"


class Names:
    """The channels of the robot of a name."""

    def __init__(self, robot: str = "") -> None:
        self.robot = robot = robot or default_name()
        self.state, self.commanded = f"{robot}.state", f"{robot}.commanded"
        self.stop, self.events = f"{robot}.stop", f"{robot}.events"
        self.tick, self.timing, self.report = f"{robot}.tick", f"{robot}.timing", f"{robot}.report"
        self.to_simulator, self.from_simulator = f"{robot}.to_simulator", f"{robot}.from_simulator"
        self.simulated, self.objects = f"{robot}.simulated", f"{robot}.objects"
        self.boards, self.boards_service = f"{robot}.boards", f"{robot}.daemon"

    def reference(self, controller: str) -> str:
        """What a controller wants."""
        return f"{self.robot}.{controller}{SUFFIX}"

    def unfiltered(self, controller: str) -> str:
        """What a controller wants, before it is filtered by a process of its own."""
        return f"{self.robot}.{controller}.unfiltered"

    def service(self, controller: str) -> str:
        """The service (wholebody.services) by which anybody gives goals to a behaviour."""
        return f"{self.robot}.{controller}"

    def doing(self, controller: str) -> str:
        """What the controller does now, every cycle."""
        return f"{self.robot}.{controller}.doing"

    def controller(self, channel: str) -> str | None:
        """The controller whose reference channel this is; None if it is none of this robot."""
        start = f"{self.robot}."
        if not (channel.startswith(start) and channel.endswith(SUFFIX)):
            return None
        return channel[len(start) : -len(SUFFIX)] or None
