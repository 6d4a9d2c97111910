"""Forms: a dataclass as inputs of a page, and what was typed into them as the dataclass again, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, get_type_hints

import numpy as np

from wholebody.errors import BadConfiguration, BadParameter, UnknownName
from wholebody.parameters.parameter import Parameter, checked, parameters_of
from wholebody.parameters.reflection import About
from wholebody.parameters.text import number_of
from wholebody.parameters.verbs import argument

LONGEST_TEXT = 500


@dataclass(frozen=True)
class Field:
    """An input: its name, what is in it, and what may be typed there."""

    name: str
    value: str = ""
    unit: str = ""
    meaning: str = ""
    lower: float = -math.inf
    upper: float = math.inf
    choices: tuple[str, ...] = ()
    kind: str = "number"  # number, text, choice, switch

    @classmethod
    def of(cls, about: About, value: str, name: str = "") -> Field:
        """The input of a parameter, or of an argument of a verb."""
        kind = about.kind if about.kind in ("text", "switch") else "choice" if about.choices else "number"
        unit = "" if about.unit == "1" else about.unit
        return cls(name or about.path, value, unit, about.meaning, about.lower, about.upper, about.choices, kind)


@dataclass(frozen=True)
class Form:
    """Inputs that are submitted together.

    button  what submits them; without one, Enter does
    text    a line above them
    log     several lines below that, as they are
    waits   whether something goes on that is waited for
    """

    name: str
    fields: tuple[Field, ...] = ()
    button: str = ""
    text: str = ""
    log: str = ""
    waits: bool = False

    def described(self) -> dict[str, Any]:
        """As JSON; bounds that are none are null."""
        form = asdict(self)
        for each in form["fields"]:
            for bound in ("lower", "upper"):
                each[bound] = each[bound] if math.isfinite(each[bound]) else None
        return form


def form_of(kind: type, button: str) -> Form:
    """A dataclass as a form, with its defaults; BadConfiguration if a field is none that a page can show."""
    return Form(kind.__name__, tuple(_field(kind, each.name, _default(each)) for each in fields(kind)), button)


def read_form(kind: type, values: Mapping[str, str]) -> Any:
    """The dataclass of what was typed; BadParameter says of which field, what is wrong."""
    known = form_of(kind, "").fields
    if unknown := set(values) - {each.name for each in known}:
        raise UnknownName("field", unknown.pop(), [each.name for each in known])
    given = {each.name: _read(kind, each, values[each.name]) for each in known if each.name in values}
    try:
        return kind(**given)
    except TypeError:
        missing = [each.name for each in known if each.name not in values]
        raise BadParameter(f"the form lacks {', '.join(missing)}") from None


def _field(kind: type, name: str, default: Any) -> Field:
    number = parameters_of(kind).get(name)
    usual = "" if default is None else default
    if number is not None:
        bounds = number.bounds
        return Field(name, _typed(usual), number.unit, number.meaning, bounds.lower, bounds.upper)
    about = argument(kind, name, get_type_hints(kind, include_extras=True)[name])
    match about:
        case About(kind="choice"):
            return Field.of(about, str(usual) or str(about.choices[0]))
        case About(kind="switch"):
            return Field.of(about, str(usual is True).lower())
        case About(kind="text"):
            return Field.of(about, str(usual))
    raise BadConfiguration(
        f"{kind.__name__}.{name} cannot be an input: annotate a number with its unit, Annotated[float, Unit(…)], or "
        "make it a str, a bool or a Literal"
    )


def _default(field: Any) -> Any:
    """What a dataclass has in a field if nobody says; None if somebody has to."""
    if field.default_factory is not MISSING:
        return field.default_factory()
    return None if field.default is MISSING else field.default


def _typed(value: Any) -> str:
    return "" if isinstance(value, str) else " ".join(f"{each:.6g}" for each in np.atleast_1d(value))


def _read(kind: type, field: Field, text: str) -> Any:
    if field.kind == "number":
        return _number(field.name, parameters_of(kind)[field.name], text)
    if field.kind == "switch":
        return text == "true"
    if field.kind == "choice" and text not in field.choices:
        raise UnknownName(field.name, text, field.choices)
    if len(text) > LONGEST_TEXT:
        raise BadParameter(f"{field.name} has {len(text)} characters, at most {LONGEST_TEXT}")
    return text


def _number(name: str, parameter: Parameter, text: str) -> Any:
    try:
        numbers = [number_of(word, parameter.unit) for word in text.split()]
    except ValueError:
        raise BadParameter(f"{name} must be {'numbers' if parameter.size else 'a number'}, not '{text}'") from None
    if parameter.size is not None:
        return checked(name, parameter, numbers, parameter.size if parameter.size > 0 else len(numbers))
    if len(numbers) != 1:
        raise BadParameter(f"{name} must be a number, not '{text}'")
    number = float(checked(name, parameter, numbers[0], 1)[0])
    return int(number) if parameter.whole else number
