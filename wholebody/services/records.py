"""The records of a service: a request is a number and one of several dataclasses, a reply is a Report.

    NAME.requests   number, the number before it that is still awaited, which kind it is, the fields of each kind
    NAME.replies    number, Stage, time, progress, words, an answer, and the last number done of each client

A field is a float, an int, a bool, a text, a Literal of texts, a tuple of one length, a tuple of up to so many
(`Annotated[tuple[Footstep, ...], AtMost(64)]`), or a dataclass or named tuple of those. The layout of the channel says
all that can be asked, so another language can ask it too.

A number is the client's identity, 39 bits at random, and 24 bits that count its requests.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np

from wholebody.errors import BadMessage
from wholebody.messages import Dtype
from wholebody.services.stage import Report, Stage

COUNT_BITS = 24
CLIENT_BITS = 39
TEXT = 240
"""Bytes of the words in a reply."""
NAME = 32
"""Bytes of a text in a request, unless it says otherwise."""
CLIENTS = 64
"""Clients that a service remembers, and processes that may write to it at the same time."""


@dataclass(frozen=True)
class AtMost:
    """How many elements a tuple may have, or how many bytes a text."""

    count: int


def client_of(number: int) -> int:
    """Who made a request of this number."""
    return number >> COUNT_BITS


def kind_name(kind: type) -> str:
    """What a kind of request is called in records: `step_in_place` for the class StepInPlace."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind.__name__).lower()


def fitting(words: str, size: int = TEXT) -> bytes:
    """So much of some words as there is room for."""
    return words.encode()[:size].decode(errors="ignore").encode()


class Format(NamedTuple):
    """How a value lies in a record: its dtype, and how it is brought there and back."""

    dtype: Any
    pack: Callable[[Any], Any]
    unpack: Callable[[Any], Any]


def request_record(kinds: tuple[type, ...]) -> Dtype:
    """Build the request of a service; the names of its kinds are labels."""
    fields: list[Any] = [("number", "<u8"), ("after", "<u8"), ("kind", "<u2")]
    fields += [(kind_name(each), format_of(each).dtype) for each in kinds if field_names(each)]
    return np.dtype(fields, align=True, metadata={"kinds": tuple(kind_name(each) for each in kinds)})


def reply_record(answer: type | None = None) -> Dtype:
    """Build the reply of a service; an answer is a dataclass, too."""
    fields: list[Any] = [("number", "<u8"), ("stage", "u1"), ("time", "<f8"), ("progress", "<f8"), ("text", f"S{TEXT}")]
    fields += [("answer", format_of(answer).dtype)] if answer is not None else []
    return np.dtype([*fields, ("done", "<u8", (CLIENTS,))], align=True)


def read_report(message: Any, answer: type | None = None) -> Report:
    """The report in a reply."""
    return Report(
        int(message["number"]),
        Stage(int(message["stage"])),
        bytes(message["text"]).decode(errors="replace"),
        float(message["time"]),
        float(message["progress"]),
        None if answer is None else format_of(answer).unpack(message["answer"]),
    )


def field_names(kind: type) -> tuple[str, ...]:
    """The fields of a dataclass or named tuple."""
    if dataclasses.is_dataclass(kind):
        return tuple(each.name for each in dataclasses.fields(kind))
    names: tuple[str, ...] = getattr(kind, "_fields", ())
    return names


@cache
def format_of(hint: Any, most: int | None = None) -> Format:
    """How values of an annotation lie in a record; BadMessage if nobody knows."""
    if get_origin(hint) is Annotated:
        plain, *notes = get_args(hint)
        return format_of(plain, next((each.count for each in notes if isinstance(each, AtMost)), None))
    if hint in _PLAIN:
        return _PLAIN[hint]
    if hint is str:
        return _text(most or NAME)
    if get_origin(hint) is Literal:
        return _choice(get_args(hint))
    if get_origin(hint) is tuple:
        return _tuple(get_args(hint), most)
    if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or hasattr(hint, "_fields")):
        return _record(hint)
    raise BadMessage(f"a field of type {hint} cannot be in a record; give a number, a text, a tuple or a dataclass")


_PLAIN: dict[Any, Format] = {
    float: Format("<f8", float, float),
    int: Format("<i8", int, int),
    bool: Format("?", bool, bool),
}


def _text(size: int) -> Format:
    return Format(f"S{size}", lambda value: fitting(value, size), lambda raw: bytes(raw).decode(errors="replace"))


def _choice(words: tuple[str, ...]) -> Format:
    text = _text(max(len(each.encode()) for each in words))

    def unpack(raw: Any) -> str:
        word: str = text.unpack(raw)
        if word not in words:
            raise BadMessage(f"'{word}' is none of {', '.join(words)}")
        return word

    return Format(text.dtype, text.pack, unpack)


def _tuple(hints: tuple[Any, ...], most: int | None) -> Format:
    each = format_of(hints[0])
    if hints[1:] != (...,):
        if any(hint != hints[0] for hint in hints):
            raise BadMessage(f"a tuple of different types, {hints}, cannot be in a record; give a dataclass")
        dtype: Any = (each.dtype, (len(hints),))
        return Format(dtype, lambda value: _array(each, value, len(hints)), lambda rows: tuple(map(each.unpack, rows)))
    if most is None:
        raise BadMessage("a tuple of any length cannot be in a record; annotate it with AtMost")
    counted = np.dtype([("count", "<u4"), ("items", each.dtype, (most,))], align=True)

    def pack(value: Any) -> Any:
        if len(value) > most:
            raise BadMessage(f"{len(value)} where at most {most} have room")
        record = np.zeros((), counted)
        record["count"], record["items"][: len(value)] = len(value), _array(each, value, len(value))
        return record

    return Format(counted, pack, lambda raw: tuple(map(each.unpack, raw["items"][: min(int(raw["count"]), most)])))


def _array(each: Format, values: Any, count: int) -> Any:
    rows = np.zeros(count, each.dtype)
    for row, value in zip(range(count), values, strict=True):
        rows[row] = each.pack(value)
    return rows


def _record(kind: type) -> Format:
    hints = get_type_hints(kind, include_extras=True)
    parts = {name: format_of(hints[name]) for name in field_names(kind)}
    dtype = np.dtype([(name, part.dtype) for name, part in parts.items()], align=True)

    def pack(value: Any) -> Any:
        record = np.zeros((), dtype)
        for name, part in parts.items():
            record[name] = part.pack(getattr(value, name))
        return record

    return Format(dtype, pack, lambda raw: kind(**{name: part.unpack(raw[name]) for name, part in parts.items()}))
