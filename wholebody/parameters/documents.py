"""Document: a YAML file as plain data that remembers where each value stands, with the files that it includes.

An `include:` at the top, one file or a list, takes what other files say, which may be told otherwise: mappings are
merged key by key, lists of named objects name by name, and everything else is replaced.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from wholebody.errors import BadConfiguration
from wholebody.files import plain, yaml_nodes

INCLUDE = "include"
Place = tuple[str | int, ...]
"""Keys and indices that lead to a value."""


@dataclass
class Document:
    """What a file says, and the file and line of everything in it."""

    file: Path
    data: Any = None
    lines: dict[Place, str] = field(default_factory=dict)

    def where(self, place: Place) -> str:
        """file:line of a value, or of the nearest object around it."""
        for length in range(len(place), -1, -1):
            if place[:length] in self.lines:
                return self.lines[place[:length]]
        return str(self.file)


def read_document(file: str | Path, find: Callable[[str, Path], Path] | None = None) -> Document:
    """Read a file and what it includes; BadConfiguration says file, line and what is wrong.

    find  where an included file is, by its name and the folder of the file that includes it: there, unless told
    """
    return _read(Path(file), find or (lambda name, folder: folder / name), ())


def write_document(file: str | Path, data: Any) -> None:
    """Write plain data as YAML: short lists on one line, keys in their order, numbers to the last bit."""
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, default_flow_style=None, width=120)
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadConfiguration(f"{file} cannot be written: {error.strerror}") from error


def _read(file: Path, find: Callable[[str, Path], Path], above: tuple[Path, ...]) -> Document:
    here = file.resolve()
    if here in above:
        chain = " → ".join(str(each.name) for each in (*above[above.index(here) :], here))
        raise BadConfiguration(f"{above[-1]}: files include each other in a circle: {chain}; leave one out")
    document = _parse(file)
    if not isinstance(document.data, dict) or INCLUDE not in document.data:
        return document
    included = document.data.pop(INCLUDE)
    names = [included] if isinstance(included, str) else included
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise BadConfiguration(f"{document.where((INCLUDE,))}: {INCLUDE} must be a file or a list of files")
    whole = Document(file, {})
    for name in names:
        path = find(name, file.parent)
        if not path.is_file():
            raise BadConfiguration(f"{document.where((INCLUDE,))}: there is no file {path} to include")
        _merge(whole, _read(path, find, (*above, here)), ())
    _merge(whole, document, ())
    return whole


def _parse(file: Path) -> Document:
    node = yaml_nodes(file, BadConfiguration)
    document = Document(file)
    document.data = None if node is None else _plain(node, (), document)
    return document


def _plain(node: yaml.Node, place: Place, document: Document) -> Any:
    """The data of a node; lines are noted on the way."""
    where = f"{document.file}:{node.start_mark.line + 1}"
    document.lines.setdefault(place, where)
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, place, document)
    if isinstance(node, yaml.SequenceNode):
        return [_plain(each, (*place, index), document) for index, each in enumerate(node.value)]
    return plain(node, where, BadConfiguration)


def _mapping(node: yaml.MappingNode, place: Place, document: Document) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        where = f"{document.file}:{key_node.start_mark.line + 1}"
        if not isinstance(key_node, yaml.ScalarNode) or key_node.tag == "tag:yaml.org,2002:merge":
            raise BadConfiguration(f"{where}: a key must be a word; to take over what stands elsewhere, use {INCLUDE}")
        key = plain(key_node, where, BadConfiguration)
        if key in found:
            raise BadConfiguration(f"{where}: '{key}' is given twice, first in {document.where((*place, key))}")
        document.lines[(*place, key)] = where
        found[key] = _plain(value_node, (*place, key), document)
    return found


def _merge(into: Document, other: Document, place: Place) -> None:
    """Take over what another document says, which has the last word."""
    into.data, moved = _merged(into.data, other.data, place)
    for old, where in other.lines.items():
        into.lines[_moved(old, moved)] = where


def _moved(place: Place, moved: dict[Place, int]) -> Place:
    """Where a value of the other document stands in the merged one."""
    for length in range(len(place), 0, -1):
        if place[:length] in moved:
            return (*_moved(place[: length - 1], moved), moved[place[:length]], *place[length:])
    return place


def _merged(old: Any, new: Any, place: Place) -> tuple[Any, dict[Place, int]]:
    """Both together; and for items of lists, at which index those of the new one are now."""
    moved: dict[Place, int] = {}
    if isinstance(old, dict) and isinstance(new, dict):
        found = dict(old)
        for key, value in new.items():
            found[key], inner = _merged(old[key], value, (*place, key)) if key in old else (value, {})
            moved |= inner
        return found, moved
    if isinstance(old, list) and isinstance(new, list) and _named(old) and _named(new):
        items = list(old)
        for index, item in enumerate(new):
            at = next((i for i, each in enumerate(items) if each["name"] == item["name"]), len(items))
            items[at:] = [({**items[at], **item} if at < len(items) else item), *items[at + 1 :]]
            moved[(*place, index)] = at
        return items, moved
    return new, moved


def _named(items: list[Any]) -> bool:
    return all(isinstance(each, dict) and "name" in each for each in items)
