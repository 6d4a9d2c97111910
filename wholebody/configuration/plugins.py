"""Plug-ins: the kinds of things that a configuration names, ours and other people's, found by entry points.

    [project.entry-points."wholebody.tasks"]
    level = "my_package.level:LevelTask"

The groups are wholebody.tasks, .constraints, .controllers, .interfaces, .clocks, .transports and, in the catalogue of
robots, .robots. What is installed under a name of ours takes its place.
"""

from __future__ import annotations

import importlib
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from wholebody.errors import BadConfiguration, UnknownName

KINDS = ("tasks", "constraints", "controllers", "interfaces", "clocks", "transports")


def names(kind: str) -> tuple[str, ...]:
    """The names of all that is installed of a kind."""
    return tuple(_table(kind))


def load(kind: str, name: str) -> Any:
    """What is installed under a name, imported now; UnknownName if there is none."""
    table = _table(kind)
    if name not in table:
        raise UnknownName(kind.rstrip("s"), name, table)
    module, _, attribute = table[name].partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise BadConfiguration(f"{kind.rstrip('s')} '{name}' cannot be had from {table[name]}: {error}") from error


@cache
def _table(kind: str) -> dict[str, str]:
    found = sorted(entry_points(group=f"wholebody.{kind}"), key=lambda entry: not entry.value.startswith("wholebody."))
    return {entry.name: entry.value for entry in found}
