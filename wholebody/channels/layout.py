"""The layout of a message: a numpy dtype as text and as a hash, and the difference of two.

The text is JSON, stands in the channel's file, and is all that another process or language needs:

    {"size": 24, "fields": [["time", "<f8", [], 0], ["position", "<f8", [2], 8]], "labels": {"joints": ["RHY", "RHR"]}}

A field is name, format, shape and offset; a nested record has a layout in the place of the format. Labels come
from the dtype's metadata: joint names belong to the layout, so two robots of equal size do not mix.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadLayout

LARGEST = 256 << 20
"""Bytes of a message."""


@dataclass(frozen=True)
class Layout:
    """What a channel's file says of its messages."""

    text: str

    @classmethod
    def of(cls, dtype: npt.DTypeLike) -> Layout:
        """Describe a dtype; BadLayout if its values cannot cross between processes."""
        normal = np.dtype(dtype)
        if normal.itemsize == 0:
            raise BadLayout("the dtype has no size; a message needs at least one byte")
        return cls(json.dumps(_describe(normal, "message"), separators=(",", ":")))

    @cached_property
    def hash(self) -> int:
        """64 bits of the text's SHA-256: two layouts are the same if this is."""
        return int.from_bytes(hashlib.sha256(self.text.encode()).digest()[:8], "little")

    @cached_property
    def description(self) -> dict[str, Any]:
        """The text, parsed."""
        parsed: dict[str, Any] = json.loads(self.text)
        return parsed

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The numpy dtype that the text describes, labels included; BadLayout if it describes none."""
        try:
            found = _dtype_of(self.description)
        except (TypeError, ValueError, LookupError, OverflowError, RecursionError, MemoryError) as error:
            raise BadLayout(f"'{self.text[:60]}' describes no message: {error}") from None
        if not 0 < found.itemsize <= LARGEST:
            raise BadLayout(f"'{self.text[:60]}' describes a message of {found.itemsize} bytes; 1 to {LARGEST} can be")
        return found

    def lines(self) -> list[str]:
        """One line per field, to be read: name, type, shape, offset; then the labels."""
        return list(_rows(self.description))

    def difference(self, other: Layout) -> str:
        """Set the two layouts side by side, field by field, marking what differs."""
        mine, theirs = dict(_named_rows(self.description)), dict(_named_rows(other.description))
        names = list(mine) + [name for name in theirs if name not in mine]
        width = max(len(name) for name in names)
        left = max([len(text) for text in mine.values()] + [len("yours")])
        lines = [f"    {'':{width}}  {'yours':{left}}  in the channel"]
        for name in names:
            a, b = mine.get(name, "–"), theirs.get(name, "–")
            lines.append(f"  {' ' if a == b else '≠'} {name:{width}}  {a:{left}}  {b}")
        return "\n".join(lines)


def _describe(dtype: np.dtype[Any], where: str) -> dict[str, Any]:
    if dtype.hasobject:
        raise BadLayout(f"{where} holds Python objects, which other processes cannot read; use numbers or 'S16' text")
    description: dict[str, Any] = {"size": dtype.itemsize}
    if dtype.names is None:
        description["fields"] = [["", *_format(dtype, where), 0]]
    else:
        fields = [(name, *dtype.fields[name][:2]) for name in dtype.names] if dtype.fields else []
        description["fields"] = [[name, *_format(kind, f"field '{name}'"), offset] for name, kind, offset in fields]
    if dtype.metadata:
        description["labels"] = {key: _labels(key, value) for key, value in sorted(dtype.metadata.items())}
    return description


def _labels(key: str, value: Any) -> list[str]:
    if not isinstance(value, tuple | list) or not all(isinstance(one, str) for one in value):
        raise BadLayout(f"the dtype's metadata '{key}' is {value!r}; labels are lists of text")
    return list(value)


def _format(dtype: np.dtype[Any], where: str) -> tuple[Any, list[int]]:
    base, shape = dtype.subdtype or (dtype, ())
    if base.names is not None:
        return _describe(base, where), list(shape)
    if base.kind == "V" or base.itemsize == 0:
        raise BadLayout(f"{where} has type '{base}', which has no meaning outside numpy; give it named fields")
    return base.str, list(shape)


def _dtype_of(description: dict[str, Any]) -> np.dtype[Any]:
    fields = description["fields"]
    metadata = {key: tuple(value) for key, value in description.get("labels", {}).items()}
    if len(fields) == 1 and fields[0][0] == "":
        plain = np.dtype((_base(fields[0][1]), tuple(fields[0][2])))
        return np.dtype(plain, metadata=metadata) if metadata else plain
    record: Any = {
        "names": [field[0] for field in fields],
        "formats": [(_base(field[1]), tuple(field[2])) for field in fields],
        "offsets": [field[3] for field in fields],
        "itemsize": description["size"],
    }
    labelled: np.dtype[Any] = np.dtype(record, metadata=metadata) if metadata else np.dtype(record)
    return labelled


def _base(kind: str | dict[str, Any]) -> np.dtype[Any]:
    return np.dtype(kind) if isinstance(kind, str) else _dtype_of(kind)


def _named_rows(description: dict[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    rows = []
    for name, kind, shape, offset in description["fields"]:
        path = f"{prefix}{name or 'value'}"
        times = "×".join(str(one) for one in shape)
        if isinstance(kind, str):
            rows.append((path, f"{np.dtype(kind)}{f' × {times}' if times else ''} at {offset}"))
        else:
            rows.append((path, f"record{f' × {times}' if times else ''} at {offset}"))
            rows += _named_rows(kind, prefix=f"{path}.")
    rows += [(f"[{prefix}{key}]", ", ".join(map(str, value))) for key, value in description.get("labels", {}).items()]
    if not prefix:
        rows.append(("(size)", f"{description['size']} bytes"))
    return rows


def _rows(description: dict[str, Any]) -> list[str]:
    rows = _named_rows(description)
    width = max(len(name) for name, _ in rows)
    return [f"{name:{width}}  {text}" for name, text in rows]
