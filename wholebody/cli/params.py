"""wholebody params: the parameters of a running controller."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from wholebody.cli.tables import wide_console
from wholebody.errors import closest
from wholebody.parameters.reflection import About, Value
from wholebody.parameters.remote import Remote

NameOption = Annotated[str, typer.Option(help="The robot's name, if several robots have controllers.")]
ControllerOption = Annotated[str, typer.Option(help="The controller's name, if several run.")]
ConnectOption = Annotated[
    str, typer.Option(metavar="HOST:PORT", help="Of another machine, where it runs with --listen.")
]


def params(
    pattern: Annotated[str, typer.Argument(help="Part of a path; all, if left out.")] = "",
    controller: ControllerOption = "",
    name: NameOption = "",
    connect: ConnectOption = "",
    save: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the values into a YAML file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As one JSON object.")] = False,
) -> None:
    """List the parameters of a running controller: path, value, unit, bounds, meaning."""
    remote = Remote(controller, name, connect)
    console = wide_console()
    if save is not None:
        remote.save(save)
        console.print(f"{save}: a configuration can include it, `wholebody check` reads it")
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


def in_words(value: Value) -> str:
    """A value for people."""
    if isinstance(value, str):
        return value
    return " ".join(f"{number:.6g}" for number in np.atleast_1d(value))


def bounds(about: About) -> str:
    """What a parameter may be."""
    if not about.writable:
        return "to be read"
    if about.choices:
        return ", ".join(about.choices)
    if math.isinf(about.lower) and math.isinf(about.upper):
        return f"{about.size} numbers" if about.kind == "vector" else ""
    return f"{about.lower:g} … {about.upper:g}"
