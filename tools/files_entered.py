"""tools/files_entered.py [SCENARIO …]: in how many files of wholebody/ one steady cycle runs Python, and in which.

wave    examples/wave.py through the daemon on the loopback robot, both sides together
walk    the walking controller behind a daemon and a simulator, from one state to the next
servo   `wholebody run dreamer_reach`, from one beat of its clock to the next
move    RCP, from the arrival of a MOVE at the socket until its first goal is on the channel

A cycle that repeats is profiled some hundred times; a file counts if at least half of the cycles enter one of its
functions. Robots and channels are of the tool's own: it may run beside others.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import math
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGE = f"{REPOSITORY / 'wholebody'}{os.sep}"
NAME = "entered"
SETTLES, CYCLES = 50, 100
"""Cycles before those that are profiled, and those."""
SECONDS = 120.0
"""How long anything may take."""
MOVE = "MOVE WALKING FORWARD 3 STEPS"


class Entered:
    """A profile function: the files of the package whose functions are called while it is on."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.cycles: list[set[str]] = []
        self.on = False

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Note the file of a call."""
        if self.on and event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            self.files.add(frame.f_code.co_filename.removeprefix(PACKAGE))

    def turn(self) -> None:
        """Begin another cycle."""
        self.cycles.append(self.files)
        self.files = set()

    def steady(self) -> list[str]:
        """The files that at least half of the cycles after the first ones enter; later ones end the run."""
        cycles = self.cycles[SETTLES : SETTLES + CYCLES]
        counts = Counter(file for cycle in cycles for file in cycle)
        return sorted(file for file, count in counts.items() if 2 * count >= len(cycles))


def profile(entered: Entered | None) -> None:
    """Profile this thread, and those that it begins; with None, none of them any more."""
    threading.setprofile(entered)
    sys.setprofile(entered)


@contextlib.contextmanager
def profiled(entered: Entered) -> Iterator[None]:
    """Profile this thread, and those that it begins, while the block runs."""
    profile(entered)
    try:
        yield
    finally:
        profile(None)


class Enough(Exception):
    """As many cycles as are wanted were seen."""


def marked(entered: Entered, goes_on: Callable[[], bool] = lambda: True) -> bool:
    """Note the begin of a cycle; whether more are wanted."""
    entered.turn()
    return goes_on() and len(entered.cycles) < SETTLES + CYCLES


def wave() -> list[str]:
    """A controller's loop and the daemon's, one after the other in this process."""
    from wholebody import robots
    from wholebody.daemon.channels import RobotChannels
    from wholebody.daemon.cycle import STAGES, Cycle
    from wholebody.daemon.timing import Contract
    from wholebody.drivers import Loopback, SteadyClock, connect

    entered, robot, contract = Entered(), robots.load("hubo2plus"), Contract()
    with RobotChannels(robot, NAME, STAGES) as channels, Loopback(robot) as interface:
        cycle = Cycle(robot, interface, SteadyClock(contract.period), channels, contract)
        cycle.begin()
        with ThreadPoolExecutor(1) as other:  # to connect takes states that come
            connecting = other.submit(connect, "wave", NAME)
            while not connecting.done():
                cycle.once()
        with connecting.result() as connection, profiled(entered):
            entered.on = True
            begin = connection.now
            while marked(entered):
                cycle.once()
                connection.wait()
                connection.move({"RSP": 0.1 * math.sin(connection.now - begin), "RSR": -0.2})
    return entered.steady()


@contextlib.contextmanager
def walking_robot() -> Iterator[None]:
    """A daemon and a simulator, as `wholebody start` begins them."""
    from wholebody.processes import lifecycle
    from wholebody.processes.launch_plan import LaunchPlan
    from wholebody.processes.registry import DAEMON, SIMULATOR

    plan = LaunchPlan.make(NAME, "hubo2plus")
    try:
        with lifecycle.beside(SIMULATOR, plan=plan), lifecycle.beside(DAEMON, plan=plan) as daemon:
            daemon.until_ready()
            yield
    finally:
        lifecycle.remove_channels(NAME, force=True)


def walk() -> list[str]:
    """The walking controller's process, here; somebody else tells it to stand up and to walk."""
    from wholebody.behaviors.walking_goals import Bearing, WalkingClient
    from wholebody.processes import controllers

    entered = Entered()

    def people() -> None:
        sys.setprofile(None)
        with WalkingClient(NAME, timeout=SECONDS) as client:
            client.wait(client.stand(), SECONDS)
            client.walk(distance=2.0)
            client.wait_until(lambda doing: doing.bearing in (Bearing.LEFT, Bearing.RIGHT), SECONDS)
            entered.on = True

    going_on = mock.patch.object(controllers, "until_told", return_value=lambda: not entered.on or marked(entered))
    with walking_robot(), going_on:
        told = threading.Thread(target=people)
        told.start()
        with profiled(entered):
            controllers.walk(NAME, "hubo2plus", ready=lambda: None)
        told.join()
    return entered.steady()


