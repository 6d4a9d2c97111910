"""How text becomes a value: numbers in their unit or a common other one, switches, choices, vectors; and back.

Console, RCP, page and command line read what people type here, arguments of goals as well as parameters.
"""

from __future__ import annotations

import math
import re
from typing import Any

from wholebody.errors import BadParameter
from wholebody.parameters.reflection import About

UNITS: dict[str, dict[str, float]] = {
    "m": {"cm": 0.01, "mm": 0.001},
    "rad": {"deg": math.radians(1.0), "°": math.radians(1.0)},
    "s": {"ms": 0.001, "min": 60.0},
    "m/s": {"cm/s": 0.01, "mm/s": 0.001},
    "rad/s": {"deg/s": math.radians(1.0), "°/s": math.radians(1.0)},
    "N": {"kN": 1000.0},
}
"""In what else a number may be given: by the unit that it is kept in, how much of it the other one is."""
SWITCHES = {"on": True, "yes": True, "true": True, "1": True, "off": False, "no": False, "false": False, "0": False}
_NUMBER = re.compile(r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|nan|[+-]?inf)\s*(.*)")


def value_of(about: About, text: str) -> Any:
    """What a text means as a value of a parameter or of an argument; BadParameter says in what it can be given."""
    match about.kind:
        case "state" | "text":
            return text
        case "choice":
            if text not in about.choices:
                raise BadParameter(f"{about.path} is one of {', '.join(about.choices)}, not '{text}'")
            return text
        case "switch":
            if text.lower() not in SWITCHES:
                raise BadParameter(f"{about.path} is on or off, not '{text}'")
            return SWITCHES[text.lower()]
    try:
        numbers = [number_of(word, about.unit) for word in re.split(r"\s*,\s*|\s+(?=[-+.\d])", text.strip())]
    except ValueError:
        units = " or ".join(each for each in (about.unit, *UNITS.get(about.unit, ())) if each not in ("1", ""))
        kind = {"whole": "a whole number", "vector": f"{about.size} numbers"}.get(about.kind, "a number")
        raise BadParameter(f"{about.path} is {kind}{f' in {units}' if units else ''}, not '{text}'") from None
    if not all(map(math.isfinite, numbers)):
        raise BadParameter(f"{about.path} must be finite, not '{text}'")
    if len(numbers) not in (1, about.size):
        raise BadParameter(f"{about.path} is {about.size} numbers, not '{text}'")
    return numbers[0] if len(numbers) == 1 else numbers


def number_of(text: str, unit: str = "") -> float:
    """A number with or without its unit; ValueError if it is none, or in a unit of something else."""
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    share = 1.0 if found[2] in ("", unit) else UNITS.get(unit, {}).get(found[2])
    if share is None:
        raise ValueError(text)
    return share * float(found[1])


def as_text(value: Any) -> str:
    """A value as it is typed."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ",".join(f"{each:g}" for each in value)
    return f"{value:g}" if isinstance(value, int | float) else str(value)
