"""Plug-ins: robots, tasks, drivers, commands and the like by name, ours and other people's, found by entry points.

    [project.entry-points."wholebody.tasks"]
    level = "my_package.level:LevelTask"

The groups are `wholebody.` and each of KINDS. What is installed under a name of ours takes its place.
`path/to/file.py:Class` is a name, too: nothing needs to be installed.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from wholebody.errors import BadConfiguration, UnknownName, closest

KINDS = (
    "robots",
    "tasks",
    "constraints",
    "controllers",
    "drivers",
    "clocks",
    "transports",
    "stabilizers",
    "behaviors",
    "panels",
    "commands",
)


def names(kind: str) -> tuple[str, ...]:
    """The names of all that is installed of a kind."""
    return tuple(_table(kind))


def load(kind: str, name: str, usual: str = "") -> Any:
    """What is installed under a name, or written in a file, imported now; UnknownName if there is none.

    usual: what it is called where only its module or its file is named.
    """
    origin = name if is_in_file(name) else _table(kind).get(name)
    if origin is None:
        raise UnknownName(kind.rstrip("s"), name, _table(kind))
    source, _, attribute = origin.partition(":")
    attribute = attribute or usual
    try:
        module = module_of(Path(source).resolve()) if source.endswith(".py") else importlib.import_module(source)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise BadConfiguration(f"{kind.rstrip('s')} '{name}' cannot be imported from {origin}: {why}") from error
    if not hasattr(module, attribute):
        own = [key for key, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        near = closest(attribute, own) or f"; it has: {', '.join(own) or 'none'}"
        wanted = f"no '{attribute}'" if attribute else "no class named after a colon"
        raise BadConfiguration(f"{kind.rstrip('s')} '{name}': {wanted} in {source}{near}")
    return getattr(module, attribute)


def is_in_file(name: str) -> bool:
    """Whether a name says path/to/file.py:Class."""
    return name.partition(":")[0].endswith(".py")


def source(kind: str, name: str) -> str:
    """Where what is installed under a name comes from: the name of its package, or its file."""
    module, _, _ = _table(kind).get(name, name).rpartition(":")
    return module if module.endswith(".py") else module.partition(".")[0]


@cache
def _table(kind: str) -> dict[str, str]:
    found = sorted(entry_points(group=f"wholebody.{kind}"), key=lambda entry: not entry.value.startswith("wholebody."))
    return {entry.name: entry.value for entry in found}


@cache
def module_of(path: Path) -> ModuleType:
    """The module that a file is, loaded once; it is in sys.modules, as dataclasses look up their annotations there."""
    name = f"{path.stem}_{abs(hash(path)):x}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