def servo() -> list[str]:
    """The command itself, here; the loop's cycles are counted where they begin."""
    from wholebody.cli import run
    from wholebody.control.servo import Servo

    entered, cycle = Entered(), Servo.cycle

    @functools.wraps(cycle)
    def counted(self: Servo) -> None:
        entered.on = True
        if not marked(entered):
            raise Enough
        cycle(self)

    with mock.patch.object(Servo, "cycle", counted), contextlib.suppress(Enough), profiled(entered):
        run.run("dreamer_reach", name=NAME, fast=True)
    return entered.steady()


class Arrival(Entered):
    """On from a line's arrival in the buffer of its connection until a goal is put on a channel."""

    def __init__(self) -> None:
        super().__init__()
        self.done = threading.Event()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """See the first and the last call."""
        if event == "call" and frame.f_code.co_name == "feed_data" and not self.done.is_set():
            self.on = MOVE.encode() in bytes(frame.f_locals["data"])
        elif self.on and event == "c_call" and argument.__name__ == "put" and _is_goal(argument.__self__):
            self.on = False
            self.done.set()
        super().__call__(frame, event, argument)


def _is_goal(writer: Any) -> bool:
    """Whether a writer's message is a request of a service."""
    message = getattr(writer, "message", None)
    return "kind" in (getattr(getattr(message, "dtype", None), "names", None) or ())


def move() -> list[str]:
    """The command protocol's server, here; the controllers are processes."""
    from wholebody import robots
    from wholebody.operator.rcp.command_server import CommandServer
    from wholebody.operator.rcp.server import Server
    from wholebody.operator.robot.robot import WalkingBody
    from wholebody.processes import lifecycle
    from wholebody.processes.registry import WALK

    arrival = Arrival()

    async def talk(body: WalkingBody) -> None:
        async with Server(CommandServer(body), port=0) as server:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            for line in ("CONNECT operator", "CONTROL BEGIN"):
                writer.write(f"{line}\n".encode())
                await reader.readline()
            writer.write(f"{MOVE}\n".encode())
            until = time.monotonic() + SECONDS
            while not arrival.done.is_set() and time.monotonic() < until:
                await asyncio.sleep(0.01)
            writer.close()

    with walking_robot(), lifecycle.beside(WALK, name=NAME, robot="hubo2plus") as controller:
        controller.until_ready()
        with profiled(arrival), contextlib.closing(WalkingBody(robots.load("hubo2plus"), NAME)) as body:
            until = time.monotonic() + SECONDS
            while body.doing() is None and time.monotonic() < until:
                time.sleep(0.05)
            asyncio.run(talk(body))
    if not arrival.done.is_set():
        raise SystemExit("no goal came of it")
    return sorted(arrival.files)


SCENARIOS: dict[str, Callable[[], list[str]]] = {"wave": wave, "walk": walk, "servo": servo, "move": move}


def main() -> None:
    """Print the files of each scenario."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage="files_entered.py [SCENARIO …]"
    )
    parser.add_argument("scenarios", nargs="*", choices=[[], *SCENARIOS], help=argparse.SUPPRESS)
    asked = parser.parse_args().scenarios or list(SCENARIOS)
    with tempfile.TemporaryDirectory(prefix="wholebody-entered-") as folder:
        os.environ["WHOLEBODY_CHANNELS"] = folder
        for name in asked:
            files = SCENARIOS[name]()
            print(f"{name}: {len(files)} files")
            for file in files:
                print(f"  {file}")


if __name__ == "__main__":
    main()
