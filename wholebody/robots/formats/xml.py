"""Attributes of robots in XML files: numbers read and written."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from wholebody.errors import BadRobot

Attributes = Mapping[str, str]


def numbers(
    attributes: Attributes, name: str, where: str, default: tuple[float, ...] | None = None, count: int | None = 3
) -> tuple[float, ...]:
    """The numbers of an attribute; count=None takes any number of them."""
    if name not in attributes and default is not None:
        return default
    text = attributes.get(name, "")
    try:
        values = tuple(float(part) for part in text.split())
    except ValueError:
        values = ()
    if not values or (count is not None and len(values) != count) or not all(map(math.isfinite, values)):
        raise BadRobot(f'{where}: {name}="{text}" should be {count or "some"} number{"s" if count != 1 else ""}')
    return values


def number(attributes: Attributes, name: str, where: str, default: float | None = None) -> float:
    """One number."""
    return numbers(attributes, name, where, None if default is None else (default,), count=1)[0]


def text_of(values: Iterable[float]) -> str:
    """Numbers as text that reads back to the same bits."""
    return " ".join(repr(float(value)) for value in values)
