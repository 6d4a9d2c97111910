"""wholebody run: run the controller that a YAML file describes."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wholebody import robots
from wholebody.drivers.catalog import check_choice, for_robot
from wholebody.drivers.names import default_name
from wholebody.processes import lifecycle
from wholebody.processes.registry import CARRIER, SWITCHBOARD
from wholebody.realtime import Ended, realtime, when_told

if TYPE_CHECKING:
    from wholebody.configuration.building import Built
    from wholebody.configuration.wiring import Wired

LOG = logging.getLogger("wholebody.run")
LEVELS = {"DEBUG": 10, "INFO": 20, "WARN": 30, "ERROR": 40, "FATAL": 50}
FIELDS = {"package": "name", "file": "filename", "line": "lineno", "function": "funcName", "pid": "process"}


def run(
    file: Annotated[str, typer.Argument(help="A YAML file, or a ready configuration by name (`wholebody check`).")],
    driver: Annotated[
        str,
        typer.Option(
            metavar="NAME[:OPTION=VALUE,…]",
            help="simulation, daemon (of `wholebody start`), or another of `wholebody drivers`; the file's, if not.",
        ),
    ] = "",
    seconds: Annotated[float, typer.Option(min=0.0, help="How long; until Ctrl-C, if left out.")] = 0.0,
    name: Annotated[str, typer.Option(help="The robot's name, if it is not 'robot'.")] = "",
    fast: Annotated[bool, typer.Option("--fast", help="Simulate as fast as it goes, not in real time.")] = False,
    priority: Annotated[int, typer.Option(help="Real-time priority; 0 for none.")] = 0,
    listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Answer other machines here: wholebody get --connect HOST:PORT.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="At the end, print one JSON object.")] = False,
) -> None:
    """Run the controller that a file describes: the robot in MuJoCo, or through its daemon.

    \b
      wholebody run dreamer_reach
      wholebody get tasks.right_hand.error                        from another terminal
      wholebody set tasks.right_hand.goal 0.4 -0.2 1.0
    """
    from wholebody.configuration.building import build
    from wholebody.configuration.reading import read
    from wholebody.configuration.wiring import robot_of, wired

    built = build(choose(read(file), driver, fast))
    set_up_log(built.settings.log_level, built.settings.log_fields)
    robot_name = name or default_name()
    with (
        robot_of(built, robot_name) as (robot, clock),
        wired(built, robot, clock, robot_name) as loop,
        carried(built, robot_name),
        reachable(listen, robot_name),
        when_told(end),
    ):
        LOG.info("%s runs on '%s': %s", built.settings.name, robot_name, built.robot.name)
        begun = time.perf_counter()
        go_on(loop, seconds, priority)
        told = summary(loop, time.perf_counter() - begun)
    print(json.dumps(told) if as_json else f"{loop.servo.timing}\n{in_words(told)}")


def choose(configuration: Any, driver: str, fast: bool) -> Any:
    """The configuration, with the driver of the command line instead of the file's."""
    from wholebody.configuration.settings import Part

    settings = configuration.settings
    if driver:
        chosen = for_robot(driver, robots.load(settings.robot))
        check_choice(str(chosen))
        settings.interface = Part(type=chosen.name, **chosen.options)
    if settings.interface.type == "daemon":
        settings.interface.model_extra.setdefault("controller", settings.name)
    if fast and settings.interface.type == "simulation":
        settings.interface.model_extra["real_time"] = False
    return configuration


def go_on(loop: Wired, seconds: float, priority: int) -> None:
    """Run the loop until its time is over or a signal comes."""
    with contextlib.suppress(Ended):
        loop.servo.start()
        if priority:
            realtime(priority)
        if seconds:
            loop.servo.run(seconds)
        else:
            loop.servo.run()


def summary(loop: Wired, wall: float) -> dict[str, float]:
    """How it went."""
    servo = loop.servo
    return {
        "cycles": servo.counters.cycles,
        "seconds": round(servo.time - servo.begun + servo.clock.period, 6),
        "wall_seconds": round(wall, 3),
        "missed": servo.clock.missed,
        "faults": servo.counters.faults,
        "inputs": sum(each.taken for each in loop.steering.bindings.inputs),
        "refused": sum(each.refused for each in loop.steering.bindings.inputs),
        "events": sum(each.count for each in loop.steering.events.events),
    }


def in_words(told: dict[str, float]) -> str:
    """The summary as a line."""
    return ", ".join(f"{value:g} {key.replace('_', ' ')}" for key, value in told.items())


def end() -> None:
    """Leave the loop, wherever it is."""
    raise Ended


@contextlib.contextmanager
def carried(built: Built, robot: str) -> Iterator[None]:
    """A process that carries the bindings which are no channels, while the loop runs."""
    bindings = [each for each in built.bindings if each.transport != "channel"]
    if not bindings:
        yield
        return
    given = {
        "bindings": [{**vars(each), "properties": dict(each.properties)} for each in bindings],
        "sizes": {each.parameter: built.parameters.slot(each.parameter).about.size for each in bindings},
    }
    with lifecycle.beside(CARRIER, name=robot, controller=built.settings.name, bindings=json.dumps(given)) as carrier:
        carrier.until_ready()
        carrier.tell_when_lost(LOG.error)
        yield


@contextlib.contextmanager
def reachable(listen: str, robot: str) -> Iterator[None]:
    """A process that answers other machines, while the loop runs."""
    if not listen:
        yield
        return
    with lifecycle.beside(SWITCHBOARD, name=robot, endpoint=listen) as switchboard:
        switchboard.until_ready()
        switchboard.tell_when_lost(LOG.error)
        yield


def set_up_log(level: str, fields: Sequence[str]) -> None:
    """What is said while running, and with which prefix (Table B.2 of ControlIt!)."""
    prefix = " ".join(f"%({FIELDS[each]})s" for each in fields)
    format = f"%(levelname)s {prefix + ' ' if prefix else ''}%(message)s"
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter(format))
    LOG.handlers[:], LOG.propagate = [handler], False
    LOG.setLevel(LEVELS[level])
    warnings.showwarning = lambda message, *_: LOG.warning("%s", message)
