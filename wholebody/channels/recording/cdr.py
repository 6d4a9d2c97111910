"""CDR: a channel's records as ROS 2 messages: the definition that other tools read, and the bytes both ways.

Numbers keep their bytes and are aligned as CDR aligns them; text of fixed size becomes a string, without the zeros
behind it. What was a record comes back as that record, bit by bit.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadLayout

HEADER = b"\x00\x01\x00\x00"
"""CDR, little-endian."""
NAMES = {
    "b1": "bool", "i1": "int8", "u1": "uint8", "i2": "int16", "u2": "uint16", "i4": "int32", "u4": "uint32",
    "i8": "int64", "u8": "uint64", "f4": "float32", "f8": "float64",
}  # fmt: skip
RULE = "=" * 80
PACKAGE = "wholebody_msgs"

Dtype = np.dtype[Any]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Piece:
    """A part of a record: numbers of one size, or one text."""

    offset: int
    size: int  # bytes in the record
    alignment: int
    text: bool = False


class Cdr:
    """The translation of one layout.

    cdr = Cdr("robot.state", channel.dtype)
    cdr.name, cdr.definition          wholebody_msgs/msg/RobotState, and its fields
    data = cdr.encode(reader.raw)
    cdr.decode(data, raw)
    """

    def __init__(self, topic: str, dtype: Dtype) -> None:
        self.dtype = dtype
        self.name = f"{PACKAGE}/msg/{_camel(topic)}"
        self.definition = _definition(dtype, _camel(topic))
        self._pieces = tuple(_merged(list(_pieces(dtype, 0))))
        self._fixed = not any(piece.text for piece in self._pieces)
        self._size, self._places = self._lay_out() if self._fixed else (0, ())

    def encode(self, raw: Bytes) -> bytes:
        """A record's bytes as a message."""
        if not self._fixed:
            return self._encode_text(raw.tobytes())
        message = bytearray(len(HEADER) + self._size)
        message[: len(HEADER)] = HEADER
        view, source = memoryview(message)[len(HEADER) :], raw.data
        for offset, place, size in self._places:
            view[place : place + size] = source[offset : offset + size]
        return bytes(message)

    def decode(self, message: bytes, raw: Bytes) -> None:
        """A message's bytes into a record's."""
        body = memoryview(message)[len(HEADER) :]
        at = 0
        for piece in self._pieces:
            if piece.text:
                at += -at % 4
                (length,) = struct.unpack_from("<I", body, at)
                text = bytes(body[at + 4 : at + 4 + max(length - 1, 0)])
                raw[piece.offset : piece.offset + piece.size] = np.frombuffer(text.ljust(piece.size, b"\0"), np.uint8)
                at += 4 + length
            else:
                at += -at % piece.alignment
                raw[piece.offset : piece.offset + piece.size] = np.frombuffer(body[at : at + piece.size], np.uint8)
                at += piece.size

    def _lay_out(self) -> tuple[int, tuple[tuple[int, int, int], ...]]:
        at, places = 0, []
        for piece in self._pieces:
            at += -at % piece.alignment
            places.append((piece.offset, at, piece.size))
            at += piece.size
        return at, tuple(places)

    def _encode_text(self, record: bytes) -> bytes:
        body = bytearray()
        for piece in self._pieces:
            data = record[piece.offset : piece.offset + piece.size]
            body += bytes(-len(body) % (4 if piece.text else piece.alignment))
            if piece.text:
                text = data.rstrip(b"\0")
                body += struct.pack("<I", len(text) + 1) + text + b"\0"
            else:
                body += data
        return HEADER + bytes(body)


def _pieces(dtype: Dtype, offset: int) -> Any:
    """The parts of a layout, in order."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        count = int(np.prod(shape))
        if base.names is None and base.kind != "S":
            yield Piece(offset, count * base.itemsize, base.itemsize)
            return
        for index in range(count):
            yield from _pieces(base, offset + index * base.itemsize)
    elif dtype.names is not None:
        assert dtype.fields is not None
        for name in dtype.names:
            yield from _pieces(dtype.fields[name][0], offset + dtype.fields[name][1])
    elif dtype.kind == "S":
        yield Piece(offset, dtype.itemsize, 1, text=True)
    else:
        yield Piece(offset, dtype.itemsize, dtype.itemsize)


def _merged(pieces: list[Piece]) -> list[Piece]:
    """Neighbours of one alignment as one."""
    found: list[Piece] = []
    for piece in pieces:
        last = found[-1] if found else None
        joined = last is not None and not piece.text and not last.text and last.alignment == piece.alignment
        if joined and last is not None and last.offset + last.size == piece.offset:
            found[-1] = Piece(last.offset, last.size + piece.size, piece.alignment)
        else:
            found.append(piece)
    return found


def _definition(dtype: Dtype, name: str) -> str:
    """The fields of a message, and below it those of the messages inside."""
    inside: dict[str, str] = {}
    text = _fields(dtype, name, inside)
    return "\n".join([text, *(f"{RULE}\nMSG: {PACKAGE}/{each}\n{fields}" for each, fields in inside.items())])


def _fields(dtype: Dtype, name: str, inside: dict[str, str]) -> str:
    if dtype.names is None:
        return _field(dtype, "value", name, inside)
    assert dtype.fields is not None
    return "\n".join(_field(dtype.fields[each][0], each, name, inside) for each in dtype.names)


def _field(dtype: Dtype, field: str, name: str, inside: dict[str, str]) -> str:
    base, count = dtype, ""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        count = f"[{int(np.prod(shape))}]"
    if base.names is not None:
        kind = f"{name}{_camel(field)}"
        inside[kind] = ""  # before those inside it
        inside[kind] = _fields(base, kind, inside)
        return f"{PACKAGE}/{kind}{count} {field}"
    if base.kind == "S":
        return f"string{count} {field}"
    kind = NAMES.get(f"{base.kind}{base.itemsize}", "")
    if not kind:
        raise BadLayout(f"field '{field}' of {base} has no equal among the types of ROS 2")
    return f"{kind}{count} {field}"


def _camel(text: str) -> str:
    """Words of a channel's name as the name of a type."""
    words = [word for word in re.split(r"[^A-Za-z0-9]+", text) if word]
    joined = "".join(word[:1].upper() + word[1:] for word in words)
    return joined if joined[:1].isalpha() else f"M{joined}"
