"""Reading a configuration: YAML to Settings, and everything that is wrong with it, each with file, line and remedy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from wholebody import plugins
from wholebody.configuration.schema import driver_options, model_of, options_of
from wholebody.configuration.settings import SECTIONS, Settings
from wholebody.control.impedance import Impedance
from wholebody.control.transitions import Durations
from wholebody.errors import BadConfiguration, BadDriver, UnknownName, closest
from wholebody.parameters.documents import Document, Place, read_document

READY = Path(__file__).parent / "ready"
SHOWN = 20


@dataclass(frozen=True)
class Configuration:
    """A file that says what can be: its settings, and where each of them stands."""

    settings: Settings
    document: Document

    def where(self, *place: str | int) -> str:
        """file:line of something in it."""
        return self.document.where(place)


def ready() -> tuple[str, ...]:
    """The names of the configurations that come with wholebody."""
    return tuple(sorted(each.stem for each in READY.glob("*.yaml")))


def find(name: str | Path) -> Path:
    """A file by its path, or a ready configuration by its name."""
    path = Path(name)
    if path.is_file():
        return path
    own = READY / f"{path.name.removesuffix('.yaml')}.yaml"
    if path.parent == Path() and own.is_file():
        return own
    raise BadConfiguration(
        f"there is no file {path}{closest(path.stem, ready())}; configurations that are ready: {', '.join(ready())}"
    )


def read(name: str | Path) -> Configuration:
    """Read and check a file, or a ready configuration, as far as that is possible without the robot."""
    document = read_document(find(name), _included)
    if not isinstance(document.data, dict):
        raise BadConfiguration(f"{document.file}: a configuration has keys and values, such as robot: dreamer")
    problems = list(_problems(document))
    if problems:
        many = f"{len(problems)} objects are" if len(problems) > 1 else "something is"
        raise BadConfiguration(f"{document.file}: {many} wrong:", problems[:SHOWN])
    return Configuration(Settings.model_validate(document.data), document)


def _included(name: str, folder: Path) -> Path:
    near = folder / name
    return near if near.is_file() else READY / name if (READY / name).is_file() else near


def _problems(document: Document) -> Iterator[str]:
    """Everything that is wrong: first in the file as a whole, then entry by entry."""
    data = document.data
    yield from _validated(Settings, data, (), document)
    for section in ("tasks", "constraints"):
        entries = data.get(section)
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            yield from _entry_problems(section, entry, (section, index), document)
    for section, kind in (("controller", "controllers"), ("interface", "drivers"), ("clock", "clocks")):
        if section in data:
            yield from _part_problems(kind, data[section], (section,), document)
    for section, owner in (("impedance", Impedance), ("transitions", Durations)):
        if isinstance(data.get(section), dict):
            yield from _validated(options_of(owner), data[section], (section,), document)
    yield from _name_problems(data, document)


def _entry_problems(section: str, entry: Any, place: Place, document: Document) -> Iterator[str]:
    if not isinstance(entry, dict) or not all(isinstance(entry.get(key), str) for key in ("name", "type")):
        return  # said already
    try:
        model = model_of(entry["type"], plugins.load(section, entry["type"]))
    except UnknownName as error:
        yield f"{document.where((*place, 'type'))}: {_path(place, entry)}.type: {error}"
        return
    yield from _validated(model, entry, place, document)


def _part_problems(kind: str, part: Any, place: Place, document: Document) -> Iterator[str]:
    entry = {"type": part} if isinstance(part, str) else part
    if not isinstance(entry, dict) or not isinstance(entry.get("type"), str):
        return
    try:
        model = driver_options(entry["type"]) if kind == "drivers" else options_of(plugins.load(kind, entry["type"]))
    except (UnknownName, BadConfiguration, BadDriver) as error:
        yield f"{document.where((*place, 'type'))}: {_path(place, None)}: {error}"
        return
    options = {key: value for key, value in entry.items() if key != "type"}
    yield from _validated(model, options, place, document)


def _name_problems(data: dict[str, Any], document: Document) -> Iterator[str]:
    """Names that are there twice, missing, or not defined."""
    for section, users in (("tasks", "compound_task"), ("constraints", "constraint_set")):
        defined = _names(data.get(section))
        used = _names(data.get(users))
        for names, where in ((defined, section), (used, users)):
            for index, name in enumerate(names):
                if name and name in names[:index]:
                    yield f"{document.where((where, index, 'name'))}: {where}: the name '{name}' is there twice"
        for index, name in enumerate(used):
            if name and name not in defined:
                near = closest(name, defined)
                yield f"{document.where((users, index, 'name'))}: {users}: no {section[:-1]} '{name}'{near}"
        for index, name in enumerate(defined):
            if name and name not in used and users in data:
                yield (
                    f"{document.where((section, index, 'name'))}: {section}: '{name}' is not used: "
                    f"add it to {users}, disabled if need be, or leave it out"
                )
        if defined and users not in data and section == "constraints":
            yield f"{document.where((section,))}: there are {section} but no {users}, which says what they are for"


def _names(entries: Any) -> list[str]:
    items = entries if isinstance(entries, list) else []
    return [each.get("name", "") if isinstance(each, dict) else "" for each in items]


def _validated(model: type[BaseModel], data: Any, place: Place, document: Document) -> Iterator[str]:
    try:
        model.model_validate(data)
    except ValidationError as error:
        for each in error.errors():
            yield _problem(model, each, data, place, document)


def _problem(model: type[BaseModel], error: Any, data: Any, place: Place, document: Document) -> str:
    inside = _in_data(error["loc"], data)
    where, key = document.where((*place, *inside)), str(error["loc"][-1])
    entry = data if place else (data[inside[0]][inside[1]] if len(inside) > 1 and inside[0] in SECTIONS else None)
    path = _path((*place, *inside), entry if isinstance(entry, dict) else None)
    if error["type"] == "extra_forbidden":
        owner = SECTIONS.get(str(inside[0]), model) if not place and len(inside) > 1 else model
        known = list(owner.model_fields)
        return f"{where}: {path}: unknown key '{key}'{closest(key, known) or '; there are: ' + ', '.join(known)}"
    if error["type"] == "missing":
        return f"{where}: {path}: the key '{key}' is missing"
    if error["type"] == "literal_error":
        expected = error["ctx"]["expected"]
        words = [word.strip("' ") for word in expected.replace(" or ", ", ").split(",")]
        return f"{where}: {path}: expected {expected}, not {error['input']!r}{closest(str(error['input']), words)}"
    said = error["msg"].removeprefix("Value error, ")
    return f"{where}: {path}: {said[0].lower() + said[1:]}" + ("" if "not " in said else f", not {error['input']!r}")


def _in_data(loc: tuple[Any, ...], data: Any) -> Place:
    """The part of an error's place that is in the data: names of types that were tried are left out."""
    found: list[Any] = []
    here = data
    for step in loc:
        there = range(len(here)) if isinstance(here, list) else here if isinstance(here, dict) else ()
        if step in there:
            here = here[step]
            found.append(step)
    return tuple(found)


def _path(place: Place, entry: dict[str, Any] | None) -> str:
    """Where something stands, as a person says it: tasks[2] (right_hand).goal."""
    text = ""
    for step in place:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
        if isinstance(step, int) and entry and isinstance(entry.get("name"), str):
            text += f" ({entry['name']})"
    return text or "the file"
