"""What may stand in a configuration for one kind of task, constraint or controller: read off its class."""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema, create_model

from wholebody import plugins
from wholebody.configuration.settings import Settings
from wholebody.drivers.catalog import Option, find
from wholebody.errors import BadDriver, BadParameter
from wholebody.parameters import Packed
from wholebody.parameters.parameter import Parameter, checked, refuse_one_for_many

HERE = "here"
"""A goal that is where the robot is when the loop begins."""
FORBID = ConfigDict(extra="forbid")
GIVEN_ELSEWHERE = {"self", "model", "period", "return"}


@cache
def model_of(name: str, kind: type[Packed]) -> type[BaseModel]:
    """The entry of one kind of task or constraint: its name, its type, and its fields."""
    hints = get_type_hints(kind, include_extras=True)
    known, goals = {each.name: each for each in kind.parameters()}, goals_of(kind)
    fields: dict[str, Any] = {"name": (str, Field(min_length=1)), "type": (Literal[name], ...)}
    for each in dataclasses.fields(kind):
        if each.name in ("name", "state") or not each.init:
            continue
        parameter = known.get(each.name)
        hint = numbers_of(parameter, each.name in goals) if parameter else plain(hints[each.name])
        given = ... if must_be_given(each) and each.name not in goals else None
        meaning = parameter.meaning if parameter else ""
        fields[each.name] = (hint if given is ... else hint | None, Field(given, description=meaning or None))
    return create_model(f"{kind.__name__}Entry", __config__=FORBID, __doc__=_first_line(kind), **fields)


def goals_of(kind: type[Packed]) -> Mapping[str, Any]:
    """The goals of a kind of task that can be "here", each with its value until the loop begins."""
    known = {each.name for each in kind.parameters()}
    return {name: value for name, value in getattr(kind, "goals", {}).items() if name in known}


@cache
def options_of(kind: Any) -> type[BaseModel]:
    """What can be said about a controller or clock: the arguments that it has."""
    function = kind.__init__ if inspect.isclass(kind) else kind
    hints = get_type_hints(function, include_extras=True)
    arguments = [each for each in inspect.signature(function).parameters.values() if each.default is not each.empty]
    fields: dict[str, Any] = {
        each.name: (plain(hints.get(each.name, Any)) | None, None)
        for each in arguments
        if each.name not in GIVEN_ELSEWHERE
    }
    return create_model(f"{getattr(kind, '__name__', 'Kind')}Options", __config__=FORBID, **fields)


@cache
def driver_options(name: str) -> type[BaseModel]:
    """What can be said about a driver: its options, with units, bounds and meanings."""
    fields: dict[str, Any] = {
        each.name: (_option(name, each), Field(... if each.needed else None, description=each.meaning or None))
        for each in find(name).options.values()
    }
    return create_model("DriverOptions", __config__=FORBID, **fields)


def _option(driver: str, option: Option) -> Any:
    """The type of an option, checked as the driver's door checks it."""

    def check(value: Any) -> Any:
        try:
            return option.of(value, driver)
        except BadDriver:
            raise ValueError(f"expected {option.wanted}, not {value!r}") from None

    kinds: dict[Any, dict[str, Any]] = {
        bool: {"type": "boolean"},
        int: {"type": "integer"},
        float: {"type": "number"},
        str: {"type": "string"},
        tuple: {"type": "array", "items": {"type": "string"}},
    }
    schema = {"enum": list(option.type)} if isinstance(option.type, tuple) else kinds[option.type]
    unit = option.unit if option.unit not in ("", "1") else ""
    described = {"description": ", ".join(filter(None, (option.meaning, unit)))} if option.meaning or unit else {}
    return Annotated[Any, PlainValidator(check), WithJsonSchema({**schema, **described})]


