"""What DDS has to know of a message: the operations by which Cyclone DDS checks bytes that come from the network."""

from __future__ import annotations

import ctypes

from wholebody.ros.message import SIZES, Field, Message, dds_type, fields_of, remembered

ADDRESS = 1 << 24
"""Operation: a field follows; type and subtype stand in the next two bytes, its offset behind it."""
END = 0
TEXT, SEQUENCE, ARRAY, STRUCTURE = 5, 7, 8, 10
"""Types; those of numbers are 1, 2, 3, 4 for 1, 2, 4, 8 bytes."""
NUMBERS = {1: 1, 2: 2, 4: 3, 8: 4}
POINTER, SEQUENCE_SIZE = 8, 24
"""Bytes that a text and a sequence take in C."""


class Serialized(ctypes.Structure):
    """dds_type_meta_ser: type information, of which none is sent."""

    _fields_ = (("data", ctypes.c_void_p), ("size", ctypes.c_uint32))


class Descriptor(ctypes.Structure):
    """dds_topic_descriptor."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("alignment", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("key_count", ctypes.c_uint32),
        ("type_name", ctypes.c_char_p),
        ("keys", ctypes.c_void_p),
        ("operation_count", ctypes.c_uint32),
        ("operations", ctypes.POINTER(ctypes.c_uint32)),
        ("meta", ctypes.c_char_p),
        ("type_information", Serialized),
        ("type_mapping", Serialized),
        ("representation", ctypes.c_uint32),
    )


@remembered
def descriptor(message: type[Message]) -> Descriptor:
    """The descriptor of a type, without type information."""
    words = list[int]()
    size = _operations(message, words, 0)
    words.append(END)
    array = (ctypes.c_uint32 * len(words))(*words)
    return Descriptor(size + -size % 8, 8, 0, 0, dds_type(message).encode(), None, len(words), array, b"")


def _operations(message: type[Message], words: list[int], at: int) -> int:
    """Add the operations of a message's fields, placed as C would from there on; where they end."""
    for each in fields_of(message):
        if each.message is not None and not each.many:
            at = _operations(each.message, words, at)  # a message inside has the same bytes as its fields
        else:
            at = _field(each, words, at)
    return at


def _field(field: Field, words: list[int], at: int) -> int:
    if field.message is not None:
        at += -at % 8
        inner = list[int]()
        size = _operations(field.message, inner, 0)
        first = len(words)
        words += [ADDRESS | SEQUENCE << 16 | STRUCTURE << 8, at, size + -size % 8, 0, *inner, END]
        words[first + 3] = (len(words) - first) << 16 | 4
        return at + SEQUENCE_SIZE
    assert field.kind is not None
    kind = field.kind
    number = TEXT if kind.name == "string" else NUMBERS[SIZES[kind.name]]
    if kind.count is None:
        size = POINTER if number == TEXT else SIZES[kind.name]
        at += -at % size
        words += [ADDRESS | number << 16, at]
        return at + size
    if kind.count < 0:
        at += -at % 8
        words += [ADDRESS | SEQUENCE << 16 | number << 8, at]
        return at + SEQUENCE_SIZE
    at += -at % SIZES[kind.name]
    words += [ADDRESS | ARRAY << 16 | number << 8, at, kind.count]
    return at + kind.count * SIZES[kind.name]
