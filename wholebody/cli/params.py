"""wholebody params, get, set: the parameters of a running controller."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.table import Table

from wholebody.cli import options
from wholebody.errors import BadParameter, closest
from wholebody.operator.monitor.tables import wide_console
from wholebody.parameters.reflection import About, Value, in_words
from wholebody.parameters.remote import Remote
from wholebody.parameters.text import value_of
from wholebody.processes.filter_parameters import GROUP, FilterParameters

if TYPE_CHECKING:
    pass


DAEMON = "daemon"
"""Whose parameters are the filters of joints."""


def reach(controller: str, name: str, connect: str, path: str = "") -> Remote | FilterParameters:
    """The controller of a name, or, if it or the path says so, the daemon's filters."""
    filters = controller == DAEMON or (not controller and path.partition(".")[0] == GROUP)
    if filters and connect:
        raise BadParameter("the filters of joints can be reached only on the machine on which the daemon runs")
    return FilterParameters(name) if filters else Remote(controller, name, connect)


def params(
    pattern: Annotated[str, typer.Argument(help="Part of a path; all, if left out.")] = "",
    controller: options.Controller = "",
    name: options.Name = "",
    connect: Annotated[str, options.Connect] = "",
    save: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the values into a YAML file.")] = None,
    load: Annotated[Path | None, typer.Option(metavar="FILE", help="Set the values of such a file.")] = None,
    as_json: options.Json = False,
) -> None:
    """List the parameters of a running controller: path, value, unit, bounds, meaning.

    \b
      wholebody params right_hand
      wholebody params --controller walk --save gait.yaml
      wholebody params filter
    """
    remote = reach(controller, name, connect, pattern)
    console = wide_console()
    if load is not None:
        remote.load(load)
    if save is not None:
        remote.save(save)
        console.print(
            f"{save}: `wholebody params --load` reads it, and a configuration of the same tasks can include it"
        )
        return
    values = remote.values()
    chosen = [each for each in remote.list() if pattern in each.path]
    if as_json:
        print(json.dumps({each.path: {**asdict(each), "value": plain(values[each.path])} for each in chosen}))
        return
    if not chosen:
        console.print(f"no parameter has '{pattern}' in its path{closest(pattern, values)}")
        raise typer.Exit(1)
    table = Table(box=None, pad_edge=False)
    for column in ("path", "value", "unit", "bounds", "meaning"):
        table.add_column(column)
    for each in chosen:
        value = in_words(values[each.path])
        table.add_row(each.path, value, each.unit, bounds(each), each.meaning)
    console.print(table)


def plain(value: Value) -> Any:
    """A value as JSON has it."""
    return value.tolist() if isinstance(value, np.ndarray) else value


def bounds(about: About) -> str:
    """What a parameter may be."""
    if not about.writable:
        return "to be read"
    if about.choices:
        return ", ".join(about.choices)
    if math.isinf(about.lower) and math.isinf(about.upper):
        return f"{about.size} numbers" if about.kind == "vector" else ""
    return f"{about.lower:g} … {about.upper:g}"


def get(
    path: Annotated[str, typer.Argument(help="Such as tasks.right_hand.goal; `wholebody params` lists them.")],
    controller: options.Controller = "",
    name: options.Name = "",
    connect: Annotated[str, options.Connect] = "",
    as_json: options.Json = False,
) -> None:
    """Say what a parameter is now."""
    value = reach(controller, name, connect, path).get(path)
    print(json.dumps(plain(value)) if as_json else in_words(value))


@options.context(ignore_unknown_options=True)  # a number below zero is no option
def set(
    path: Annotated[str, typer.Argument(help="Such as tasks.right_hand.goal; `wholebody params` lists them.")],
    values: Annotated[list[str], typer.Argument(help="A number, a number for each row, or the name of a state.")],
    controller: options.Controller = "",
    name: options.Name = "",
    connect: Annotated[str, options.Connect] = "",
) -> None:
    """Change a parameter, checked against its bounds; say what it is then.

    \b
      wholebody set tasks.right_hand.goal 0.4 -0.2 1.0
      wholebody set tasks.right_hand.state disabled
      wholebody set tasks.posture.priority 3
      wholebody set gait.step_time 0.7 --controller walk
      wholebody set filter.RSP.mode smooth
    """
    remote = reach(controller, name, connect, path)
    about = remote.about(path)
    print(in_words(remote.set(path, value_of(about, " ".join(values)))))