def numbers_of(parameter: Parameter, is_goal: bool) -> Any:
    """The type of a parameter: as many finite numbers as it has, within its bounds; a goal may also be a word."""
    size, bounds = parameter.size, parameter.bounds
    unit = f" in {parameter.unit}" if parameter.unit != "1" else ""
    count = "a number" if size is None else "a number, or one for each row" if size < 0 else f"{size} numbers"
    expected = f"expected {count}{unit}" + (f", or '{HERE}'" if is_goal else "")

    def check(value: Any) -> Any:
        if isinstance(value, str) and is_goal:
            return value
        if isinstance(value, bool) or value is None:
            raise ValueError(f"{expected}, not {value!r}")
        given = np.size(value) if isinstance(value, list) else 1
        try:
            refuse_one_for_many("it", parameter, value)
            checked("", parameter, value, size if size and size > 0 else given if size else 1)
        except BadParameter as error:
            raise ValueError(f"{expected}; {str(error).strip()}") from None
        return value

    low = {} if np.isinf(bounds.lower) else {"minimum": bounds.lower}
    high = {} if np.isinf(bounds.upper) else {"maximum": bounds.upper}
    number = {"type": "number", **low, **high}
    many: dict[str, Any] = {"type": "array", "items": number}
    if size is not None and size > 0:
        many |= {"minItems": size, "maxItems": size}
    kinds: list[Any] = [number] if size is None else [many] if size > 0 else [number, many]
    if is_goal:
        kinds.append({"type": "string"})
    schema = {"anyOf": kinds} if len(kinds) > 1 else kinds[0]
    return Annotated[Any, PlainValidator(check), WithJsonSchema({**schema, "description": expected})]


def plain(hint: Any) -> Any:
    """A type that a YAML file can say: words, numbers, lists of words; anything else is left to the class itself."""
    if hint in (str, int, float, bool):
        return hint
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        kinds = [plain(each) for each in arguments]
        return Any if Any in kinds else Union[tuple(kinds)]  # noqa: UP007
    if hint is type(None):
        return None
    if origin in (Sequence, list, tuple) and arguments and arguments[0] is str:
        return list[str]
    if origin is Mapping:
        return dict[str, Any]
    return Any


def must_be_given(field: dataclasses.Field[Any]) -> bool:
    """Whether a field has no default."""
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _first_line(kind: type) -> str:
    return (inspect.getdoc(kind) or "").partition("\n")[0]


REFERENCE = "#/$defs/{model}"


def json_schema() -> dict[str, Any]:
    """The schema of a configuration, with all tasks, constraints, controllers, interfaces and clocks installed."""
    schema = Settings.model_json_schema(ref_template=REFERENCE)
    defined = schema.setdefault("$defs", {})
    for section in ("tasks", "constraints"):
        kinds = []
        for name in plugins.names(section):
            model = model_of(name, plugins.load(section, name))
            defined[f"{section}.{name}"] = _without_definitions(model.model_json_schema(ref_template=REFERENCE))
            kinds.append({"$ref": f"#/$defs/{section}.{name}"})
        schema["properties"][section]["items"] = {"anyOf": kinds}
    for section, kind in (("controller", "controllers"), ("interface", "drivers"), ("clock", "clocks")):
        schema["properties"][section] = {"anyOf": _parts(kind)}
    schema["properties"]["include"] = {
        "description": "files whose content comes first",
        "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
    }
    schema["required"] = []  # an included file may say it
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "A controller of wholebody"
    return schema


def _parts(kind: str) -> list[Any]:
    """A name alone, or a mapping with a type and its options."""
    found: list[Any] = [{"enum": list(plugins.names(kind))}]
    for name in plugins.names(kind):
        options = driver_options(name) if kind == "drivers" else options_of(plugins.load(kind, name))
        part = _without_definitions(options.model_json_schema(ref_template=REFERENCE))
        part["properties"] = {"type": {"const": name}, **part.get("properties", {})}
        part["required"] = ["type"]
        found.append(part)
    return found


def _without_definitions(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "$defs"}
