"""Orders to a robot that runs already (wholebody start); its controller, walking or crawling, is begun if none is."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import NamedTuple

from rich.console import Console

from wholebody.behaviors.walking_client import WalkingClient
from wholebody.cli.processes import life
from wholebody.cli.processes.plan import plan_of
from wholebody.cli.shows.script import Script
from wholebody.errors import NoController, NoRobot, OrderNotDone

STARTING = 60.0
"""s. How long a controller may take to start."""
LOOK_EVERY = 0.02  # s


class Process(NamedTuple):
    """A controller that can be begun: who talks to it, its module, and what it is told beside the robot's names."""

    client: type[WalkingClient]
    module: str
    arguments: tuple[str, ...] = ()


def follow(name: str, lines: Sequence[str], controller: Process, console: Console) -> None:
    """Tell the robot one line after the other, and say when each is done; OrderNotDone if one is not."""
    script = Script(lines)
    with ExitStack() as stack:
        robot = _joined(stack, name, controller)
        said = 0
        while not script.over:
            script.go_on(robot, robot.doing.time)
            for done in script.done[said:]:
                place = robot.doing.place
                console.print(
                    f"{done.time:8.2f} s  {done.line}: at {place.x:.2f}, {place.y:.2f} m, {place.yaw:.2f} rad"
                )
            said = len(script.done)
            if not robot.alive:
                raise NoController(f"{robot} has ended")
            time.sleep(LOOK_EVERY)
    if script.trouble:
        raise OrderNotDone("not done", script.trouble)


def _joined(stack: ExitStack, name: str, controller: Process) -> WalkingClient:
    """A client of the controller that runs, or of one of our own, which stops the robot and ends with the stack."""
    try:
        return stack.enter_context(controller.client(name, timeout=0.0))
    except NoController:
        plan = plan_of(life.process_of(life.DAEMON, name))
        if plan is None:
            raise NoRobot(f"no robot called '{name}' is running; start one: wholebody start hubo2plus") from None
    command = [sys.executable, "-m", controller.module, name, plan.robot, *controller.arguments]
    child = subprocess.Popen(command)
    stack.callback(child.wait)
    stack.callback(child.terminate)
    return stack.enter_context(controller.client(name, timeout=STARTING))
