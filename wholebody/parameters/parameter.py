"""The annotation is the parameter: unit, bounds and size stand on the field, and everything else reads them there.

stiffness: Annotated[float, Unit("1/s²"), Bounds(0, 1000)] = 100.0
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, cast, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadParameter


@dataclass(frozen=True)
class Unit:
    """In what a parameter is measured; a field with a unit is a parameter. A pure number has the unit "1"."""

    symbol: str


@dataclass(frozen=True)
class Bounds:
    """The least and the greatest value a parameter may take, both included."""

    lower: float = -math.inf
    upper: float = math.inf


@dataclass(frozen=True)
class Size:
    """How many numbers a parameter has, if it is a vector."""

    count: int


@dataclass(frozen=True)
class OneForEachRow:
    """The parameter has a number for each row of its task; one number given stands for all of them."""


@dataclass(frozen=True)
class Meaning:
    """What a parameter is for, in a few words; unless a class says it in its docstring, as `name  meaning`."""

    text: str


Array = npt.NDArray[np.float64]
Memory: TypeAlias = "memoryview[float]"


@dataclass(frozen=True)
class Parameter:
    """What a field's annotation says."""

    name: str
    unit: str
    bounds: Bounds
    size: int | None  # None for a single number, −1 for one for each row
    whole: bool = False  # whether only whole numbers will do
    meaning: str = ""


def parameters_of(kind: type) -> dict[str, Parameter]:
    """The annotated attributes of a class, in their order, read off its annotations once."""
    if kind not in _known:
        hints = get_type_hints(kind, include_extras=True)
        found = (_parameter(kind, name, hint) for name, hint in hints.items())
        _known[kind] = {each.name: each for each in found if each is not None}
    return _known[kind]


_known: dict[type, dict[str, Parameter]] = {}


def checked(what: str, parameter: Parameter, value: Any, size: int) -> Array:
    """A value as `size` finite numbers within bounds; BadParameter says of what, what is wrong with it."""
    try:
        given = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadParameter(f"{what} must be numbers, not {value!r}") from None
    one_for_all = given.ndim == 0 and (size == 1 or parameter.size == -1 or isinstance(value, int | float))
    if given.shape != (size,) and not one_for_all:
        raise BadParameter(f"{what} must have {size} numbers, not shape {given.shape}")
    bounds = parameter.bounds
    numbers = given.tolist() if given.ndim else [float(given)]
    if not math.isfinite(sum(numbers)) and not np.isfinite(given).all():
        raise BadParameter(f"{what} must be finite, not {value!r}")
    if numbers and (min(numbers) < bounds.lower or max(numbers) > bounds.upper):
        unit = f" {parameter.unit}" if parameter.unit != "1" else ""
        raise BadParameter(f"{what} = {value!r} is outside {bounds.lower:g} … {bounds.upper:g}{unit}")
    if parameter.whole and any(number != int(number) for number in numbers):
        raise BadParameter(f"{what} must be a whole number, not {value!r}")
    return given if given.ndim else np.broadcast_to(given, (size,))


def refuse_one_for_many(what: str, parameter: Parameter, value: Any) -> None:
    """Refuse one number for a vector: in code 0.0 is a short way to write zeros, where people type it is a slip."""
    if (parameter.size or 0) > 1 and np.ndim(value) == 0 and not isinstance(value, str):
        raise BadParameter(f"{what} must have {parameter.size} numbers, not one: {value}")


def check_fields(record: object) -> None:
    """Refuse a dataclass one of whose parameters is no finite number within its bounds, by BadParameter."""
    for name, parameter in parameters_of(type(record)).items():
        checked(name, parameter, getattr(record, name), parameter.size or 1)


def is_plain(parameter: Parameter, value: Any, like: Array) -> bool:
    """Whether a value is an array as it should be, with nothing to say against it; the quick way, for loops."""
    if type(value) is not np.ndarray or value.shape != like.shape or value.dtype is not like.dtype or parameter.whole:
        return False
    numbers, bounds = value.tolist(), parameter.bounds
    return math.isfinite(sum(numbers)) and min(numbers) >= bounds.lower and max(numbers) <= bounds.upper


def in_place(array: Array) -> Memory:
    """The numbers of an array where they are: one by one, Python reads and writes them faster so than by numpy."""
    return cast("Memory", array.data)


def _parameter(kind: type, name: str, hint: Any) -> Parameter | None:
    notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    units = [each for each in notes if isinstance(each, Unit)]
    if not units:
        return None
    bounds = next((each for each in reversed(notes) if isinstance(each, Bounds)), Bounds())
    sizes = [each.count for each in notes if isinstance(each, Size)]
    if any(isinstance(each, OneForEachRow) for each in notes):
        sizes = [-1]
    said = [each.text for each in notes if isinstance(each, Meaning)]
    meaning = said[-1] if said else meaning_in_docstring(kind, name)
    whole = get_args(hint)[0] is int
    return Parameter(name, units[-1].symbol, bounds, sizes[-1] if sizes else None, whole, meaning)


def meaning_in_docstring(kind: Any, name: str) -> str:
    """What the docstring of a class, one it inherits from, or a function says of a name: `name  meaning`."""
    for each in getattr(kind, "__mro__", (kind,)):
        found = list(_lines_about(inspect.cleandoc(each.__doc__ or ""), name))
        if found:
            return " ".join(found)
    return ""


def _lines_about(docstring: str, name: str) -> Iterator[str]:
    """The line that begins with a name and two blanks, and the lines below it that are indented."""
    lines = iter(docstring.splitlines())
    for line in lines:
        if found := re.match(rf"{re.escape(name)}  +(\S.*)", line):
            yield found[1]
            for more in lines:
                if not more.startswith("   ") or not more.strip():
                    return
                yield more.strip()
