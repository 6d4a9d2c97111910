"""wholebody stop: end a robot's processes."""

from __future__ import annotations

from typing import Annotated

import typer

from wholebody.drivers import Names
from wholebody.errors import NoRobot
from wholebody.operator.monitor.watcher import nothing_runs
from wholebody.processes import lifecycle
from wholebody.processes.launch_plan import plan_of


def stop(name: Annotated[str, typer.Option(help="The robot's name, if it is not 'robot'.")] = "") -> None:
    """End the robot that `wholebody start` started: its daemon, then what it had beside it.

    To halt a robot that goes on running: wholebody console -c stop
    """
    robot = Names(name).robot
    found = [(role, process) for role in lifecycle.ROLES if (process := lifecycle.process_of(role, robot)) is not None]
    if not found:
        raise NoRobot(nothing_runs(robot))
    for role, process in found:
        if role is not lifecycle.DAEMON and plan_of(process) is None:
            print(f"{role.name} {process}: left alone, because `wholebody start` did not start it")
            continue
        killed = lifecycle.end(process)
        print(f"{role.name} {process}: {'did not end by itself and was killed' if killed else 'ended'}")
