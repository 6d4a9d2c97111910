"""main: one of our processes, by its role: `wholebody process ROLE …`, or python -m wholebody.processes ROLE …"""

from __future__ import annotations

import argparse
import inspect
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from wholebody.drivers.names import default_name
from wholebody.errors import WholebodyError
from wholebody.processes import HELP, logs
from wholebody.processes.launch_plan import LaunchPlan
from wholebody.processes.log_stream import LogStream
from wholebody.processes.registry import ROLES, Registration, Role, robot_of
from wholebody.realtime import end_with

PROGRAM = "wholebody process"
Ready = Callable[[], None]
"""What a process calls when others can use what it does."""

CONVERTERS: dict[Any, Callable[[str], Any]] = {LaunchPlan: LaunchPlan.parse, Path: Path, str: str}


def main(words: Sequence[str]) -> None:
    """Be the process that the words of a command line ask for; an error of ours becomes a line, and status 1."""
    parser = argparse.ArgumentParser(PROGRAM, description="Be one of the processes that other commands begin.")
    roles = parser.add_subparsers(metavar="ROLE", dest="role", required=True)
    for role in ROLES.values():
        roles.add_parser(role.name, help=role.about, add_help=False)
    role = ROLES[parser.parse_args(words[:1]).role]
    try:
        function = role.load()
        given = vars(_options(role, function).parse_args(words[1:]))
        sys.stdout, sys.stderr = LogStream(1), LogStream(2)
        _run(role, function, given)
    except WholebodyError as error:
        print(f"{role.name}: {error}", file=sys.stderr, flush=True)
        sys.exit(1)


def _run(role: Role, function: Callable[..., None], given: dict[str, Any]) -> None:
    """Enter the registry, and run."""
    if until := given.pop("until"):
        end_with(until)
    if log := given.pop("log"):
        logs.keep_small(log)
    warnings.showwarning = lambda message, *_: speaker(role.name)(str(message))
    plan: LaunchPlan | None = given.get("plan")
    name = plan.name if plan else given.get("name") or default_name()
    if "name" in given:
        given["name"] = name
    if given.get("robot") == "":
        given["robot"] = robot_of(name)
    about = {key: str(given.get(key, "")) for key in ("robot", "scene")}
    with Registration(role, name, given.get(role.each, ""), **about) as entry:
        if plan:
            entry.run(plan)
        if "ready" in inspect.signature(function).parameters:
            function(**given, ready=entry.ready)
        else:
            function(**given)


def _options(role: Role, function: Callable[..., None]) -> argparse.ArgumentParser:
    """The command line of a role: an option for each parameter of its function, but `ready`."""
    parser = argparse.ArgumentParser(f"{PROGRAM} {role.name}", description=f"{role.name}: {role.about}.")
    for each in inspect.signature(function, eval_str=True).parameters.values():
        if each.name != "ready":
            required = each.default is inspect.Parameter.empty
            parser.add_argument(
                f"--{each.name}",
                type=CONVERTERS[each.annotation],
                required=required,
                default=None if required else each.default,
                help=HELP.get(each.name),
            )
    parser.add_argument("--log", type=Path, metavar="FILE", help=HELP["log"])
    parser.add_argument("--until", type=int, default=0, metavar="PROCESS", help=HELP["until"])
    return parser


def speaker(role: str) -> Callable[[str], None]:
    """What writes lines into the log, each after the name of the role whose they are."""
    return lambda text: print(f"{role}: {text}", flush=True)
