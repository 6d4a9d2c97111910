"""Cdr: the bytes of messages of ROS, as DDS and MCAP files carry them, both ways.

Fields are flattened once for each type: neighbouring numbers, also those of messages inside, are packed by one struct.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np

from wholebody.errors import BadMessage
from wholebody.ros.message import CODES, SIZES, Field, Kind, Message, fields_of, remembered

HEADER = b"\x00\x01\x00\x00"
"""CDR, little-endian."""
WORD = struct.Struct("<I")
ZEROS = (b"", *(bytes(count) for count in range(1, 8)))
MOST = 1 << 28
"""Elements of a sequence; more is none of ours."""

M = TypeVar("M", bound=Message)
Step = Callable[[bytearray, Any], None]


def encode(message: Message) -> bytes:
    """A message as bytes, with the header that says how."""
    out = bytearray(HEADER)
    for step in _steps(type(message)):
        step(out, message)
    return bytes(out)


def decode(kind: type[M], data: bytes) -> M:
    """Bytes as a message; BadMessage if they are none."""
    if len(data) < len(HEADER) or data[0] or data[1] not in (0, 1):
        raise BadMessage(f"{kind.ros}: {len(data)} bytes that do not begin as CDR does; send plain CDR")
    reader = _Reader(data[len(HEADER) :], "<" if data[1] else ">")
    try:
        return reader.message(kind)
    except (struct.error, ValueError, UnicodeDecodeError) as error:
        raise BadMessage(f"{len(data)} bytes are no {kind.ros}: {error}; has it the same definition there?") from None


# --- writing -----------------------------------------------------------------------------------------


@remembered
def _steps(message: type[Message]) -> tuple[Step, ...]:
    """What writes a message, from its first field to its last."""
    steps: list[Step] = []
    plain: list[tuple[str, Kind]] = []

    def flush() -> None:
        if plain:
            steps.append(_numbers(tuple(name for name, _ in plain), tuple(kind.name for _, kind in plain)))
            plain.clear()

    for path, each in _flat(message, ""):
        if each.kind is not None and each.kind.count is None and each.kind.name != "string":
            plain.append((path, each.kind))
        else:
            flush()
            steps.append(_step(path, each))
    flush()
    return tuple(steps)


def _flat(message: type[Message], before: str) -> list[tuple[str, Field]]:
    found: list[tuple[str, Field]] = []
    for each in fields_of(message):
        if each.message is not None and not each.many:
            found += _flat(each.message, f"{before}{each.name}.")
        else:
            found.append((before + each.name, each))
    return found


def _numbers(paths: tuple[str, ...], names: tuple[str, ...]) -> Step:
    get, packers = attrgetter(*paths), tuple(_packer(start, names) for start in range(8))
    if len(paths) == 1:
        return lambda out, message: out.extend(packers[(len(out) - 4) % 8](get(message)))
    return lambda out, message: out.extend(packers[(len(out) - 4) % 8](*get(message)))


def _packer(start: int, names: tuple[str, ...]) -> Callable[..., bytes]:
    """What packs numbers from a place with that remainder by 8 on."""
    form, at = "<", start
    for name in names:
        gap = -at % SIZES[name]
        form += "x" * gap + CODES[name]
        at += gap + SIZES[name]
    return struct.Struct(form).pack


def _step(path: str, field: Field) -> Step:
    get = attrgetter(path)
    if field.message is not None:
        return _messages(get, _steps(field.message))
    assert field.kind is not None
    kind = field.kind
    if kind.name == "string":
        return _text(get) if kind.count is None else _texts(get)
    return _array(get, path, np.dtype("<" + CODES[kind.name]), kind.count or 0)


def _messages(get: Callable[[Any], Any], steps: tuple[Step, ...]) -> Step:
    def write(out: bytearray, message: Any) -> None:
        items = get(message)
        out.extend(ZEROS[-len(out) % 4] + WORD.pack(len(items)))
        for item in items:
            for step in steps:
                step(out, item)

    return write


def _text(get: Callable[[Any], Any]) -> Step:
    def write(out: bytearray, message: Any) -> None:
        out += ZEROS[-len(out) % 4] + _as_text(get(message))

    return write


def _texts(get: Callable[[Any], Any]) -> Step:
    def write(out: bytearray, message: Any) -> None:
        out += ZEROS[-len(out) % 4] + _as_texts(tuple(get(message)))

    return write


@lru_cache(4096)
def _as_text(text: str) -> bytes:
    data = text.encode() + b"\0"
    return WORD.pack(len(data)) + data


@lru_cache(256)
def _as_texts(texts: tuple[str, ...]) -> bytes:
    out = bytearray(WORD.pack(len(texts)))
    for text in texts:
        out += ZEROS[-len(out) % 4] + _as_text(text)
    return bytes(out)


def _array(get: Callable[[Any], Any], path: str, dtype: np.dtype[Any], count: int) -> Step:
    size = dtype.itemsize

    def write(out: bytearray, message: Any) -> None:
        given = get(message)
        if size == 1 and isinstance(given, bytes):
            data = given
        else:
            own = isinstance(given, np.ndarray) and given.dtype is dtype
            data = (given if own else np.asarray(given, dtype)).tobytes()
        if count >= 0:
            if len(data) != count * size:
                raise BadMessage(f"{path} of a {type(message).ros} has {len(data) // size} numbers; give {count}")
        else:
            out += ZEROS[-len(out) % 4] + WORD.pack(len(data) // size)
        if data:
            out += ZEROS[-(len(out) - 4) % size] + data if size > 1 else data

    return write


# --- reading -----------------------------------------------------------------------------------------


class _Reader:
    """Where one is in the bytes of a message."""

    def __init__(self, data: bytes, order: str) -> None:
        self._data, self._order, self._at = memoryview(data), order, 0

    def message(self, kind: type[M]) -> M:
        """The message that begins here."""
        return kind(**{each.name: self._field(each) for each in fields_of(kind)})

    def _field(self, field: Field) -> Any:
        if field.message is not None:
            if not field.many:
                return self.message(field.message)
            return [self.message(field.message) for _ in range(self._count(1))]
        assert field.kind is not None
        kind = field.kind
        if kind.name == "string":
            return self._text() if kind.count is None else [self._text() for _ in range(self._count(4))]
        if kind.count is None:
            return self._number(kind.name)
        size = SIZES[kind.name]
        return self._numbers(kind.name, self._count(size) if kind.count < 0 else kind.count)

    def _align(self, size: int) -> None:
        self._at += -self._at % size

    def _number(self, name: str) -> Any:
        self._align(SIZES[name])
        (value,) = struct.unpack_from(self._order + CODES[name], self._data, self._at)
        self._at += SIZES[name]
        return value

    def _count(self, least: int) -> int:
        count: int = self._number("uint32")
        if count * least > min(MOST, len(self._data) - self._at):
            raise ValueError(f"a sequence of {count}, more than there are bytes")
        return count

    def _text(self) -> str:
        length: int = self._number("uint32")
        end = self._at + length
        if end > len(self._data):
            raise ValueError(f"a text of {length} bytes, more than there are")
        text = bytes(self._data[self._at : end])
        self._at = end
        return text.rstrip(b"\0").decode(errors="replace")

    def _numbers(self, name: str, count: int) -> Any:
        size = SIZES[name]
        if count:
            self._align(size)
        end = self._at + count * size
        if end > len(self._data):
            raise ValueError(f"{count} numbers, more than there are bytes")
        found = np.frombuffer(self._data[self._at : end], self._order + CODES[name])
        self._at = end
        return found
