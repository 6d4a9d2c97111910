"""The records of a service: a request is a number and one of several dataclasses, a reply is a Report.

    NAME.requests   number, the number before it that is still awaited, which kind it is, the fields of each kind
    NAME.replies    number, Stage, time, progress, words, an answer, and the last number done of each client

A field is a float, an int, a bool, a text, a Literal of texts, a tuple of one length, a tuple of up to so many
(`Annotated[tuple[Footstep, ...], AtMost(64)]`), an array of numbers (`Numbers`, for which the service says how many
there may be), or a dataclass or named tuple of those. The layout of the channel says all that can be asked, so another
language can ask it too.

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
from wholebody.messages import Floats, Integers, Record
from wholebody.services.stage import Report, Stage

COUNT_BITS = 24
CLIENT_BITS = 39
TEXT = 240
"""Bytes of the words in a reply."""
NAME = 32
"""Bytes of a text in a request, unless it says otherwise."""
CLIENTS = 64
"""Clients that a service remembers, and processes that may write to it at the same time."""


Numbers = Floats
"""Of a request or an answer: an array of up to as many numbers as the service has room for."""


@dataclass(frozen=True)
class AtMost:
    """How many elements a tuple or an array may have, or how many bytes a text."""

    count: int


class Request(Record):
    """A request; beside these fields there is one for each kind, by its name."""

    number: int
    after: int
    kind: int


class Reply(Record):
    """A report, and the last number done of each client; `answer` is there if the service answers with numbers."""

    number: int
    stage: int
    time: float
    progress: float
    text: str
    done: Integers


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


def request_record(kinds: tuple[type, ...], room: int = 0, about: str = "") -> np.dtype[Request]:
    """Build the request of a service with room for so many numbers in an array; what is no field is a label."""
    fields: list[Any] = [("number", "<u8"), ("after", "<u8"), ("kind", "<u2")]
    fields += [(kind_name(each), format_of(each, room).dtype) for each in kinds if field_names(each)]
    names = {"kinds": tuple(kind_name(each) for each in kinds)} | ({"room": (str(room),)} if room else {})
    names |= {"about": (about,)} if about else {}
    return Request.of(np.dtype(fields, align=True, metadata=names))


def reply_record(answer: type | None = None, room: int = 0) -> np.dtype[Reply]:
    """Build the reply of a service; an answer is a dataclass, too."""
    fields: list[Any] = [("number", "<u8"), ("stage", "u1"), ("time", "<f8"), ("progress", "<f8"), ("text", f"S{TEXT}")]
    fields += [("answer", format_of(answer, room).dtype)] if answer is not None else []
    return Reply.of(np.dtype([*fields, ("done", "<u8", (CLIENTS,))], align=True))


def read_report(message: Any, answer: Format | None = None) -> Report:
    """The report in a reply."""
    return Report(
        message.number,
        Stage(message.stage),
        message.text,
        message.time,
        message.progress,
        None if answer is None else answer.unpack(message["answer"]),
    )


def field_names(kind: type) -> tuple[str, ...]:
    """The fields of a dataclass or named tuple."""
    if dataclasses.is_dataclass(kind):
        return tuple(each.name for each in dataclasses.fields(kind))
    names: tuple[str, ...] = getattr(kind, "_fields", ())
    return names


@cache
def format_of(hint: Any, room: int = 0, most: int | None = None) -> Format:
    """How values of an annotation lie in a record whose arrays have room for so many; BadMessage if nobody knows."""
    origin = get_origin(hint)
    if origin is Annotated:
        plain, *notes = get_args(hint)
        return format_of(plain, room, next((each.count for each in notes if isinstance(each, AtMost)), None))
    if hint in _PLAIN:
        return _PLAIN[hint]
    if hint is str:
        return _text(most or NAME)
    if origin is Literal:
        return _choice(get_args(hint))
    if origin is np.ndarray:
        return _counted(np.dtype("<f8"), most or room, np.asarray, np.array)
    if origin is tuple:
        return _tuple(get_args(hint), room, most)
    if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or hasattr(hint, "_fields")):
        return _record(hint, room)
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


def _tuple(hints: tuple[Any, ...], room: int, most: int | None) -> Format:
    each = format_of(hints[0], room)

    def rows(values: Any) -> Any:
        array = np.zeros(len(values), each.dtype)
        for index, value in enumerate(values):
            array[index] = each.pack(value)
        return array

    def unpack(raw: Any) -> tuple[Any, ...]:
        return tuple(map(each.unpack, raw))

    if hints[1:] == (...,):
        if most is None:
            raise BadMessage("a tuple of any length cannot be in a record; annotate it with AtMost")
        return _counted(each.dtype, most, rows, unpack)
    if any(hint != hints[0] for hint in hints):
        raise BadMessage(f"a tuple of different types, {hints}, cannot be in a record; give a dataclass")
    return Format((each.dtype, (len(hints),)), lambda value: rows(value).reshape(len(hints)), unpack)


def _counted(each: Any, most: int, pack_items: Callable[[Any], Any], unpack_items: Callable[[Any], Any]) -> Format:
    """So many elements, of at most so many."""
    dtype = np.dtype([("count", "<u4"), ("items", each, (most,))], align=True)

    def pack(value: Any) -> Any:
        if len(value) > most:
            raise BadMessage(f"{len(value)} where at most {most} have room")
        record = np.zeros((), dtype)
        record["count"], record["items"][: len(value)] = len(value), pack_items(value)
        return record

    return Format(dtype, pack, lambda raw: unpack_items(raw["items"][: min(int(raw["count"]), most)]))


def _record(kind: type, room: int) -> Format:
    hints = get_type_hints(kind, include_extras=True)
    parts = {name: format_of(hints[name], room) for name in field_names(kind)}
    dtype = np.dtype([(name, part.dtype) for name, part in parts.items()], align=True)

    def pack(value: Any) -> Any:
        record = np.zeros((), dtype)
        for name, part in parts.items():
            record[name] = part.pack(getattr(value, name))
        return record

    return Format(dtype, pack, lambda raw: kind(**{name: part.unpack(raw[name]) for name, part in parts.items()}))
