"""Verbs: what running behaviours can be told, as text, with units, bounds and defaults: a goal's dataclass, described.

about = described((Nod, Shake))                  # one text, which a GoalServer publishes
nod = verbs_in(about)["nod"]                     # anywhere else; the class is not needed
nod.goal(["2", "depth=10deg"])                   # the goal, as the class itself would make it
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from wholebody.errors import BadParameter, UnknownName
from wholebody.parameters.parameter import (
    Bounds,
    Meaning,
    Size,
    Unit,
    check_fields,
    meaning_in_docstring,
    parameters_of,
)
from wholebody.parameters.reflection import About
from wholebody.parameters.text import as_text, value_of
from wholebody.services.records import NAME, AtMost, kind_name

_TYPES: dict[str, Any] = {"number": float, "vector": float, "whole": int, "switch": bool, "text": str}
_NOTHING: Any = dataclasses.MISSING


@dataclass(frozen=True)
class Verb:
    """What a behaviour can be told: its name, what it does, and its arguments with their defaults."""

    name: str
    help: str
    arguments: tuple[About, ...]
    defaults: Mapping[str, Any]
    """Of those that can be left out."""

    @cached_property
    def kind(self) -> type:
        """A dataclass with the fields of the one that was described; it makes the same records."""
        fields = [
            (each.path, _hint(each), dataclasses.field(default=self.defaults.get(each.path, _NOTHING)))
            for each in self.arguments
        ]
        return dataclasses.make_dataclass(
            self.name, fields, frozen=True, kw_only=True, namespace={"__doc__": self.help}
        )

    @property
    def usage(self) -> str:
        """How it is written: nod [times=2] [depth=0.15 rad]."""
        return " ".join([self.name, *(self._usage(each) for each in self.arguments)])

    def text_of(self, about: About) -> str:
        """The default of an argument as it is typed; empty if it has none."""
        return as_text(self.defaults[about.path]) if about.path in self.defaults else ""

    def goal(self, words: Sequence[Any] = (), **named: Any) -> Any:
        """The goal that words stand for, in the order of the arguments or as name=value, texts or values; checked."""
        given = dict(self._given(words)) | named
        if unknown := [name for name in given if name not in self._named]:
            raise UnknownName(f"argument of {self.name}", unknown[0], self._named)
        values = {name: self._value(self._named[name], value) for name, value in given.items()}
        if missing := [name for name in self._named if name not in values and name not in self.defaults]:
            raise BadParameter(f"{self.name} needs {', '.join(missing)}; write: {self.usage}")
        goal = self.kind(**values)
        check_fields(goal)
        return goal

    def form(self) -> dict[str, Any]:
        """As JSON has it, for a page or another language: no infinity, null for a default that is not there."""
        return {
            "name": self.name,
            "help": self.help,
            "usage": self.usage,
            "arguments": [
                form(each) | {"required": each.path not in self.defaults, "value": self.defaults.get(each.path)}
                for each in self.arguments
            ],
        }

    @cached_property
    def _named(self) -> dict[str, About]:
        return {each.path: each for each in self.arguments}

    def _given(self, words: Sequence[Any]) -> Iterable[tuple[str, Any]]:
        plain = 0
        for word in words:
            name, sign, text = word.partition("=") if isinstance(word, str) else ("", "", "")
            if sign:
                yield name, text
            elif plain < len(self.arguments):
                yield self.arguments[plain].path, word
                plain += 1
            else:
                raise BadParameter(f"{self.name} takes {len(self.arguments)} arguments; write: {self.usage}")

    def _value(self, about: About, value: Any) -> Any:
        value = value_of(about, value) if isinstance(value, str) else value
        if about.kind == "vector":
            return tuple(float(each) for each in (value if hasattr(value, "__len__") else [value] * about.size))
        whole = about.kind == "whole" and isinstance(value, float) and value.is_integer()
        return int(value) if whole else value

    def _usage(self, about: About) -> str:
        named = "|".join(about.choices) if about.kind == "choice" else about.kind.upper()
        if about.path in self.defaults:
            named = self.text_of(about)
        written = f"{about.path}={named}{f' {about.unit}' if about.unit not in ('', '1') else ''}"
        return f"[{written}]" if about.path in self.defaults else written


def described(kinds: Iterable[type]) -> str:
    """The text in which dataclasses of goals are described; one with an argument that is no text is left out."""
    return json.dumps([verb.form() for kind in kinds if (verb := verb_of(kind)) is not None])


def verbs_in(text: str) -> dict[str, Verb]:
    """The verbs that a text describes, by name."""
    found = (_verb(each) for each in json.loads(text or "[]"))
    return {each.name: each for each in found}


def verb_of(kind: type) -> Verb | None:
    """The verb that a dataclass of a goal is; None if it has an argument that nobody can type."""
    hints, defaults = get_type_hints(kind, include_extras=True), dict[str, Any]()
    arguments = []
    for each in dataclasses.fields(kind):
        about = argument(kind, each.name, hints[each.name])
        if about is None:
            return None
        arguments.append(about)
        if each.default is not dataclasses.MISSING:
            defaults[each.name] = each.default
    help = (inspect.getdoc(kind) or "").partition("\n")[0]
    return Verb(kind_name(kind), help, tuple(arguments), defaults)


def form(about: About) -> dict[str, Any]:
    """What is known of a parameter or an argument, as JSON has it."""
    lower, upper = (each if math.isfinite(each) else None for each in (about.lower, about.upper))
    return {
        "name": about.path,
        "kind": about.kind,
        "size": about.size,
        "unit": about.unit,
        "meaning": about.meaning,
        "lower": lower,
        "upper": upper,
        "choices": about.choices,
    }


def argument(kind: type, name: str, hint: Any) -> About | None:
    """What is known of a field of a dataclass, by its annotation; None if nobody can type it."""
    parameter = parameters_of(kind).get(name)
    plain, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    said = [each.text for each in notes if isinstance(each, Meaning)]
    meaning = parameter.meaning if parameter else said[-1] if said else meaning_in_docstring(kind, name)
    unit = parameter.unit if parameter else ""
    bounds = parameter.bounds if parameter else Bounds()
    choices: tuple[str, ...] = ()
    size = 1
    if get_origin(plain) is Literal:
        what, choices = "choice", get_args(plain)
    elif get_origin(plain) is tuple and set(get_args(plain)) == {float}:
        what, size = "vector", len(get_args(plain))
    elif plain is str:
        what, size = "text", next((each.count for each in notes if isinstance(each, AtMost)), NAME)
    elif plain in (float, int, bool):
        what = {float: "number", int: "whole", bool: "switch"}[plain]
    else:
        return None
    return About(name, what, unit, size, bounds.lower, bounds.upper, meaning, choices=choices)


def _hint(about: About) -> Any:
    """The annotation that an argument was described from."""
    if about.kind == "choice":
        return Literal[about.choices]
    if about.kind == "text":
        return Annotated[str, AtMost(about.size)]
    kind = _TYPES[about.kind]
    if about.kind == "vector":
        kind = tuple[(kind,) * about.size]  # type: ignore[misc]
    if not about.unit:
        return kind
    notes = (Unit(about.unit), Bounds(about.lower, about.upper), Meaning(about.meaning))
    return Annotated[(kind, *notes, *((Size(about.size),) if about.kind == "vector" else ()))]


def _verb(plain: dict[str, Any]) -> Verb:
    arguments, defaults = [], {}
    for each in plain["arguments"]:
        lower, upper = (-math.inf if each["lower"] is None else each["lower"]), each["upper"]
        upper = math.inf if upper is None else upper
        about = About(
            each["name"], each["kind"], each["unit"], each["size"], lower, upper, each["meaning"],
            choices=tuple(each["choices"]),
        )  # fmt: skip
        arguments.append(about)
        if not each["required"]:
            value = each["value"]
            defaults[about.path] = tuple(value) if isinstance(value, list) else value
    return Verb(plain["name"], plain["help"], tuple(arguments), defaults)
