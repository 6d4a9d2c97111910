"""wholebody run, check, filter: run the controller of a YAML file, check one, filter what another one tells."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from wholebody import robots
from wholebody.cli import options
from wholebody.daemon import filters
from wholebody.drivers import Names
from wholebody.drivers.catalog import check_choice, for_robot
from wholebody.drivers.names import default_name
from wholebody.errors import BadConfiguration, ChannelNotFound, NoRobot
from wholebody.processes import lifecycle
from wholebody.processes.launch_plan import filter_request
from wholebody.processes.registry import CARRIER, GATEWAY, nothing_runs
from wholebody.realtime import Ended, realtime, when_told

if TYPE_CHECKING:
    from wholebody.configuration.building import Built
    from wholebody.configuration.wiring import Wired


LOG = logging.getLogger("wholebody.run")
LEVELS = {"DEBUG": 10, "INFO": 20, "WARN": 30, "ERROR": 40, "FATAL": 50}
FIELDS = {"package": "name", "file": "filename", "line": "lineno", "function": "funcName", "pid": "process"}


def run(
    file: Annotated[str, typer.Argument(help="A YAML file, or a ready configuration by name (`wholebody check`).")],
    driver: options.Driver = "",
    seconds: options.Seconds = 0.0,
    name: options.Name = "",
    fast: options.Fast = False,
    priority: Annotated[int, typer.Option(help="Real-time priority; 0 for none.")] = 0,
    listen: Annotated[str, options.Listen] = "",
    insecure: options.Insecure = False,
    as_json: options.Json = False,
) -> None:
    """Run the controller that a file describes: the robot in MuJoCo, or through its daemon.

    The driver is the file's unless one is given, such as simulation, or daemon (of `wholebody start`). It ends with
    Ctrl-C, or after --seconds.

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
        reachable(listen, robot_name, insecure),
        when_told(end),
    ):
        LOG.info("%s runs on '%s': %s", built.settings.name, robot_name, built.robot.name)
        begun = time.perf_counter()
        go_on(loop, seconds, priority)
        told = summary(loop, time.perf_counter() - begun)
    print(json.dumps(told) if as_json else f"{loop.servo.timing}\n{summary_line(told)}")


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


def summary_line(told: dict[str, float]) -> str:
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
def reachable(listen: str, robot: str, insecure: bool) -> Iterator[None]:
    """A process that answers other machines, while the loop runs."""
    if not listen:
        yield
        return
    with lifecycle.beside(GATEWAY, name=robot, endpoint=listen, insecure="yes" if insecure else "") as gateway:
        gateway.until_ready()
        gateway.tell_when_lost(LOG.error)
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


def check(
    file: Annotated[
        str, typer.Argument(help="A YAML file, or a ready configuration or motion by name; none: list them.")
    ] = "",
    schema: Annotated[
        Path | None, typer.Option(metavar="OUT", help="Write the JSON schema of configurations, for editors, and end.")
    ] = None,
) -> None:
    """Read a configuration, load its robot, make everything it names, and say what it is; or what is wrong, and where.

    Of key frames, such as atlas/roll_left, show the static stability margin of each. Exit code 1 if something is wrong.
    """
    console = Console(highlight=False, soft_wrap=True)
    if schema is not None:
        from wholebody.configuration.schema import json_schema

        schema.write_text(json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        console.print(f"{schema}: first line of a configuration: # yaml-language-server: $schema={schema}")
        return
    from wholebody.cli import motion as motions
    from wholebody.configuration.reading import find, read, ready
    from wholebody.motion import files

    if not file:
        for name in ready():
            first = find(name).read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
            console.print(f"[bold]{name}[/]  {first}")
        console.print(f"motions: {', '.join(files.everything())}")
        return
    motion = files.find(file)
    if motion is not None:
        motions.check(motion)
        return
    begun = time.perf_counter()
    from wholebody.configuration.building import build

    try:
        built = build(read(file))
    except BadConfiguration as error:
        for line in error.problems if len(error.problems) > 1 else [str(error)]:
            console.print(line, markup=False)
        raise typer.Exit(1) from None
    settings, problem = built.settings, built.compound.problem
    console.print(f"[bold]{file}[/] is well ({time.perf_counter() - begun:.2f} s)")
    console.print(f"{settings.name}: {settings.robot}, {settings.controller.type}, {settings.servo_frequency:g} Hz")
    for level in problem.levels:
        priority = built.compound.priority(level[0].name)
        console.print(f"  priority {priority}: {', '.join(f'{each.name} ({each.state})' for each in level)}")
    held = ", ".join(f"{each.name} ({each.state})" for each in problem.constraints)
    console.print(f"  constraints: {held or 'none'}")
    for binding in built.bindings:
        console.print(f"  {binding}", markup=False)
    for name, expression in built.events.items():
        console.print(f"  event {name}: {expression}", markup=False)


def filter(
    controller: Annotated[str, typer.Argument(help="The controller, which says connect(…, filtered=True).")],
    words: Annotated[str, typer.Argument(help="pass | smooth L | compliant Kc | feedback L")] = "smooth 40",
    period: Annotated[float, options.Period] = 0.01,
    name: options.Name = "",
) -> None:
    """Pass a controller's references on filtered and at a steady rate, until Ctrl-C; it may step, at any rate.

    wholebody filter wave "smooth 40"
    """
    mode, value = filter_request(words)
    names = Names(name)
    Console(stderr=True).print(
        f"{names.unfiltered(controller)} → {words} → {names.reference(controller)}, every {period:g} s", highlight=False
    )
    try:
        filters.run(controller, names.robot, mode, value, period)
    except ChannelNotFound as error:
        raise NoRobot(nothing_runs(names.robot)) from error
