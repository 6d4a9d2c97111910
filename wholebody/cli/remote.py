"""wholebody remote: the robots of another machine, mirrored here; started, stopped and asked after."""

from __future__ import annotations

import sys
import threading
import time
from typing import Annotated

import typer

from wholebody.cli import options
from wholebody.errors import BridgeError
from wholebody.processes.far_robots import LOOK_EVERY, FarRobots
from wholebody.realtime import when_told


@options.context(ignore_unknown_options=True)
def remote(
    host: Annotated[
        str, typer.Argument(metavar="HOST", help="The machine: its address or name, and :PORT if not 7449.")
    ],
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[COMMAND …]", help="start, stop, kill or status.")
    ] = None,
) -> None:
    """Mirror the robots of another machine, as if they ran on this one; or start, stop, kill or ask after them there.

    On the robot's machine, once: wholebody keys make, and wholebody process host --endpoint 0.0.0.0:7449. Here, with
    a copy of its robot.pem and token (see: wholebody keys):

    \b
      wholebody remote robot.lab start hubo2plus
      wholebody remote robot.lab                    in one terminal
      wholebody read                                and in another all as ever: read, console, page, controllers
      wholebody remote robot.lab stop
    """
    with FarRobots(host) as far:
        if words:
            command = ["stop", "--kill", *words[1:]] if words[0] == "kill" else words
            ran = far.run(*command)
            print(ran.out, end="")
            print(ran.err, end="", file=sys.stderr)
            raise typer.Exit(ran.code)
        ended = threading.Event()
        with when_told(ended.set):
            mirror(far, ended)


def mirror(far: FarRobots, ended: threading.Event) -> None:
    """Mirror until told to end, with a line on each change."""
    until, before = time.monotonic() + 10.0, ""
    while not ended.is_set():
        far.look()
        if not far.heard and time.monotonic() > until:
            raise BridgeError(far.silence)
        line = describe(far)
        if line != before and far.heard:
            print(line, flush=True)
        before = line
        ended.wait(LOOK_EVERY)


def describe(far: FarRobots) -> str:
    """What is mirrored, in a line."""
    if not far.reachable:
        return f"no word from {far.where}: its robots are not here until it answers again"
    what = f"mirrored from {far.where}: {', '.join(far.robots)}" if far.robots else f"no robot runs at {far.where}"
    return "; ".join([what, *far.refused.values()])
